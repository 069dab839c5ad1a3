"""Vectors of the certificate (rule 4): what is served over TLS, and the PEM among the evidence."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from conformance.selftest.attestation.forms import Group, Test, accepted, refused
from conformance.selftest.attestation.sound_evidence import SoundEvidence, identity, textual
from conformance.selftest.attestation.sound_quote import NOW
from conformance.verify.evidence import API_CERTIFICATE

AT = int(NOW.timestamp())
DAY = 24 * 3600
SUBJECT_KEY_IDENTIFIER, KEY_USAGE = bytes.fromhex("0603551d0e"), bytes.fromhex("0603551d0f")
"""Object identifiers of extensions, in DER (RFC 5280)."""


def groups(seed: bytes) -> list[Group]:
    """The groups of the certificate."""
    sound = SoundEvidence(seed, identity(seed))
    return [
        sound.group("certificate", "The certificate served over TLS is that of the evidence", list(_served(sound))),
        sound.group("certificate-form", "The certificate file is PEM, leaf first", list(_pem(sound))),
        sound.group("api-connection", "The API is served under the certificate of the evidence", list(_api(sound))),
    ]


def _leaf(chain: bytes) -> bytes:
    return x509.load_pem_x509_certificate(chain).public_bytes(Encoding.DER)


def _served(sound: SoundEvidence) -> Iterator[Test]:
    renewed = sound.issuer.issue(sound.domain, AT, 1).chain
    other = sound.issuer.issue("www." + sound.domain, AT, 0).chain
    foreign = replace(sound, seed=sound.seed + b" stranger").chain
    intermediate = sound.chain[sound.chain.index(b"-----BEGIN", 10) :]
    for comment, tls in {
        "was renewed since": _leaf(renewed),
        "is another domain's": _leaf(other),
        "is of another issuer for the same domain": _leaf(foreign),
        "is the issuer's own": _leaf(intermediate),
        "differs in one bit": bytes([*_leaf(sound.chain)[:-1], _leaf(sound.chain)[-1] ^ 1]),
        "has a byte too many": _leaf(sound.chain) + b"\x00",
    }.items():
        yield refused("tls-certificate-differs", f"the certificate over TLS {comment}", sound.but(tls=tls), "Binding")
    yield refused(
        "tls-certificate-differs",
        "the evidence has the issuer's certificate first",
        sound.but(certificate=intermediate + sound.chain),
        "Binding",
    )
    yield refused(
        "tls-certificate-differs",
        "the evidence is of the renewed certificate, the connection is not",
        sound.but(certificate=renewed),
        "Binding",
    )
    expired = sound.issuer.issue(sound.domain, AT - 91 * DAY, 0).chain
    comment = "an expired certificate: the rule compares it, and does not judge it"
    yield accepted(comment, sound.but(certificate=expired, tls=_leaf(expired)), "Variant")


def _api(sound: SoundEvidence) -> Iterator[Test]:
    leaf = _leaf(sound.chain)
    yield accepted("the connection of the API has the certificate", sound.files | {API_CERTIFICATE: leaf})
    for comment, der in {
        "was renewed since": _leaf(sound.issuer.issue(sound.domain, AT, 1).chain),
        "is another domain's": _leaf(sound.issuer.issue("www." + sound.domain, AT, 0).chain),
        "is of another issuer for the same domain": _leaf(replace(sound, seed=sound.seed + b" stranger").chain),
        "differs in one bit": bytes([*leaf[:-1], leaf[-1] ^ 1]),
        "has a byte too many": leaf + b"\x00",
        "is empty": b"",
    }.items():
        told = f"the certificate over which /core/v1 was served {comment}"
        yield refused("api-certificate-differs", told, sound.files | {API_CERTIFICATE: textual(der)}, "Binding")


def _pem(sound: SoundEvidence) -> Iterator[Test]:
    chain = sound.chain
    leaf = chain[: chain.index(b"-----BEGIN", 10)]
    for comment, body in {
        "the leaf alone": leaf,
        "carriage returns": chain.replace(b"\n", b"\r\n"),
        "no line feed at the end": chain[:-1],
        "an empty line between the certificates": leaf + b"\n" + chain[len(leaf) :],
    }.items():
        yield accepted(comment, sound.but(certificate=body), "Variant")
    label = b"-----BEGIN CERTIFICATE-----"
    for comment, body in {
        "empty": b"",
        "DER": _leaf(chain),
        "text in front": b"subject=CN = service.example\n" + chain,
        "text behind": chain + b"end\n",
        "text between": leaf + b"issuer\n" + chain[len(leaf) :],
        "a private key behind": chain + b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "labelled as TRUSTED CERTIFICATE": chain.replace(b"CERTIFICATE", b"TRUSTED CERTIFICATE"),
        "labelled as X509 CERTIFICATE": chain.replace(b"CERTIFICATE", b"X509 CERTIFICATE"),
        "no end": chain[: chain.index(b"-----END")],
        "a letter that is not base64": chain.replace(b"MII", b"M*I", 1),
        "the wrong padding": leaf.replace(b"\n-----END", b"=\n-----END"),
        "an empty line inside the base64": leaf.replace(b"\n-----END", b"\n\n-----END"),
        "an empty line in front of the base64": leaf.replace(b"-----\nM", b"-----\n\nM"),
        "blanks in front of lines": leaf.replace(b"\n", b"\n "),
        "a header as in RFC 1421": chain.replace(label, label + b"\nProc-Type: 4,ENCRYPTED\n", 1),
        "a byte behind the DER": _as_pem(_leaf(chain) + b"\x00"),
        "an extension twice": _as_pem(_leaf(chain).replace(SUBJECT_KEY_IDENTIFIER, KEY_USAGE)),
        "DER without its last byte": _as_pem(_leaf(chain)[:-1]),
        "PEM of a list of revocations": b"-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n",
    }.items():
        yield refused("certificate-malformed", comment, sound.but(certificate=body), "StrictPem")


def _as_pem(der: bytes) -> bytes:
    text = base64.encodebytes(der).decode().replace("\n", "")
    lines = "\n".join(text[start : start + 64] for start in range(0, len(text), 64))
    return f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n".encode()
