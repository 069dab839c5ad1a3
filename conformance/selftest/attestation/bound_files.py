"""Vectors of the evidence files: checksums (rule 3), the certificate (rule 4), both quotes' report data (rule 7)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace

from conformance.selftest.attestation.forms import Files, Group, Test, accepted, refused
from conformance.selftest.attestation.sound_evidence import (
    COMPOSE,
    SoundEvidence,
    identity,
    listing,
    sums,
)
from conformance.selftest.attestation.sound_quote import NOW
from conformance.verify.event_log import IDENTITY
from conformance.verify.evidence import ACME_ACCOUNT, CHECKSUMS, EVIDENCE_QUOTE, LISTING, certificate_file
from reference_node.tee.event_log import runtime_event, runtime_events
from reference_node.tee.quotes import TD_DEBUG, TdReport


def checksum_groups(seed: bytes) -> list[Group]:
    """The groups of sha256sum.txt and the listing."""
    sound = SoundEvidence(seed, identity(seed))
    return [
        sound.group("checksum-form", "Lines of sha256sum.txt, which the quote binds as they stand", list(_form(sound))),
        sound.group("checksums", "The checksums are those of the files", list(_checksums(sound))),
        sound.group("listing", "The listing links the certificate", list(_listing(sound))),
    ]


def binding_groups(seed: bytes) -> list[Group]:
    """The groups of report data and of both quotes together."""
    sound = SoundEvidence(seed, identity(seed))
    return [
        sound.group("report-data", "What the two quotes sign as report data", list(_report_data(sound))),
        sound.group("two-quotes", "Both quotes are of one machine that runs one app", list(_two_quotes(sound))),
    ]


def _form(sound: SoundEvidence) -> Iterator[Test]:
    usual = sound.bodies[CHECKSUMS].decode()
    account, certificate = usual.splitlines(keepends=True)
    for comment, text in {
        "the certificate first": certificate + account,
        "a mark for binary files": usual.replace("  ", " *"),
        "without the last line feed": usual[:-1],
        "digests in upper case": "".join(_upper(line) for line in (account, certificate)),
    }.items():
        yield accepted(comment, sound.but(checksums=text.encode()), "Variant")
    for comment, text in {
        "empty": "",
        "a line feed alone": "\n",
        "an empty line between": account + "\n" + certificate,
        "an empty line at the end": usual + "\n",
        "carriage returns": usual.replace("\n", "\r\n"),
        "a digest of 63 digits": usual[1:],
        "a digest of 65 digits": "0" + usual,
        "a digest that is no hex": "x" + usual[1:],
        "a digest of SHA-512": hashlib.sha512(b"").hexdigest() + "  a\n" + usual,
        "no blank between digest and name": usual.replace("  ", ""),
        "the name first": "".join(" ".join(reversed(line.split())) + "\n" for line in (account, certificate)),
        "no name": account.split()[0] + "\n" + certificate,
        "a comment": "# evidence\n" + usual,
        "a name that climbs out of the folder": usual.replace("cert-", "../cert-"),
        "a name with a path": usual.replace("cert-", "/evidences/cert-"),
        "BSD style": "".join(
            f"SHA256 ({name}) = {digest}\n" for digest, name in (line.split() for line in (account, certificate))
        ),
        "the certificate twice": usual + certificate,
        "the certificate twice with two digests": "00" * 32 + "  " + certificate.split()[1] + "\n" + usual,
    }.items():
        yield refused("checksums-malformed", comment, sound.but(checksums=text.encode()), "Malformed")
    yield refused("checksums-malformed", "no UTF-8", sound.but(checksums=b"\xff" + usual.encode()), "Malformed")


def _upper(line: str) -> str:
    digest, name = line.split()
    return f"{digest.upper()}  {name}\n"


def _checksums(sound: SoundEvidence) -> Iterator[Test]:
    bodies = sound.bodies
    certificate = certificate_file(sound.domain)
    account_line, certificate_line = bodies[CHECKSUMS].decode().splitlines(keepends=True)
    more = bodies[CHECKSUMS].decode() + hashlib.sha256(b"notes\n").hexdigest() + "  notes.txt\n"
    extra = sound.but(checksums=more.encode()) | {"evidences/notes.txt": "notes\n"}
    yield accepted("a file more, with its checksum", extra, "Variant")
    for comment, text in {
        "no line for the certificate": account_line,
        "no line for the ACME account": certificate_line,
        "a line for another domain's certificate": account_line + certificate_line.replace("cert-", "cert-www."),
    }.items():
        yield refused("checksum-uncovered", comment, sound.but(checksums=text.encode()), "Binding")
    for comment, text in {
        "the certificate's digest differs in a digit": account_line + _other_digit(certificate_line),
        "the account's digest differs in a digit": _other_digit(account_line) + certificate_line,
        "the two digests are exchanged": _exchanged(account_line, certificate_line),
        "the certificate's digest is that of its DER": account_line + _digest_of_der(sound, certificate),
    }.items():
        yield refused("checksum-differs", comment, sound.but(checksums=text.encode()), "Binding")
    wrong_extra = sound.but(checksums=more.encode()) | {"evidences/notes.txt": "other notes\n"}
    yield refused("checksum-differs", "a file more, with another content", wrong_extra, "Binding")
    renewed = sound.issuer.issue(sound.domain, int(NOW.timestamp()), 1).chain
    changed = sound.with_body(certificate, renewed)
    yield refused("checksum-differs", "the certificate was renewed, its checksum was not", changed, "Binding")
    changed = sound.with_body(ACME_ACCOUNT, bodies[ACME_ACCOUNT] + b"\n")
    yield refused("checksum-differs", "a line feed more behind acme-account.json", changed, "Binding")
    changed = sound.with_body(certificate, bodies[certificate].replace(b"\n", b"\r\n"))
    yield refused("checksum-differs", "the certificate with carriage returns", changed, "Binding")
    for comment, name, code in (
        ("sha256sum.txt is missing", CHECKSUMS, "checksums-missing"),
        ("the certificate is missing", certificate, "certificate-missing"),
        ("acme-account.json is missing", ACME_ACCOUNT, "acme-account-missing"),
        ("quote.json is missing", EVIDENCE_QUOTE, "evidence-missing"),
    ):
        yield refused(code, comment, sound.with_body(name, None), "Missing")


def _other_digit(line: str) -> str:
    return ("0" if line[0] != "0" else "1") + line[1:]


def _exchanged(one: str, two: str) -> str:
    first, second = one.split(), two.split()
    return f"{second[0]}  {first[1]}\n{first[0]}  {second[1]}\n"


def _digest_of_der(sound: SoundEvidence, name: str) -> str:
    pem = sound.chain.split(b"-----END")[0].split(b"\n", 1)[1]
    return sums({name: base64.b64decode(pem)}).decode()


def _listing(sound: SoundEvidence) -> Iterator[Test]:
    name = certificate_file(sound.domain).rpartition("/")[2]
    for comment, text in {
        "links in full": listing([f"https://{sound.domain}/evidences/{name}"]),
        "links from the root": listing([f"/evidences/{name}"]),
        "a listing as web servers make it": (
            f'<html><body><pre><a href="../">../</a>\n<a href="{name}">{name}</a></pre></body></html>'
        ),
        "letters as numbers": listing([name.replace("c", "&#99;")]),
        "an unclosed page": f"<html><a href='{name}'>",
    }.items():
        yield accepted(comment, sound.with_body(LISTING, text), "Variant")
    for comment, text in {
        "no link": "<html><body>" + name + "</body></html>",
        "a link in a comment": f"<html><!-- <a href='{name}'> --></html>",
        "a link to another domain's certificate": listing([name.replace("cert-", "cert-www.")]),
        "a link to a key": listing([name.replace("cert-", "key-")]),
        "a link in another attribute": f"<a title='{name}'>{name}</a>",
        "a link to a certificate of no domain": listing([name.replace("cert-", "cert-.")]),
        "a link with another ending": listing([name.replace(".pem", ".pem.txt")]),
        "empty": "",
    }.items():
        yield refused("listing-no-certificate", comment, sound.with_body(LISTING, text), "Missing")
    yield refused("listing-missing", "no listing", sound.with_body(LISTING, None), "Missing")
    broken = sound.with_body(LISTING, b"\xff\xfe" + listing([name]).encode())
    yield refused("listing-malformed", "no UTF-8", broken, "Malformed")


def _report_data(sound: SoundEvidence) -> Iterator[Test]:
    digest = hashlib.sha256(sound.bodies[CHECKSUMS]).digest()
    yield accepted("zero in /attestation, the checksums' hash in quote.json", sound.files)
    for comment, data in {
        "the first byte is not zero": b"\x01" + bytes(63),
        "the last byte is not zero": bytes(63) + b"\x01",
        "it is the checksums' hash": digest + bytes(32),
        "all ones": b"\xff" * 64,
    }.items():
        changed = sound.but(report_data=data)
        yield refused("report-data-not-zero", f"the /attestation quote's report data: {comment}", changed, "Binding")
    shown = digest.hex() + "00" * 32
    for comment, data in {
        "zero": bytes(64),
        "the hash a byte further on": b"\x00" + digest + bytes(31),
        "the hash in the upper half": bytes(32) + digest,
        "the hash backwards": digest[::-1] + bytes(32),
        "SHA-512 of the file": hashlib.sha512(sound.bodies[CHECKSUMS]).digest(),
        "SHA-384 of the file": hashlib.sha384(sound.bodies[CHECKSUMS]).digest() + bytes(16),
        "the hash of the file without its last line feed": _with_zeros(sound.bodies[CHECKSUMS][:-1]),
        "the hash of the file with a line feed more": _with_zeros(sound.bodies[CHECKSUMS] + b"\n"),
        "the hash of the certificate": _with_zeros(sound.chain),
        "the hash of the hash": hashlib.sha256(digest).digest() + bytes(32),
        "half of the hash": digest[:16] + bytes(48),
        "the hash but for one bit": bytes([digest[0] ^ 1, *digest[1:]]) + bytes(32),
        "the hex text of the hash": digest.hex().encode(),
    }.items():
        other = replace(sound, evidence_report_data=data)
        told = f"the evidence quote signs {comment}"
        yield refused("evidence-not-bound", told, other.files, "Binding")
        stated = other.with_members(EVIDENCE_QUOTE, report_data=shown)
        told = f"{told}, quote.json states what it should"
        yield refused("evidence-report-data-differs", told, stated, "Binding")
    for comment, stated_text in {"zero": "00" * 64, "the hash but for a digit": _digit_changed(shown)}.items():
        changed = sound.with_members(EVIDENCE_QUOTE, report_data=stated_text)
        yield refused(
            "checksums-not-bound", f"quote.json states {comment}, its quote signs the hash", changed, "Binding"
        )
    half = sound.with_members(EVIDENCE_QUOTE, report_data=digest.hex())
    yield accepted("quote.json states the 32 bytes that count", half, "Variant")
    other_upper = sound.but(evidence_report_data=digest + hashlib.sha256(b"nonce").digest())
    yield accepted("the upper half of the evidence quote's report data is in use", other_upper, "Variant")
    upper_differs = sound.with_members(EVIDENCE_QUOTE, report_data=digest.hex() + "11" * 32)
    comment = "quote.json states another upper half than its quote signs"
    yield refused("evidence-report-data-differs", comment, upper_differs, "Binding")
    changed = sound.with_body(CHECKSUMS, sound.bodies[CHECKSUMS] + b"\n")
    yield refused("checksums-not-bound", "a line feed was added to sha256sum.txt", changed, "Binding")


def _disguised(sound: SoundEvidence, other: SoundEvidence) -> Files:
    """The evidence quote of another app, with a log that replays and names this one's identity alone."""
    own = [event for event in runtime_events(sound.who) if event.name in IDENTITY]
    system = runtime_events(other.who)
    files = sound.but(evidence_of=replace(other, runtime=[*system, *own]))
    hidden = [{**event.as_json(), "event_type": 4, "digest": event.digest.hex()} for event in system]
    log = [*(event.as_json() for event in sound.boot), *hidden, *(event.as_json() for event in own)]
    document = json.loads(str(files[EVIDENCE_QUOTE])) | {"event_log": json.dumps(log)}
    return files | {EVIDENCE_QUOTE: json.dumps(document)}


