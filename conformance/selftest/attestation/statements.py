"""Vectors of statements: one true statement, and a table of what can be wrong with it.

Envelopes are signed here by the formula of DSSE, so that the verifier's own library is not its own judge.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, HashAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from conformance.selftest.attestation.forms import Files, Group, Test, accepted, refused
from conformance.selftest.attestation.sound_evidence import COMPOSE, SoundEvidence, identity
from conformance.selftest.attestation.sound_quote import NOW, as_file
from conformance.verify import Evidence, Policy
from conformance.verify import statement as form
from conformance.verify.evidence import CHAIN_CONFIG, STATEMENT
from conformance.verify.reading import Reading
from conformance.verify.rules.statement import MOST_SKEW, code_of
from reference_node.tee.boot import boot_events

AT = int(NOW.timestamp())
HOUR, DAY = 3600, 24 * 3600
FINISHED = AT - 10 * DAY
TYPE = form.PAYLOAD_TYPE
PREDICATE, RUN = ("predicate",), ("predicate", "configuration", 2, "annotations")
GONE: Any = object()
"""Takes a member away."""
Document = dict[str, Any]
Key = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey


def pae(payload: bytes, payload_type: str = TYPE) -> bytes:
    """What DSSE signs."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def b64(data: bytes) -> str:
    """Standard base64 with padding."""
    return base64.b64encode(data).decode()


