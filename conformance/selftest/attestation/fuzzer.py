"""Mutates each kind of input of the attestation verifier, and says which of them must not be accepted.

What is accepted differs from sound input in nothing that is signed, measured or bound.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from conformance.selftest.attestation import meaning
from conformance.selftest.attestation.layouts import AUTHENTICATION_SIZE, INNER, KEY, OUTER, SIGNATURE, SIGNATURE_SIZE
from conformance.selftest.attestation.mutation import bytes_mutated, text_mutated, value_mutated
from conformance.selftest.attestation.sound_evidence import COMPOSE, SoundEvidence, identity
from conformance.selftest.attestation.sound_quote import NOW, SoundQuote, as_file
from conformance.verify import Evidence, Policy, Rule, Verified, verify, verify_quote
from conformance.verify.evidence import (
    ATTESTATION,
    CHECKSUMS,
    COLLATERAL,
    EVIDENCE_QUOTE,
    INFO,
    OBSERVED,
    certificate_file,
)
from reference_node.tee.collateral import qe_identity_document, tcb_info_document
from reference_node.tee.quotes import QeReport, TdReport, TdReport15
from reference_node.tee.sgx_extension import PlatformTcb

AT = int(NOW.timestamp())
DAY = 24 * 3600
VALID = (AT - DAY, AT + 29 * DAY)
"""When the sound collateral is valid: everything else is valid for longer."""


@dataclass(frozen=True)
class Tried:
    """One input and what came of it."""

    verified: Verified
    fault: str | None
    """Why it must not be accepted, where it was; None: it was refused, or may be accepted."""
    shown: object
    """The input, for who wants to try it again."""


class Fuzzer:
    """Sound inputs and what is done to them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.quotes = [
            SoundQuote(b"fuzzing"),
            SoundQuote(b"fuzzing", version=5),
            SoundQuote(b"fuzzing", version=5, report=TdReport15()),
        ]
        self.other = SoundQuote(b"stranger")
        seed = b"fuzzing"
        self.evidence = SoundEvidence(seed, identity(seed))
        self.bodies = self.evidence.bodies
        self.certificate = certificate_file(self.evidence.domain)
        self.sound = meaning.of_evidence(self.bodies, self.certificate)

    @cached_property
    def targets(self) -> Mapping[str, Callable[[], Tried]]:
        """What can be tried, by name."""
        return {
            "quote: bytes": self.quote_bytes,
            "quote: lengths and types": self.quote_numbers,
            "quote: fields, signed again": self.quote_fields,
            "quote: PEM of the chain": self.quote_chain,
            "PCK certificate, signed again": self.pck_extension,
            "collateral: bytes": self.collateral_bytes,
            "collateral: members": self.collateral_members,
            "TCB info and QE identity, signed again": self.documents,
            "evidence: bytes of a body": self.body_bytes,
            "evidence: members of a body": self.body_members,
            "event log": self.event_log,
            "CAA records": self.caa,
            "compose file": self.compose,
            "certificate file": self.certificate_pem,
            "sha256sum.txt": self.checksums,
        }

    def judged_quote(self, source: SoundQuote, raw: bytes, collateral: bytes) -> Verified:
        """What the verifier says of a quote alone."""
        return verify_quote(raw, collateral, Policy(root=source.machine.root_pem.encode(), at=AT))

    def judged(self, files: Mapping[str, bytes], *rules: Rule) -> Verified:
        """What the verifier says of evidence."""
        policy = Policy(root=self.bodies["root.pem"])
        return verify(Evidence(files), policy, rules or None)

    def quote_bytes(self) -> Tried:
        """Any bytes of the quote."""
        source = self.rng.choice(self.quotes)
        return self._quote(source, bytes_mutated(self.rng, source.raw, self.other.raw))

    def quote_numbers(self) -> Tried:
        """The numbers by which a reader finds its way."""
        source = self.rng.choice(self.quotes)
        later = len(source.raw) - len(self.quotes[0].raw)
        places: tuple[tuple[int, str], ...] = (
            (0, "<H"),
            (2, "<H"),
            (4, "<I"),
            (48, "<H"),
            (50, "<I"),
            (SIGNATURE_SIZE + later, "<I"),
        )
        places += ((OUTER + later, "<H"), (OUTER + 2 + later, "<I"), (AUTHENTICATION_SIZE + later, "<H"))
        places += ((INNER + later, "<H"), (INNER + 2 + later, "<I"), (SIGNATURE + later, "<I"), (KEY + later, "<I"))
        raw = bytearray(source.raw)
        for place, form in self.rng.sample(places, self.rng.choice((1, 1, 2))):
            size = struct.calcsize(form)
            (number,) = struct.unpack_from(form, raw, place)
            new = self.rng.choice((0, 1, 2, 3, 4, 5, 6, number - 1, number + 1, number ^ 0x100, 0xFFFFFFFF))
            raw[place : place + size] = (new % (1 << 8 * size)).to_bytes(size, "little")
        return self._quote(source, bytes(raw))

    def _quote(self, source: SoundQuote, raw: bytes) -> Tried:
        verified = self.judged_quote(source, raw, source.files()[COLLATERAL].encode())
        fault = self._difference(meaning.of_quote, source.raw, raw) if verified.accepted else None
        return Tried(verified, fault, raw.hex())

    @staticmethod
    def _difference(read: Callable[[bytes], meaning.Meaning], sound: bytes, changed: bytes) -> str | None:
        try:
            told, right = read(changed), read(sound)
        except (ValueError, LookupError, TypeError, struct.error) as problem:
            return f"accepted, and cannot even be read: {problem!r}"
        differing = [name for name in right if told.get(name) != right[name]]
        return f"accepted with other {', '.join(differing)}" if differing else None

    def quote_fields(self) -> Tried:
        """Fields of the reports, the signatures made anew."""
        source, rng = self.rng.choice(self.quotes), self.rng
        report, qe_report, form = source.report, QeReport(), source.quote
        for _ in range(rng.choice((1, 1, 2))):
            if rng.random() < 0.6:
                name = rng.choice(list(vars(report)))
                report = replace(report, **{name: self._flipped(getattr(report, name))})
            else:
                name = rng.choice([name for name, value in vars(qe_report).items() if isinstance(value, bytes | int)])
                old = getattr(qe_report, name)
                new = self._flipped(old) if isinstance(old, bytes) else rng.choice((0, 1, 2, 3, 4, 5, 65535))
                qe_report = replace(qe_report, **{name: new})  # type: ignore[arg-type]  # of the type that it had
        changed = replace(source, report=report, quote=replace(form, qe_report=qe_report))
        verified = self.judged_quote(source, changed.raw, source.files()[COLLATERAL].encode())
        return Tried(verified, _report_fault(report) if verified.accepted else None, changed.raw.hex())

    def _flipped(self, value: bytes) -> bytes:
        place = self.rng.randrange(min(len(value), 64))
        return value[:place] + bytes([self.rng.randrange(256)]) + value[place + 1 :]

    def quote_chain(self) -> Tried:
        """The text of the PCK chain, with lengths that fit."""
        source = self.rng.choice(self.quotes)
        text = text_mutated(self.rng, source.machine.pck_chain_pem)
        chain = text.encode() + self.rng.choice((b"\x00", b"", b"\x00\x00"))
        return self._quote(source, replace(source, quote=replace(source.quote, chain=chain)).raw)

    def pck_extension(self) -> Tried:
        """The SGX extension, in a PCK certificate that its CA signed."""
        rng, source = self.rng, self.quotes[0]
        usual = PlatformTcb()
        tcb = usual
        for _ in range(rng.choice((1, 2))):
            name = rng.choice([name for name in vars(usual) if name != "ppid"])
            changes = {name: _tcb_value(rng, name, getattr(usual, name))}
            tcb = replace(tcb, **changes)  # type: ignore[arg-type]  # each of the type that it had
        if tcb.components != usual.components and tcb.cpusvn is None:
            tcb = replace(tcb, cpusvn=bytes(usual.components))
        form = replace(source.collateral, tcb_info=tcb_info_document(source.machine))
        changed = replace(source, platform=replace(source.platform, tcb=tcb), collateral=form)
        files = changed.files()
        verified = self.judged_quote(source, changed.raw, files[COLLATERAL].encode())
        fault = None
        if verified.accepted and (tcb.fmspc, tcb.pceid) != (usual.fmspc, usual.pceid):
            fault = "accepted with a PCK certificate of another platform"
        return Tried(verified, fault, repr(tcb))

    def collateral_bytes(self) -> Tried:
        """Any bytes of the collateral."""
        source = self.quotes[0]
        body = source.files()[COLLATERAL].encode()
        return self._collateral(body, bytes_mutated(self.rng, body, self.other.files()[COLLATERAL].encode()))

    def collateral_members(self) -> Tried:
        """Members of the collateral."""
        source = self.quotes[0]
        members = value_mutated(self.rng, source.members)
        return self._collateral(source.files()[COLLATERAL].encode(), json.dumps(members).encode())

    def _collateral(self, sound: bytes, changed: bytes) -> Tried:
        source = self.quotes[0]
        verified = self.judged_quote(source, source.raw, changed)
        fault = self._difference(meaning.of_collateral, sound, changed) if verified.accepted else None
        return Tried(verified, fault, changed.decode("utf-8", "replace"))

    def documents(self) -> Tried:
        """TCB info and QE identity as their signer would never write them."""
        source = self.quotes[0]
        info, qe = tcb_info_document(source.machine), qe_identity_document(source.machine)
        if self.rng.random() < 0.6:
            form = replace(source.collateral, tcb_info_text=json.dumps(value_mutated(self.rng, info)))
        else:
            form = replace(source.collateral, qe_identity_text=json.dumps(value_mutated(self.rng, qe)))
        changed = replace(source, collateral=form)
        body = changed.files()[COLLATERAL]
        verified = self.judged_quote(source, source.raw, body.encode())
        fault = None
        if verified.accepted:
            fault = meaning.documents_fault(changed.members, PlatformTcb().fmspc, NOW)
        return Tried(verified, fault, body)

    def body(self, name: str, body: bytes) -> Tried:
        """The evidence with one body replaced."""
        files = self.bodies | {name: body}
        verified = self.judged(files)
        return Tried(verified, self._evidence_fault(files) if verified.accepted else None, {name: body})

    def _evidence_fault(self, files: Mapping[str, bytes]) -> str | None:
        try:
            told = meaning.of_evidence(files, self.certificate)
            names = {*told, *(name for name in self.sound if not name.startswith(meaning.BOOT))}
            differing = sorted(name for name in names if told.get(name) != self.sound.get(name))
            if differing:
                return f"accepted with other {', '.join(differing)}"
            leaf = meaning.certificates(files[self.certificate])[0]
            return meaning.observed_fault(files[OBSERVED], self.evidence.issuer.account_uri, leaf, VALID)
        except (ValueError, LookupError, TypeError, AttributeError, struct.error) as problem:
            return f"accepted, and cannot even be read: {problem!r}"

    def body_bytes(self) -> Tried:
        """Any bytes of any body."""
        name = self.rng.choice([name for name in self.bodies if name != "root.pem"])
        return self.body(name, bytes_mutated(self.rng, self.bodies[name], self.rng.choice(list(self.bodies.values()))))

    def body_members(self) -> Tried:
        """Members of any JSON body."""
        name = self.rng.choice([name for name in self.bodies if name.endswith(".json")])
        value = value_mutated(self.rng, json.loads(self.bodies[name]))
        return self.body(name, json.dumps(value, indent=self.rng.choice((None, 1))).encode())

    def event_log(self) -> Tried:
        """Events of either log."""
        name = self.rng.choice((ATTESTATION, ATTESTATION, EVIDENCE_QUOTE))
        members = json.loads(self.bodies[name])
        members["event_log"] = json.dumps(value_mutated(self.rng, json.loads(members["event_log"])))
        return self.body(name, as_file(members).encode())

    def caa(self) -> Tried:
        """Records about the gateway domain."""
        observed = json.loads(self.bodies[OBSERVED])
        answer = observed["caa"]
        for record in self.rng.sample(answer["records"], self.rng.choice((1, 1, 2))):
            record["value"] = text_mutated(self.rng, record["value"])
            if self.rng.random() < 0.2:
                record["tag"] = self.rng.choice(("issue", "ISSUE", "issuewild", "iodef", "tbs", ""))
            if self.rng.random() < 0.2:
                record["flags"] = self.rng.choice((0, 1, 127, 128, 255))
        if self.rng.random() < 0.1:
            answer["records"].append({"flags": 0, "tag": "issue", "value": self.rng.choice((";", "acme.example", ""))})
        body = as_file(observed).encode()
        verified = self.judged(self.bodies | {OBSERVED: body}, Rule.CAA_ACCOUNT)
        fault = meaning.caa_fault(answer, self.evidence.issuer.account_uri) if verified.accepted else None
        return Tried(verified, fault, answer)

    def compose(self) -> Tried:
        """A compose file; the rule alone looks at it, so nothing need be measured anew."""
        text = text_mutated(self.rng, self.rng.choice(COMPOSE_FILES))
        app_compose = json.dumps({"docker_compose_file": text, "runner": "docker-compose"})
        info = {"app_id": "00" * 20, "compose_hash": "00" * 32, "tcb_info": {"app_compose": app_compose}}
        verified = self.judged(self.bodies | {INFO: json.dumps(info).encode()}, Rule.IMAGE_PINS)
        fault = None
        if verified.accepted:
            try:
                fault = meaning.compose_fault(text)
            except Exception as problem:  # noqa: BLE001 - whatever another reader of YAML says of it
                fault = f"accepted, and cannot even be read: {problem!r}"
        return Tried(verified, fault, text)

    def certificate_pem(self) -> Tried:
        """The certificate file, bound by checksums and a quote that are made for it."""
        body = text_mutated(self.rng, self.evidence.chain.decode()).encode()
        changed = replace(self.evidence, certificate=body)
        verified = self.judged(changed.bodies, Rule.TLS_CERTIFICATE, Rule.EVIDENCE_FILES)
        fault = None
        if verified.accepted:
            sound = meaning.certificates(self.evidence.chain)[0]
            try:
                fault = None if meaning.certificates(body)[0] == sound else "accepted with another certificate"
            except ValueError as problem:
                fault = f"accepted, and cannot even be read: {problem!r}"
        return Tried(verified, fault, body.decode())

    def checksums(self) -> Tried:
        """The checksum file, in report data that are made for it."""
        text = text_mutated(self.rng, self.bodies[CHECKSUMS].decode())
        changed = replace(self.evidence, checksums=text.encode())
        verified = self.judged(changed.bodies, Rule.CHECKSUM_BINDING, Rule.EVIDENCE_FILES, Rule.REPORT_DATA)
        fault = None
        if verified.accepted:
            digests = [line.split()[0].lower() for line in self.bodies[CHECKSUMS].decode().splitlines()]
            fault = None if all(digest in text.lower() for digest in digests) else "accepted without a checksum"
        return Tried(verified, fault, text)


