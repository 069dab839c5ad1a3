"""Vectors of the quote's layout: versions, lengths, types, trailing bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace

from cryptography.hazmat.primitives.serialization import Encoding

from conformance.selftest.attestation.forms import Group, Test, accepted, refused
from conformance.selftest.attestation.sound_quote import SoundQuote, spliced_bytes
from reference_node.tee.pki import pem
from reference_node.tee.quotes import TdReport15

HEADER = 48
BODY_4 = 584
SIGNATURE_SIZE = HEADER + BODY_4
SIGNATURE = SIGNATURE_SIZE + 4
KEY = SIGNATURE + 64
OUTER = KEY + 64
QE_REPORT = OUTER + 6
QE_SIGNATURE = QE_REPORT + 384
AUTHENTICATION_SIZE = QE_SIGNATURE + 64
AUTHENTICATION = AUTHENTICATION_SIZE + 2
INNER = AUTHENTICATION + 32
CHAIN = INNER + 6
"""Offsets in a version 4 quote with 32 bytes of authentication data."""

ENDS = {
    "inside the header": 20,
    "after the header": HEADER,
    "inside the TD report": HEADER + 300,
    "before the size of the signature data": SIGNATURE_SIZE,
    "inside the signature": SIGNATURE + 32,
    "before the attestation key": KEY,
    "before the certification data": OUTER,
    "inside the QE report": QE_REPORT + 100,
    "before the QE report's signature": QE_SIGNATURE,
    "inside the authentication data": AUTHENTICATION + 5,
    "before the PCK chain": CHAIN,
    "inside the PCK chain": CHAIN + 900,
}


def groups(seed: bytes) -> list[Group]:
    """The groups of the layout."""
    sound = SoundQuote(seed)
    five = replace(sound, version=5)
    return [
        sound.group("layout-4", "Version 4 quotes: every length fits, nothing is left over", list(_version_4(sound))),
        five.group("layout-5", "Version 5 quotes: the body says its own type and size", list(_version_5(five))),
        sound.group("chain-form", "The certification data: a PCK chain in PEM, leaf first", list(_chain(sound))),
    ]


def _version_4(sound: SoundQuote) -> Iterator[Test]:
    raw = sound.raw
    end = len(raw) - len(sound.quote.trailing)
    yield accepted("version 4, padded with zeros as real quotes are", sound.files())
    yield accepted("no padding", sound.with_form(trailing=b""))
    yield accepted("one byte of padding", sound.with_form(trailing=bytes(1)))
    yield refused("quote-layout", "no bytes at all", sound.files(b""), "Truncated")
    for where, place in ENDS.items():
        yield refused("quote-layout", f"ends {where}", sound.files(raw[:place]), "Truncated")
    yield refused("quote-layout", "lacks the last byte of the chain", sound.files(raw[: end - 1]), "Truncated")
    for comment, trailing in {
        "a byte other than zero behind the quote": b"\x01",
        "a byte other than zero behind the padding": bytes(70) + b"\x80",
        "a second quote behind the quote": raw,
    }.items():
        yield refused("quote-layout", comment, sound.with_form(trailing=trailing), "TrailingBytes")
    for comment, changes in {
        "a byte behind the certification data, counted in the signature data": {"signature_trailing": b"\x00"},
        "a byte behind the PCK chain, counted in the certification data": {"inner_trailing": b"\x00"},
        "text behind the PCK chain, counted in the certification data": {"inner_trailing": b"more"},
    }.items():
        yield refused("quote-layout", comment, sound.with_form(**changes), "TrailingBytes")
    yield from _sizes(sound)
    yield from _types(sound)


def _sizes(sound: SoundQuote) -> Iterator[Test]:
    raw = sound.raw
    sizes = {
        "the signature data": (SIGNATURE_SIZE, "<I"),
        "the certification data": (OUTER + 2, "<I"),
        "the authentication data": (AUTHENTICATION_SIZE, "<H"),
        "the PCK chain": (INNER + 2, "<I"),
    }
    for what, (place, form) in sizes.items():
        (size,) = struct.unpack_from(form, raw, place)
        largest = (1 << 8 * struct.calcsize(form)) - 1
        for how, stated in {"one less": size - 1, "one more": size + 1, "zero": 0, "the largest": largest}.items():
            changed = spliced_bytes(raw, place, struct.pack(form, stated))
            yield refused("quote-layout", f"size of {what}: {how}", sound.files(changed), "WrongSize")


def _types(sound: SoundQuote) -> Iterator[Test]:
    for version in (0, 3, 6, 0x0400):
        yield refused("tee-unsupported", f"version {version}", sound.with_form(version=version), "WrongType")
    yield refused("tee-unsupported", "TEE type of SGX", sound.with_form(tee_type=0), "WrongType")
    yield refused("tee-unsupported", "TEE type that does not exist", sound.with_form(tee_type=0x82), "WrongType")
    for key_type in (0, 1, 3):
        comment = f"attestation key type {key_type}, where ECDSA over P-256 is 2"
        yield refused("quote-version", comment, sound.with_form(attestation_key_type=key_type), "WrongType")
    yield refused("quote-vendor", "a vendor other than Intel", sound.with_form(qe_vendor=bytes(16)), "WrongType")
    for kind in (1, 4, 5, 7):
        comment = f"outer certification data of type {kind}, where a QE report is 6"
        yield refused("certification-type", comment, sound.with_form(outer_type=kind), "WrongType")
    for kind in (1, 2, 3, 4, 6):
        comment = f"inner certification data of type {kind}, where a PCK chain is 5"
        yield refused("certification-type", comment, sound.with_form(certification_type=kind), "WrongType")


def _version_5(sound: SoundQuote) -> Iterator[Test]:
    newer = replace(sound, report=TdReport15())
    yield accepted("version 5 over a TDX 1.0 report", sound.files())
    yield accepted("version 5 over a TDX 1.5 report", newer.files())
    for kind in (0, 6, 0x0200):
        comment = f"body type {kind}, which does not exist"
        yield refused("tee-unsupported", comment, sound.with_form(body_type=kind), "WrongType")
    yield refused("quote-layout", "a 1.0 report under the type of 1.5", sound.with_form(body_type=3), "WrongType")
    yield refused("quote-layout", "a 1.5 report under the type of 1.0", newer.with_form(body_type=2), "WrongType")
    for how, size in {"one less": 583, "one more": 585, "zero": 0, "the largest": 0xFFFFFFFF}.items():
        yield refused("quote-layout", f"body size: {how}", sound.with_form(body_size=size), "WrongSize")
    yield refused("quote-layout", "the header says version 4", sound.with_form(version=4), "WrongType")
    four = replace(sound, version=4)
    yield refused(
        "tee-unsupported", "laid out as version 4 under a header of 5", four.with_form(version=5), "WrongType"
    )
    cut = sound.raw[: HEADER + 3]
    yield refused("quote-layout", "ends inside the body's type and size", sound.files(cut), "Truncated")
    trailing = sound.with_form(trailing=bytes(70) + b"\x01")
    yield refused("quote-layout", "a byte other than zero behind the padding", trailing, "TrailingBytes")


def _chain(sound: SoundQuote) -> Iterator[Test]:
    machine = sound.machine
    leaf, ca, root = pem(machine.pck), pem(machine.pck_ca), pem(machine.root)
    usual = leaf + ca + root
    yield accepted("no zero byte at the end", sound.with_form(chain=usual.encode()))
    for comment, text in {
        "without the root": leaf + ca,
        "the leaf alone": leaf,
        "root first": root + ca + leaf,
        "CA and root exchanged": leaf + root + ca,
        "the leaf twice": leaf + usual,
        "the TCB signer behind the root": usual + pem(machine.tcb_signer),
        "the CA twice": leaf + ca + ca + root,
        "text in front": "PCK chain\n" + usual,
        "text behind the root": usual + "end\n",
        "text between the certificates": leaf + "issued by\n" + ca + root,
        "blanks at the ends of lines": usual.replace("\n", " \n"),
        "an empty line inside the base64": usual.replace("\n-----END", "\n\n-----END", 1),
        "a line without its end": usual.replace("-----END CERTIFICATE-----\n", "", 1),
        "labelled as X509 CERTIFICATE": usual.replace("CERTIFICATE", "X509 CERTIFICATE"),
        "a key behind the chain": usual + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    }.items():
        yield refused("pck-chain", comment, sound.with_form(chain=text.encode() + b"\x00"), "StrictPem")
    yield refused("pck-chain", "no chain", sound.with_form(chain=b""), "StrictPem")
    two = usual.encode() + bytes(2)
    yield refused("pck-chain", "two zero bytes at the end", sound.with_form(chain=two), "StrictPem")
    split = leaf.encode() + b"\x00" + (ca + root).encode() + b"\x00"
    yield refused("pck-chain", "a zero byte behind the leaf", sound.with_form(chain=split), "StrictPem")
    der = machine.pck.public_bytes(Encoding.DER)
    yield refused("pck-chain", "the leaf in DER", sound.with_form(chain=der), "StrictPem")
