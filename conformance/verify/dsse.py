"""Signed envelopes: DSSE with keys in PEM, Ed25519 or ECDSA over P-256 (https://github.com/secure-systems-lab/dsse).

A reader takes one form only: members once each, standard base64 with padding, and no signature that is not checked.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer._crypto_signer import CryptoSigner
from securesystemslib.signer._key import SSlibKey
from securesystemslib.signer._signature import Signature

from conformance.verify.strict import base64_bytes, json_object, text_member

MOST_BYTES = 1 << 20
"""No envelope is longer."""
MOST_SIGNATURES = 8
KINDS = "Ed25519 or ECDSA over P-256"
BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
"""Media type of a Sigstore bundle, in which an envelope may stand (https://docs.sigstore.dev/about/bundle)."""


@dataclass(frozen=True)
class Signed:
    """An envelope as it was read; nothing of it is checked."""

    payload: bytes
    payload_type: str
    signatures: tuple[tuple[str | None, bytes], ...]
    """The id of the key, which nobody signed, and the signature."""
    bundle: bytes | None = None
    """The Sigstore bundle in which the envelope stands."""


def read_envelope(body: bytes) -> Signed:
    """Read an envelope, or the one in a Sigstore bundle. ValueError: it is none in the form that is taken."""
    if len(body) > MOST_BYTES:
        raise ValueError(f"{len(body)} bytes, where an envelope has {MOST_BYTES} at most")
    members = json_object(body)
    if "mediaType" not in members:
        return _envelope(members)
    if (kind := text_member(members, "mediaType")) != BUNDLE:
        raise ValueError(f"mediaType is {kind[:100]!r}, not {BUNDLE}")
    inner = members.get("dsseEnvelope")
    if not isinstance(inner, dict):
        raise ValueError("dsseEnvelope is absent or no object: the bundle signs something else than a statement")  # noqa: TRY004 - a fault of the text, not of a caller
    return replace(_envelope(inner), bundle=body)


def _envelope(members: dict[str, object]) -> Signed:
    if members.keys() != {"payload", "payloadType", "signatures"}:
        raise ValueError("the members are not payload, payloadType and signatures")
    signatures = members["signatures"]
    if not isinstance(signatures, list) or not 1 <= len(signatures) <= MOST_SIGNATURES:
        raise ValueError(f"signatures is no list of 1 to {MOST_SIGNATURES}")
    return Signed(
        payload=_base64_member(members, "payload"),
        payload_type=text_member(members, "payloadType"),
        signatures=tuple(map(_signature, signatures)),
    )


def _signature(value: object) -> tuple[str | None, bytes]:
    if not isinstance(value, dict) or not {"sig"} <= value.keys() <= {"sig", "keyid"}:
        raise ValueError("a signature has other members than sig and keyid")
    return (text_member(value, "keyid") or None if "keyid" in value else None), _base64_member(value, "sig")


def _base64_member(members: dict[str, object], name: str) -> bytes:
    try:
        return base64_bytes(text_member(members, name))
    except ValueError as problem:
        raise ValueError(f"{name}: no standard base64 with padding: {problem}") from problem


def read_public_key(pem: bytes) -> SSlibKey:
    """A signer's public key; its id is the SHA-256 of its DER. ValueError: it is none that is taken."""
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as problem:
        raise ValueError(f"no public key in PEM: {problem}") from problem
    return _checked(key)


def _checked(key: object) -> SSlibKey:
    """ValueError: another kind of key, whose signatures could be taken for something else."""
    if not isinstance(key, Ed25519PublicKey) and not (
        isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1)
    ):
        raise ValueError(f"a key of another kind than {KINDS}")  # noqa: TRY004 - a fault of the file, not of a caller
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return SSlibKey.from_crypto(key, keyid=sha256(der).hexdigest())


def read_private_key(pem: bytes) -> CryptoSigner:
    """A private key to sign with. ValueError: it is none that is taken, or encrypted."""
    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as problem:
        raise ValueError(f"no private key in PEM without a password: {problem}") from problem
    if not isinstance(key, Ed25519PrivateKey | EllipticCurvePrivateKey):
        raise ValueError(f"a key of another kind than {KINDS}")  # noqa: TRY004 - a fault of the file, not of a caller
    return CryptoSigner(key, _checked(key.public_key()))


def sign(payload: bytes, payload_type: str, signers: Sequence[CryptoSigner]) -> bytes:
    """The envelope of a payload, as indented JSON."""
    envelope = Envelope(payload, payload_type, {})
    for signer in signers:
        envelope.sign(signer)
    return (json.dumps(envelope.to_dict(), indent=2) + "\n").encode()


def signing_keys(signed: Signed, accepted: Sequence[SSlibKey]) -> tuple[SSlibKey, ...]:
    """The key of each signature. ValueError: a signature is of none of the accepted keys, or a second one of a key."""
    to_sign = Envelope(signed.payload, signed.payload_type, {}).pae()
    found: list[SSlibKey] = []
    for number, (named, signature) in enumerate(signed.signatures, start=1):
        key = next((key for key in accepted if named in {None, key.keyid} and _verifies(key, signature, to_sign)), None)
        if key is None:
            of = f", which names the key {named[:16]!r}," if named else ""
            raise ValueError(f"signature {number} of {len(signed.signatures)}{of} verifies under no accepted key")
        if key in found:
            raise ValueError(f"signature {number} of {len(signed.signatures)} is another one of the same key")
        found.append(key)
    return tuple(found)


def _verifies(key: SSlibKey, signature: bytes, message: bytes) -> bool:
    try:
        key.verify_signature(Signature(key.keyid, signature.hex()), message)
    except UnverifiedSignatureError:
        return False
    return True