COMPOSE_FILES = (
    COMPOSE,
    COMPOSE + "  proxy:\n    image: &proxy " + COMPOSE.rpartition("image: ")[2] + "    depends_on: [node]\n",
    "x-base: &base\n  image: "
    + COMPOSE.rpartition("image: ")[2]
    + "services:\n  node:\n    <<: *base\n    ports: ['1:1']\n",
)


def _report_fault(report: TdReport) -> str | None:
    attributes = int.from_bytes(report.td_attributes, "little")
    if attributes & 0xFF or not attributes & 1 << 28:
        return f"accepted with TD attributes {report.td_attributes.hex()}"
    if any(report.mr_signer_seam) or any(report.seam_attributes):
        return "accepted with a TDX module that Intel did not sign"
    return None


def _tcb_value(rng: random.Random, name: str, usual: object) -> object:
    match usual:
        case bool():
            return rng.random() < 0.5
        case tuple():
            values = list(usual)
            values[rng.randrange(16)] = rng.choice((0, 1, 127, 128, 255, 256, -1))
            return tuple(values) if rng.random() < 0.9 else tuple(values[: rng.randrange(17)])
        case bytes():
            return rng.randbytes(rng.choice((len(usual), len(usual), 0, len(usual) + 1)))
        case None:
            return rng.choice((None, rng.randbytes(16), bytes(15)))
        case _:
            return rng.choice((0, 1, 2) if name == "sgx_type" else (0, 1, 5, 10, 11, 12, 255, 65535, 65536))