def pem(key: Key) -> str:
    """The public key of a private one."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def keyid(key: Key) -> str:
    """The id of a key."""
    der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()


def signature(key: Key, message: bytes, algorithm: HashAlgorithm | None = None) -> bytes:
    """The same signature for the same message."""
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key.sign(message)
    return key.sign(message, ec.ECDSA(algorithm or SHA256(), deterministic_signing=True))


def envelope(payload: bytes, signatures: Sequence[Mapping[str, str]], payload_type: str = TYPE) -> str:
    """The text of an envelope."""
    document = {"payload": b64(payload), "payloadType": payload_type, "signatures": list(signatures)}
    return json.dumps(document, indent=2) + "\n"


@dataclass(frozen=True)
class Stated:
    """Evidence of a service, and a true statement about it."""

    seed: bytes

    @cached_property
    def sound(self) -> SoundEvidence:
        """The evidence without what a statement needs."""
        return SoundEvidence(self.seed, identity(self.seed))

    @property
    def chain_config(self) -> Document:
        """The answer of the API about its contract."""
        return {"chain_id": 31337, "contract_address": "0x" + hashlib.sha256(self.seed).hexdigest()[:40]}

    def key(self, name: str) -> ed25519.Ed25519PrivateKey:
        """An Ed25519 key."""
        return ed25519.Ed25519PrivateKey.from_private_bytes(hashlib.sha256(self.seed + name.encode()).digest())

    def p256(self, name: str, curve: ec.EllipticCurve | None = None) -> ec.EllipticCurvePrivateKey:
        """A key of an elliptic curve."""
        secret = int.from_bytes(hashlib.sha256(self.seed + name.encode()).digest()[:31], "big")
        return ec.derive_private_key(secret, curve or ec.SECP256R1())

    @cached_property
    def signer(self) -> ed25519.Ed25519PrivateKey:
        """Whose statements are believed."""
        return self.key("signer")

    @cached_property
    def document(self) -> Document:
        """The statement."""
        bodies = self.sound.bodies | {CHAIN_CONFIG: as_file(self.chain_config).encode()}
        code = code_of(Reading(Evidence(bodies), Policy()))
        results, profile = (hashlib.sha256(name).hexdigest() for name in (b"results", b"profile"))

        def used(name: str, at: int) -> form.EvidenceUsed:
            notes = form.EvidenceNotes(at=form.time_of(at), compose_hash=code.compose_hash, **code.system.model_dump())
            return form.EvidenceUsed(
                name=name, digest=form.Digest(sha256=hashlib.sha256(name.encode()).hexdigest()), annotations=notes
            )

        judgement = form.Judgement(
            subjects=(
                *code.subjects(),
                form.Subject(name=form.RESULTS, digest=form.Digest(sha256=results)),
                form.Subject(name=form.PROFILE, digest=form.Digest(sha256=profile)),
            ),
            result=form.Result.PASSED,
            passed=("attestation::info", "groups::create"),
            warned=(),
            failed=(),
            suite=form.SuiteUsed(
                uri="pkg:pypi/service-conformance@0.1.0", annotations=form.SuiteNotes(version="0.1.0")
            ),
            specification=form.SpecificationUsed(
                digest=form.Digest(sha256=hashlib.sha256(b"specification").hexdigest()),
                annotations=form.SpecificationNotes(title="Interface Specification"),
            ),
            profile=profile,
            run=form.RunDone(
                digest=form.Digest(sha256=results),
                annotations=form.RunNotes(
                    base_url="https://service.example",
                    started=form.time_of(FINISHED - HOUR),
                    finished=form.time_of(FINISHED),
                    sentence="The node conforms.",
                    selected=[],
                    quick=False,
                    warnings=[],
                    not_offered=["fuzz::all"],
                ),
            ),
            before=used(form.BEFORE, FINISHED - HOUR + 5),
            after=used(form.AFTER, FINISHED - 5),
        )
        document: Document = json.loads(judgement.payload())
        return document

    @cached_property
    def payload(self) -> bytes:
        """The bytes of the true statement."""
        return json.dumps(self.document, indent=1).encode()

    def signed(self, payload: bytes | None = None, payload_type: str = TYPE, key: Key | None = None) -> str:
        """An envelope, signed soundly."""
        payload, key = self.payload if payload is None else payload, key or self.signer
        one = {"keyid": keyid(key), "sig": b64(signature(key, pae(payload, payload_type)))}
        return envelope(payload, [one], payload_type)

    def with_statement(self, text: str | bytes | None, sound: SoundEvidence | None = None) -> Files:
        """The evidence, and a statement."""
        files = (sound or self.sound).files
        return {**files, CHAIN_CONFIG: as_file(self.chain_config), STATEMENT: text}

    def edited(self, *place: str | int, value: object) -> Files:
        """The statement with one member replaced, and signed anew."""
        document = deepcopy(self.document)
        within: Any = document
        for step in place[:-1]:
            within = within[step]
        if value is GONE:
            del within[place[-1]]
        else:
            within[place[-1]] = value
        return self.with_statement(self.signed(json.dumps(document, indent=1).encode()))

    def with_text(self, old: str, new: str) -> Files:
        """The statement with a text in it replaced, and signed anew."""
        text = self.payload.decode()
        if old not in text:
            raise AssertionError(f"the statement has no {old!r}")
        return self.with_statement(self.signed(text.replace(old, new, 1).encode()))

    def believing(self, test: Test, *keys: Key, **more: object) -> Test:
        """A test whose policy believes some signers, by default the one."""
        signers = [{"key": pem(key)} for key in keys or (self.signer,)]
        return replace(test, policy={"statement": {"signers": signers, **more}})

    def group(self, topic: str, comment: str, tests: Iterable[Test]) -> Group:
        """A group on this evidence."""
        believed = [test if test.policy else self.believing(test) for test in tests]
        group = self.sound.group(topic, comment, believed)
        files = {**group.base.files, CHAIN_CONFIG: as_file(self.chain_config), STATEMENT: self.signed()}
        return replace(group, base=replace(group.base, name="judged", files=files))


def groups(seed: bytes) -> list[Group]:
    """The groups of statements."""
    stated = Stated(seed)
    table: Mapping[str, tuple[str, Callable[[Stated], Iterator[Test]]]] = {
        "envelope": ("A DSSE envelope, in one form only", _envelopes),
        "payload-type": ("The signed bytes are an in-toto statement, and nothing else", _types),
        "statement-signatures": ("Every signature is one of a signer whom the caller named", _signatures),
        "algorithms": ("The key decides the algorithm", _algorithms),
        "payload": ("An in-toto Statement v1 with the members of a verdict", _payloads),
        "subjects": ("The code that was judged is the code that answers", _subjects),
        "other-service": ("A true statement beside the evidence of something else", _others),
        "run": ("What is said of the run fits together", _runs),
        "result": ("The result follows from the cases, and the caller accepts it", _results),
        "age": ("The run ended neither too long ago nor in the future", _ages),
    }
    return [stated.group(topic, comment, make(stated)) for topic, (comment, make) in table.items()]


def _envelopes(stated: Stated) -> Iterator[Test]:
    text = stated.signed()
    whole = json.loads(text)
    one = whole["signatures"][0]
    yield accepted("a true statement", stated.with_statement(text))
    yield accepted("the envelope on one line", stated.with_statement(json.dumps(whole)), "Variant")
    swapped = {name: whole[name] for name in reversed(whole)}
    yield accepted("members in another order", stated.with_statement(json.dumps(swapped)), "Variant")

    def bad(comment: str, text: str | bytes, flag: str = "Malformed") -> Test:
        return refused("statement-malformed", comment, stated.with_statement(text), flag)

    def but(**changes: object) -> str:
        return json.dumps({key: value for key, value in {**whole, **changes}.items() if value is not GONE}, indent=2)

    yield refused("statement-missing", "no statement", stated.with_statement(None), "Missing")
    for body in ("", "null", "[]", "{}"):
        yield bad(f"the file is {body!r}", body)
    yield bad("cut after half of its bytes", text[: len(text) // 2], "Truncated")
    yield bad("the envelope twice", text * 2, "TrailingBytes")
    yield bad("a comma behind it", f"{text},", "TrailingBytes")
    yield bad("a byte-order mark before it", f"\ufeff{text}")
    yield bad("a byte that is no UTF-8", text.encode().replace(b"payload", b"payl\xffad", 1))
    yield bad("a zero byte behind it", f"{text}\0", "TrailingBytes")
    yield bad("in a list", json.dumps([whole]))
    for name in ("payload", "payloadType", "signatures"):
        member = f'"{name}": {json.dumps(whole[name])}'
        yield bad(f"{name} is missing", but(**{name: GONE}))
        yield bad(f"{name} stands twice, with one value", "{" + member + "," + but()[1:], "Contradiction")
        yield bad(f"{name} is a number", but(**{name: 1}))
    other = b64(stated.payload.replace(b"PASSED", b"FAILED"))
    yield bad("another payload before it", '{"payload": "' + other + '",' + but()[1:], "Contradiction")
    yield bad("another payload behind it", but()[:-2] + f', "payload": "{other}"}}', "Contradiction")
    yield bad("a member that DSSE does not have", but(cert="x"))
    yield bad("NaN in it", but()[:-2] + ', "more": NaN}')
    yield bad("signatures is an object", but(signatures=one))
    yield bad("no signature", but(signatures=[]), "Missing")
    yield bad("nine signatures", but(signatures=[one] * 9))
    yield bad("a signature is a text", but(signatures=[one["sig"]]))
    yield bad("a signature without sig", but(signatures=[{"keyid": one["keyid"]}]))
    yield bad("sig is null", but(signatures=[{**one, "sig": None}]))
    yield bad("keyid is a number", but(signatures=[{**one, "keyid": 7}]))
    yield bad("a signature with a certificate", but(signatures=[{**one, "cert": "x"}]))
    yield bad("sig stands twice", but().replace('"sig":', f'"sig": "{one["sig"]}", "sig":'), "Contradiction")
    for comment, changed in _other_base64(b64(stated.payload + b" ?>?")):
        yield bad(f"payload {comment}", but(payload=changed))
    yield bad("sig without its padding", but(signatures=[{**one, "sig": one["sig"].rstrip("=")}]))


def _other_base64(text: str) -> Iterator[tuple[str, str]]:
    """The same bytes in other alphabets and forms."""
    yield "without its padding", text.rstrip("=") if text.endswith("=") else text[:-1]
    yield "with more padding", f"{text}="
    yield "in lines", "\n".join(text[start : start + 64] for start in range(0, len(text), 64)) + "\n"
    yield "with a blank in it", f"{text[:8]} {text[8:]}"
    yield "in the alphabet of URLs", (text[:8] + "-_" + text[10:])
    yield "in hex, which has another length", f"{base64.b64decode(text).hex()}0"
    yield "in full-width letters", "".join(chr(ord(letter) + 0xFEE0) for letter in text[:4]) + text[4:]


def _types(stated: Stated) -> Iterator[Test]:
    for comment, kind in {
        "JSON": "application/json",
        "nothing": "",
        "in-toto's in capitals": TYPE.upper(),
        "in-toto's with a parameter": f"{TYPE}; charset=utf-8",
        "in-toto's with more": f"{TYPE}x",
    }.items():
        files = stated.with_statement(stated.signed(payload_type=kind))
        yield refused("statement-type", f"the type is {comment}, signed soundly", files, "WrongType")
    unsigned = stated.signed().replace(TYPE, "application/json")
    yield refused(
        "statement-type", "the type was changed after it was signed", stated.with_statement(unsigned), "SignedBytes"
    )


def _signatures(stated: Stated) -> Iterator[Test]:
    signer, other, payload = stated.signer, stated.key("other"), stated.payload
    right = signature(signer, pae(payload))

    def holding(*signatures: tuple[str | None, bytes], payload: bytes = payload) -> Files:
        forms = [{"sig": b64(sig)} if key is None else {"keyid": key, "sig": b64(sig)} for key, sig in signatures]
        return stated.with_statement(envelope(payload, forms))

    mine = keyid(signer)
    yield accepted("a signature that names no key", holding((None, right)), "Variant")
    yield accepted("a signature that names an empty key", holding(("", right)), "Variant")
    both = holding((mine, right), (keyid(other), signature(other, pae(payload))))
    yield stated.believing(accepted("two signers, both believed", both, "Variant"), signer, other)
    yield stated.believing(accepted("one of two who are believed", holding((mine, right)), "Variant"), other, signer)

    def bad(comment: str, files: Files, flag: str) -> Test:
        return refused("statement-signature", comment, files, flag)

    theirs = signature(other, pae(payload))
    yield bad("of somebody else, who names himself", holding((keyid(other), theirs)), "WrongSigner")
    yield bad("of somebody else, who names the signer", holding((mine, theirs)), "WrongSigner")
    yield bad("of somebody else, who names nobody", holding((None, theirs)), "WrongSigner")
    yield bad("the signer's, which names another key", holding((keyid(other), right)), "Contradiction")
    yield bad("the signer's, which names a key in capitals", holding((mine.upper(), right)), "Contradiction")
    for place in (0, 63):
        flipped = right[:place] + bytes([right[place] ^ 1]) + right[place + 1 :]
        yield bad(f"one bit of byte {place} is another", holding((mine, flipped)), "SignedBytes")
    for comment, sig in {
        "empty": b"",
        "all zeros": bytes(64),
        "a byte short": right[:-1],
        "a byte too long": right + b"\0",
        "of the neutral element": b"\1" + bytes(63),
    }.items():
        yield bad(comment, holding((mine, sig)), "WrongSize" if len(sig) != 64 else "SignedBytes")
    for comment, message in {
        "over the payload alone": payload,
        "over DSSE's text with the payload in base64": pae(b64(payload).encode()),
        "over DSSE's text without the type": b"DSSEv1 %d %b" % (len(payload), payload),
        "over DSSE's text of another version": pae(payload).replace(b"DSSEv1", b"DSSEv2"),
        "over DSSE's text of another type": pae(payload, "application/json"),
        "over the SHA-256 of DSSE's text": hashlib.sha256(pae(payload)).digest(),
    }.items():
        yield bad(comment, holding((mine, signature(signer, message))), "SignedBytes")
    for comment, old, new in (
        ("a failure became a success", b'"result": "PASSED"', b'"result": "FAILED"'),
        ("a blank", b'"result": "PASSED"', b'"result":  "PASSED"'),
    ):
        changed = payload.replace(old, new, 1)
        yield bad(f"signed, then changed: {comment}", holding((mine, right), payload=changed), "SignedBytes")
    yield bad("a right one and a wrong one", holding((mine, right), (keyid(other), bytes(64))), "WrongSigner")
    yield bad("a wrong one and a right one", holding((None, bytes(64)), (mine, right)), "WrongSigner")
    yield bad("a right one and one of somebody else", both, "WrongSigner")
    yield bad(
        "a right one and one of another payload",
        holding((mine, right), (mine, signature(signer, pae(b"{}")))),
        "SignedBytes",
    )
    yield bad("the right one twice", holding((mine, right), (mine, right)), "Contradiction")
    two = holding((mine, right), (keyid(other), bytes(64)))
    yield stated.believing(bad("two who are believed, one of them wrong", two, "SignedBytes"), signer, other)
    yield stated.believing(bad("nobody who is believed signed it", holding((mine, right)), "WrongSigner"), other)


def _algorithms(stated: Stated) -> Iterator[Test]:
    payload, message = stated.payload, pae(stated.payload)
    key, edwards = stated.p256("p256"), stated.signer

    def of(named: Key, sig: bytes) -> Files:
        return stated.with_statement(envelope(payload, [{"keyid": keyid(named), "sig": b64(sig)}]))

    right = signature(key, message)
    r, s = decode_dss_signature(right)
    raw = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    yield stated.believing(accepted("ECDSA over P-256", of(key, right)), key)
    yield stated.believing(accepted("one of each algorithm is believed", of(key, right), "Variant"), edwards, key)

    def bad(comment: str, files: Files, believed: Key, flag: str = "WrongType") -> Test:
        return stated.believing(refused("statement-signature", comment, files, flag), believed)

    yield bad("Ed25519's, where a key of P-256 is believed", of(key, signature(edwards, message)), key)
    yield bad("P-256's, where a key of Ed25519 is believed", of(edwards, right), edwards)
    yield bad("P-256's as r and s, not in DER", of(key, raw), key)
    yield bad("P-256's r and s, where a key of Ed25519 is believed", of(edwards, raw), edwards)
    yield bad("P-256's over SHA-384", of(key, signature(key, message, SHA384())), key)
    yield bad("P-256's over the SHA-256 of the message", of(key, signature(key, hashlib.sha256(message).digest())), key)
    large = stated.p256("p384", ec.SECP384R1())
    yield bad("of a key of P-384", of(key, signature(large, message)), key)
    yield bad("of a key of secp256k1", of(key, signature(stated.p256("p256", ec.SECP256K1()), message)), key)
    for comment, pair in {
        "r is 0": (0, s),
        "s is 0": (r, 0),
        "r is larger than the curve's order": (r + 2**256, s),
    }.items():
        yield bad(f"P-256's, where {comment}", of(key, encode_dss_signature(*pair)), key, "SignedBytes")
    yield bad("P-256's with a byte behind it", of(key, right + b"\0"), key, "TrailingBytes")
    yield bad("P-256's with a length in another form", of(key, b"\x30\x81" + right[1:]), key, "Malformed")
    for believed in (key, edwards):
        code = hmac.new(pem(believed).encode(), message, hashlib.sha256).digest()
        name = "P-256" if believed is key else "Ed25519"
        yield bad(f"an HMAC with the public key of {name}", of(believed, code), believed)


def _payloads(stated: Stated) -> Iterator[Test]:
    text = stated.payload.decode()
    yield accepted("a member that in-toto does not have", stated.edited("more", value={"a": 1}), "Variant")
    yield accepted("one more entry of the configuration", _with_entry(stated, {"name": "ci", "uri": "x:y"}), "Variant")

    def bad(comment: str, files: Files, flag: str = "Malformed", code: str = "statement-payload") -> Test:
        return refused(code, comment, files, flag)

    def payload(comment: str, body: bytes, flag: str = "Malformed") -> Test:
        return bad(comment, stated.with_statement(stated.signed(body)), flag)

    for comment, body in {
        "nothing": b"",
        "no JSON": b"PASSED",
        "a list": b"[]",
        "with a byte-order mark": b"\xef\xbb\xbf" + text.encode(),
    }.items():
        yield payload(f"the payload is {comment}", body)
    yield payload("the payload is cut", text[: len(text) // 2].encode(), "Truncated")
    yield payload("the payload is there twice", (text * 2).encode(), "TrailingBytes")
    for name, member in {
        "_type": '"_type": "https://in-toto.io/Statement/v1",\n ',
        "subject": '"subject": [],\n ',
        "predicate": '"predicate": {},\n ',
    }.items():
        yield bad(f"{name} stands twice", stated.with_text("{\n ", "{\n " + member), "Contradiction")
    yield bad("result stands twice", stated.with_text('"result": ', '"result": "FAILED", "result": '), "Contradiction")
    twice = '"sha256": "' + "0" * 64 + '", "sha256": '
    yield bad("a digest stands twice", stated.with_text('"sha256": ', twice), "Contradiction")
    for kind in ("https://in-toto.io/Statement/v0.1", 1, GONE):
        yield bad(f"_type is {_named(kind)}", stated.edited("_type", value=kind), "WrongType")
    for kind in (
        "https://slsa.dev/provenance/v1",
        "https://in-toto.io/attestation/test-result/v0.2",
        GONE,
    ):
        files = stated.edited("predicateType", value=kind)
        yield bad(f"predicateType is {_named(kind)}", files, "WrongType", "statement-predicate")
    values: Mapping[tuple[str | int, ...], Sequence[object]] = {
        ("subject",): ([], {}, GONE),
        ("subject", 0, "digest"): ({"sha512": "0" * 128}, GONE),
        ("subject", 0, "digest", "sha256"): ("0" * 63, "A" * 64, 0),
        ("subject", 0, "name"): (1, GONE),
        ("predicate",): ([], GONE),
        ("predicate", "result"): ("passed", "OK", True, GONE),
        ("predicate", "configuration"): ([], {}, GONE),
        ("predicate", "passedTests"): ("all", [1], GONE),
        ("predicate", "failedTests"): (GONE,),
        (*RUN, "finished"): ("2026-02-19", "2026-02-19T00:00:00+00:00", 0, GONE),
        (*RUN, "warnings"): ("none", GONE),
        (*RUN, "quick"): ("false", 0),
        ("predicate", "configuration", 3, "annotations", "mrtd"): ("00", "G" * 96, GONE),
        ("predicate", "configuration", 0, "uri"): (1, GONE),
        ("predicate", "configuration", 1, "digest"): (GONE,),
    }
    for place, several in values.items():
        for value in several:
            yield bad(f"{'.'.join(map(str, place))} is {_named(value)}", stated.edited(*place, value=value))
    entries = stated.document["predicate"]["configuration"]
    for entry in entries:
        rest = [one for one in entries if one is not entry]
        yield bad(f"{entry['name']} is missing", stated.edited(*PREDICATE, "configuration", value=rest), "Missing")
    twice_used = stated.edited(*PREDICATE, "configuration", value=[*entries, entries[0]])
    yield bad(f"{entries[0]['name']} stands twice", twice_used, "Contradiction")


def _named(value: object) -> str:
    return "missing" if value is GONE else json.dumps(value)[:60]


def _with_entry(stated: Stated, entry: object) -> Files:
    return stated.edited(*PREDICATE, "configuration", value=[*stated.document["predicate"]["configuration"], entry])


def _subjects(stated: Stated) -> Iterator[Test]:
    subjects: list[Document] = stated.document["subject"]
    names = [subject["name"] for subject in subjects]
    image = next(name for name in names if name.startswith(form.IMAGE))
    place = {name: names.index(name) for name in names}
    yield accepted("subjects in another order", stated.edited("subject", value=subjects[::-1]), "Variant")

    def bad(code: str, comment: str, files: Files, flag: str = "OtherCode") -> Test:
        return refused(code, comment, files, flag)

    def with_digest(name: str) -> Files:
        digest = subjects[place[name]]["digest"]["sha256"]
        changed = ("1" if digest[0] == "0" else "0") + digest[1:]
        return stated.edited("subject", place[name], "digest", "sha256", value=changed)

    codes = {
        form.COMPOSE: "judged-compose-differs",
        image: "judged-images-differ",
        form.CONTRACT: "judged-contract-differs",
        form.RESULTS: "judged-run-contradiction",
        form.PROFILE: "judged-run-contradiction",
    }
    for name, code in codes.items():
        yield bad(code, f"another digest of {name}", with_digest(name))
        rest = [subject for subject in subjects if subject["name"] != name]
        missing = code if name == image else "judged-subjects"
        yield bad(missing, f"{name} is missing", stated.edited("subject", value=rest), "Missing")
    app_compose = subjects[place[form.COMPOSE]]
    other = {**app_compose, "digest": {"sha256": "0" * 64}}
    for comment, both in (
        ("twice", [*subjects, app_compose]),
        ("with another digest before the right one", [other, *subjects]),
        ("with another digest behind the right one", [*subjects, other]),
    ):
        yield bad(
            "judged-subjects", f"{form.COMPOSE} stands {comment}", stated.edited("subject", value=both), "Contradiction"
        )
    for name in ("sbom", "App_compose"):
        more = [*subjects, {"name": name, "digest": {"sha256": "0" * 64}}]
        yield bad("judged-subjects", f"a subject {name!r} more", stated.edited("subject", value=more))
    second = {"name": f"{form.IMAGE}registry.example/more@sha256:{'0' * 64}", "digest": {"sha256": "0" * 64}}
    yield bad("judged-images-differ", "one image more", stated.edited("subject", value=[*subjects, second]))
    renamed = image.replace("node", "n0de")
    yield bad(
        "judged-images-differ",
        "an image of another name",
        stated.edited("subject", place[image], "name", value=renamed),
    )
    contract = subjects[place[form.CONTRACT]]["uri"]
    for comment, uri in {
        "at another address": contract[:-1] + ("0" if contract[-1] != "0" else "1"),
        "on another chain": contract.replace(":31337:", ":1:"),
        "in capitals": contract.upper(),
        "without its chain": contract.rpartition(":")[2],
    }.items():
        uris = {"name": form.CONTRACT, "uri": uri, "digest": {"sha256": hashlib.sha256(uri.encode()).hexdigest()}}
        files = stated.edited("subject", place[form.CONTRACT], value=uris)
        yield bad("judged-contract-differs", f"a contract {comment}", files)
        files = stated.edited("subject", place[form.CONTRACT], "uri", value=uri)
        yield bad("judged-contract-differs", f"a contract {comment}, with the right digest", files, "Contradiction")
    files = stated.edited("subject", place[form.CONTRACT], "uri", value=GONE)
    yield bad("judged-contract-differs", "a contract without its address", files, "Missing")
    yield from _systems(stated)


def _systems(stated: Stated) -> Iterator[Test]:
    """Both evidences of the run name something else."""
    for name, code in (
        ("app_id", "judged-app-differs"),
        *((register, "judged-boot-differs") for register in ("mrtd", "rtmr0", "rtmr1", "rtmr2")),
    ):
        document = deepcopy(stated.document)
        for number in (3, 4):
            notes = document["predicate"]["configuration"][number]["annotations"]
            notes[name] = ("1" if notes[name][0] == "0" else "0") + notes[name][1:]
        files = stated.with_statement(stated.signed(json.dumps(document, indent=1).encode()))
        yield refused(code, f"another {name} was judged", files, "Boot" if name != "app_id" else "OtherCode")
        if name == "rtmr0":
            now = document["predicate"]["configuration"][0], stated.document["predicate"]["configuration"][4]
            registers = {one: now[1]["annotations"][one] for one in ("mrtd", "rtmr0", "rtmr1", "rtmr2")}
            judged = stated.believing(accepted("another machine, whose boot the policy knows", files, "Variant"))
            yield replace(judged, policy={**judged.policy, "boot": {"measurements": [registers]}})


def _others(stated: Stated) -> Iterator[Test]:
    sound, text = stated.sound, stated.signed()

    def beside(code: str, comment: str, evidence: SoundEvidence, flag: str = "OtherCode") -> Test:
        return refused(code, comment, stated.with_statement(text, evidence), flag)

    changed = identity(stated.seed, COMPOSE.replace("node:1.0", "node:1.1"))
    yield beside("judged-compose-differs", "the compose file names another version", replace(sound, who=changed))
    yield beside(
        "judged-images-differ", "the compose file names another version, for its images", replace(sound, who=changed)
    )
    blank = identity(stated.seed, COMPOSE + "\n")
    yield beside("judged-compose-differs", "the compose file has one blank line more", replace(sound, who=blank))
    app = identity(stated.seed, name="other app")
    yield beside("judged-app-differs", "another app runs the same code", replace(sound, who=app))
    boot = boot_events()
    other = replace(boot[-1], digest=bytes(48))
    yield beside("judged-boot-differs", "another initrd booted", replace(sound, boot=[*boot[:-1], other]), "Boot")
    firmware = replace(sound.report, mr_td=bytes(48))
    yield beside("judged-boot-differs", "another firmware booted", replace(sound, report=firmware), "Boot")

    def config(comment: str, body: str | None, code: str = "contract-unknown", flag: str = "Malformed") -> Test:
        return refused(code, comment, {**stated.with_statement(text), CHAIN_CONFIG: body}, flag)

    right = stated.chain_config
    yield config("nothing tells the contract", None, flag="Missing")
    for comment, body in {
        "is no JSON": "31337",
        "has no chain": as_file({"contract_address": right["contract_address"]}),
        "has no address": as_file({"chain_id": 31337}),
        "has a short address": as_file({**right, "contract_address": "0x00"}),
        "has chain 0": as_file({**right, "chain_id": 0}),
        "has chain true": as_file({**right, "chain_id": True}),
        "has a chain twice": as_file(right).replace('"chain_id"', '"chain_id": 1, "chain_id"'),
    }.items():
        yield config(f"get_node_chain_config {comment}", body)
    moved = as_file({**right, "contract_address": "0x" + "11" * 20})
    yield config("the node uses another contract by now", moved, "judged-contract-differs", "OtherCode")
    chain = as_file({**right, "chain_id": 1})
    yield config("the node uses another chain by now", chain, "judged-contract-differs", "OtherCode")
    for comment, number in {"in hex": "0x7a69", "as a text": "31337"}.items():
        files = {**stated.with_statement(text), CHAIN_CONFIG: as_file({**right, "chain_id": number})}
        yield accepted(f"the node tells its chain {comment}", files, "Variant")
    upper = as_file({**right, "contract_address": "0x" + right["contract_address"][2:].upper()})
    yield accepted(
        "the node tells its contract in capitals", {**stated.with_statement(text), CHAIN_CONFIG: upper}, "HexCase"
    )


def _runs(stated: Stated) -> Iterator[Test]:
    contradiction = partial(refused, "judged-run-contradiction")
    for comment, uri in {
        "another suite": "pkg:pypi/other-conformance@0.1.0",
        "another version than its own": "pkg:pypi/service-conformance@0.2.0",
        "no version": "pkg:pypi/service-conformance",
    }.items():
        files = stated.edited(*PREDICATE, "configuration", 0, "uri", value=uri)
        yield refused("judged-suite", f"the run was made with {comment}", files, "OtherCode")
    for number, when in ((3, "before"), (4, "after")):
        notes = (*PREDICATE, "configuration", number, "annotations")
        yield contradiction(
            f"the compose hash {when} the run is another",
            stated.edited(*notes, "compose_hash", value="0" * 64),
            "Contradiction",
        )
        for name, size in (("app_id", 40), ("mrtd", 96), ("rtmr0", 96), ("rtmr1", 96), ("rtmr2", 96)):
            files = stated.edited(*notes, name, value="0" * size)
            yield contradiction(f"{name} {when} the run is another", files, "Contradiction")
    late, early = form.time_of(FINISHED + 1), form.time_of(FINISHED - HOUR - 1)
    for comment, place, time in (
        ("the evidence before the run is older than it", (*PREDICATE, "configuration", 3, "annotations", "at"), early),
        (
            "the evidence before the run is newer than that after it",
            (*PREDICATE, "configuration", 3, "annotations", "at"),
            form.time_of(FINISHED - 1),
        ),
        (
            "the evidence after the run is newer than its end",
            (*PREDICATE, "configuration", 4, "annotations", "at"),
            late,
        ),
        ("the run ended before it began", (*RUN, "finished"), early),
        ("the run began after it ended", (*RUN, "started"), late),
        ("the run began on a day that is none", (*RUN, "started"), "2026-02-30T00:00:00Z"),
    ):
        yield contradiction(comment, stated.edited(*place, value=time), "Contradiction")


def _results(stated: Stated) -> Iterator[Test]:
    def said(warnings: Sequence[str] = (), **changes: object) -> Files:
        document = deepcopy(stated.document)
        document["predicate"].update(changes)
        document["predicate"]["configuration"][2]["annotations"]["warnings"] = list(warnings)
        return stated.with_statement(stated.signed(json.dumps(document, indent=1).encode()))

    warned = said(["A part of the cases was run."], result="WARNED")
    known = said(["1 case failed as known."], result="WARNED", warnedTests=["groups::list"])
    failed = said(["1 case failed."], result="FAILED", failedTests=["groups::list"])
    worse = said(result="WARNED")
    for comment, files in {"a part": warned, "a known failure": known, "less than it could say": worse}.items():
        both = stated.believing(
            accepted(f"WARNED for {comment}, which is accepted", files), accept=["PASSED", "WARNED"]
        )
        yield both
        yield refused("judged-result", f"WARNED for {comment}", files, "Unjudged")
    yield stated.believing(
        refused("judged-result", "PASSED, where WARNED alone is accepted", said(), "Unjudged"), accept=["WARNED"]
    )
    yield refused("judged-result", "FAILED", failed, "Unjudged")
    yield stated.believing(
        refused("judged-result", "FAILED, where WARNED is accepted", failed, "Unjudged"), accept=["PASSED", "WARNED"]
    )
    yield refused("judged-result", "FAILED without a case that failed", said(result="FAILED"), "Unjudged")
    cases = stated.document["predicate"]["passedTests"]
    for comment, files in {
        "a case failed": said(failedTests=["groups::list"]),
        "a case was warned of": said(warnedTests=["groups::list"]),
        "there are warnings": said(["A part of the cases was run."]),
        "a part was selected": stated.edited(*RUN, "selected", value=["--pack=groups"]),
        "the run was a quick one": stated.edited(*RUN, "quick", value=True),
        "no case passed": said(passedTests=[]),
        "a case passed twice": said(passedTests=[*cases, cases[0]]),
        "a case passed and was not offered": said(passedTests=[*cases, "fuzz::all"]),
        "a case passed and failed": said(failedTests=[cases[0]]),
    }.items():
        yield refused("judged-result-contradiction", f"PASSED, where {comment}", files, "Contradiction")
    failing = said(["x"], result="WARNED", failedTests=["groups::list"])
    contradiction = refused("judged-result-contradiction", "WARNED, where a case failed", failing, "Contradiction")
    yield stated.believing(contradiction, accept=["PASSED", "WARNED"])


def _ages(stated: Stated) -> Iterator[Test]:
    def ended(at: int) -> Files:
        document = deepcopy(stated.document)
        entries = document["predicate"]["configuration"]
        entries[2]["annotations"] |= {"started": form.time_of(at - HOUR), "finished": form.time_of(at)}
        entries[3]["annotations"]["at"] = entries[4]["annotations"]["at"] = form.time_of(at - HOUR)
        return stated.with_statement(stated.signed(json.dumps(document, indent=1).encode()))

    true = stated.with_statement(stated.signed())
    yield stated.believing(accepted("exactly as old as the policy allows", true, "Boundary"), max_age_days=10)
    yield stated.believing(accepted("younger than the policy allows", true), max_age_days=11)
    for days in (1, 9):
        old = refused("judged-too-old", f"10 days old, where {days} are allowed", true, "TooOld")
        yield stated.believing(old, max_age_days=days)
    second = refused("judged-too-old", "a second older than the policy allows", ended(FINISHED - 1), "TooOld")
    yield stated.believing(second, max_age_days=10)
    ages = refused("judged-too-old", "of another century", ended(AT - 40000 * DAY), "TooOld")
    yield stated.believing(ages, max_age_days=10)
    yield accepted("ended as far in the future as clocks may differ", ended(AT + MOST_SKEW), "Boundary")
    for comment, ahead in {
        "a second more than clocks may differ": MOST_SKEW + 1,
        "a day": DAY,
        "years": 3000 * DAY,
    }.items():
        yield refused("judged-in-future", f"ends in the future, by {comment}", ended(AT + ahead), "NotYetValid")
