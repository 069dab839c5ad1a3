"""Vectors of what is signed in a quote: by the attestation key, the quoting enclave and the PCK certificate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from conformance.selftest.attestation.forms import Group, Test, accepted, refused
from conformance.selftest.attestation.layouts import (
    AUTHENTICATION,
    CHAIN,
    HEADER,
    KEY,
    QE_REPORT,
    QE_SIGNATURE,
    SIGNATURE,
)
from conformance.selftest.attestation.sound_quote import SoundQuote, bit_flipped, spliced_bytes
from reference_node.tee.pki import P256_ORDER
from reference_node.tee.quotes import QeReport

SIGNED = {
    "the reserved bytes of the header": 8,
    "the header's user data": 30,
    "TEE_TCB_SVN": HEADER,
    "MRSEAM": HEADER + 16,
    "MRSIGNERSEAM": HEADER + 64,
    "SEAMATTRIBUTES": HEADER + 112,
    "TDATTRIBUTES": HEADER + 127,
    "XFAM": HEADER + 128,
    "MRTD": HEADER + 136,
    "MRCONFIGID": HEADER + 184,
    "MROWNER": HEADER + 232,
    "MROWNERCONFIG": HEADER + 280,
    "RTMR0": HEADER + 328,
    "RTMR1": HEADER + 376,
    "RTMR2": HEADER + 424,
    "RTMR3": HEADER + 472,
    "the first byte of the report data": HEADER + 520,
    "the last byte of the report data": HEADER + 583,
}
"""Offsets of what the attestation key signs."""

RESERVED = (28, 32, 96, 60)
"""Sizes of the reserved fields of an SGX report."""


def groups(seed: bytes) -> list[Group]:
    """The groups of signatures."""
    sound = SoundQuote(seed)
    return [
        sound.group("signed-bytes", "One bit of what a quote signs is changed", list(_flips(sound))),
        sound.group("quote-signature", "The attestation key's signature over header and report", list(_quote(sound))),
        sound.group(
            "qe-report", "The quoting enclave's report, which vouches for the attestation key", list(_qe(sound))
        ),
    ]


def _flips(sound: SoundQuote) -> Iterator[Test]:
    for what, place in SIGNED.items():
        code = "tdx-module" if what in {"MRSIGNERSEAM", "SEAMATTRIBUTES"} else "signature"
        yield refused(code, f"a bit of {what}", sound.files(bit_flipped(sound.raw, place, 7)), "SignedBytes")
    for what, place in {
        "the QE report's CPUSVN": QE_REPORT,
        "the QE report's MRENCLAVE": QE_REPORT + 64,
        "the QE report's security version": QE_REPORT + 258,
        "the QE report's signature": QE_SIGNATURE,
        "the quoting enclave's authentication data": AUTHENTICATION,
        "the attestation key": KEY,
        "the signature's r": SIGNATURE,
        "the signature's s": SIGNATURE + 63,
    }.items():
        yield refused("signature", f"a bit of {what}", sound.files(bit_flipped(sound.raw, place)), "SignedBytes")
    inside = sound.raw.index(b"\n-----END", CHAIN) - 12
    flipped = spliced_bytes(sound.raw, inside, b"A" if sound.raw[inside : inside + 1] != b"A" else b"B")
    yield refused("signature", "a letter of the PCK certificate's signature", sound.files(flipped), "SignedBytes")


def _quote(sound: SoundQuote) -> Iterator[Test]:
    raw = sound.raw
    r, s = raw[SIGNATURE : SIGNATURE + 32], raw[SIGNATURE + 32 : SIGNATURE + 64]
    order = P256_ORDER.to_bytes(32)
    other_s = (P256_ORDER - int.from_bytes(s)).to_bytes(32)
    both = sound.files(spliced_bytes(raw, SIGNATURE, r + other_s))
    yield accepted("the other s of the same signature: ECDSA over P-256 has two, and DCAP asks for neither", both)
    for comment, signature in {
        "r and s are zero": bytes(64),
        "r is zero": bytes(32) + s,
        "s is zero": r + bytes(32),
        "r is the order of the curve": order + s,
        "s is the order of the curve": r + order,
        "r and s are exchanged": s + r,
        "r and s are little-endian": r[::-1] + s[::-1],
        "all ones": b"\xff" * 64,
    }.items():
        yield refused("signature", comment, sound.files(spliced_bytes(raw, SIGNATURE, signature)), "WrongSigner")
    for comment, label in {
        "signed by the PCK": "pck",
        "signed by the root": "root",
        "signed by the key of another machine": "stranger",
    }.items():
        yield refused("signature", comment, sound.with_form(quote_signing_key=label), "WrongSigner")
    for comment, key in {
        "the attestation key is not on the curve": bytes(63) + b"\x01",
        "the attestation key is zero": bytes(64),
        "the attestation key has coordinates beyond the field": b"\xff" * 64,
    }.items():
        yield refused("signature", comment, sound.with_form(public_key=key), "WrongSigner")
    other = replace(sound.quote, attestation_key="stranger", qe_report=_report_of(sound))
    forged = replace(sound, quote=other).files()
    yield refused("signature", "signed by a key that the QE report does not vouch for", forged, "WrongSigner")


def _report_of(sound: SoundQuote) -> QeReport:
    """The QE report as the genuine enclave made it, for its own attestation key."""
    bound = sound.machine.public_point(sound.quote.attestation_key) + sound.quote.qe_authentication
    return QeReport(report_data=hashlib.sha256(bound).digest() + bytes(32))


def _qe(sound: SoundQuote) -> Iterator[Test]:
    machine = sound.machine
    key = machine.public_point(sound.quote.attestation_key)
    genuine = hashlib.sha256(key + sound.quote.qe_authentication).digest()
    for comment, label in {
        "signed by the attestation key": sound.quote.attestation_key,
        "signed by the PCK CA": "pck_ca",
        "signed by the TCB signer": "tcb_signer",
        "signed by another machine's key": "stranger",
    }.items():
        yield refused("signature", f"the QE report is {comment}", sound.with_form(qe_signing_key=label), "WrongSigner")
    for comment, lower in {
        "the hash of the attestation key alone": hashlib.sha256(key).digest(),
        "the hash in the other order": hashlib.sha256(sound.quote.qe_authentication + key).digest(),
        "zero": bytes(32),
    }.items():
        changed = sound.with_qe_report(report_data=lower + bytes(32))
        yield refused("signature", f"the lower half of the QE report's data is {comment}", changed, "WrongSigner")
    for comment, upper in {"is not zero": bytes(31) + b"\x01", "repeats the hash": genuine}.items():
        changed = sound.with_qe_report(report_data=genuine + upper)
        yield refused("qe-report", f"the upper half of the QE report's data {comment}", changed, "Reserved")
    for number, size in enumerate(RESERVED):
        reserved = tuple(bytes(other) if other != size else bytes(4) + b"\x01" + bytes(size - 5) for other in RESERVED)
        changed = sound.with_qe_report(reserved=reserved)
        yield refused("qe-report", f"reserved field {number + 1} of the QE report is not zero", changed, "Reserved")
    for size in (0, 31, 33, 64):
        changed = sound.with_form(qe_authentication=bytes(range(size)))
        yield refused(
            "qe-report", f"{size} bytes of authentication data, where the enclave has 32", changed, "WrongSize"
        )