def _with_zeros(body: bytes) -> bytes:
    return hashlib.sha256(body).digest() + bytes(32)


def _digit_changed(text: str) -> str:
    return text[:10] + ("0" if text[10] != "0" else "1") + text[11:]


def _two_quotes(sound: SoundEvidence) -> Iterator[Test]:
    seed = sound.seed
    yield accepted("an evidence quote without a log of its own", sound.but(evidence_log=False), "Variant")
    later = replace(sound, runtime=[*runtime_events(sound.who), runtime_event("deployed", b"1")])
    older = replace(later, evidence_of=sound, evidence_log=False).files
    yield accepted("an evidence quote from before the application measured an event", older, "Variant")
    yield accepted("both quotes of version 5", sound.but(version=5), "Variant")
    mixed = sound.but(evidence_of=replace(sound, version=5))
    yield accepted("an evidence quote of version 5 beside one of version 4", mixed, "Variant")
    other_app = replace(sound, who=identity(seed, COMPOSE, "other app"))
    other_file = replace(sound, who=identity(seed, COMPOSE.replace("1.0", "2.0")))
    for comment, machine in {"another app": other_app, "another compose file": other_file}.items():
        told = sound.but(evidence_of=machine)
        yield refused("app-differs", f"the evidence quote is of {comment}", told, "OtherMachine")
        silent = sound.but(evidence_of=machine, evidence_log=False)
        told_less = f"the evidence quote is of {comment}, and has no log"
        yield refused("app-unproven", told_less, silent, "OtherMachine")
    yield refused(
        "app-unproven",
        "the evidence quote is of another app, whose log calls all that the system measured boot events, and has the "
        "app measure this one's identity",
        _disguised(sound, other_app),
        "OtherMachine",
    )
    mr_td = replace(sound, report=replace(TdReport(), mr_td=hashlib.sha384(b"other firmware").digest()))
    yield refused(
        "machine-differs", "the evidence quote is of other firmware", sound.but(evidence_of=mr_td), "OtherMachine"
    )
    boot = replace(sound, boot=sound.boot[:-1])
    yield refused(
        "machine-differs", "the evidence quote is of another boot", sound.but(evidence_of=boot), "OtherMachine"
    )
    owner = replace(sound, report=replace(TdReport(), mr_owner=b"\x01" + bytes(47)))
    yield refused(
        "machine-differs", "the evidence quote is of another owner", sound.but(evidence_of=owner), "OtherMachine"
    )
    debug = replace(sound, report=replace(TdReport(), td_attributes=TD_DEBUG))
    yield refused("td-debug", "the evidence quote is of a debug TD", sound.but(evidence_of=debug), "Debug")
    yield refused("td-debug", "both quotes are of a debug TD", debug.files, "Debug")
    stranger = SoundEvidence(seed + b" stranger", identity(seed + b" stranger"))
    foreign = sound.but(evidence_of=stranger)
    yield refused("root-simulated", "the evidence quote is of a machine of another maker", foreign, "OtherMachine")
    whole = stranger.files
    comment = "everything is of another machine, under the root of this one"
    yield refused("root-simulated", comment, whole, "WrongRoot")
