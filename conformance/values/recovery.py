"""Who signed: the addresses behind signatures and private keys, and what EIP-191 signs of a text.

Specification, "What the service does" 2: an action can use a permitted wallet's key material.
"""

from __future__ import annotations

from eth_keys.datatypes import PrivateKey, Signature
from eth_keys.exceptions import BadSignature
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError

from conformance.values.typed_data import CURVE_ORDER

SIGNATURE_BYTES = 65
DIGEST_BYTES = KEY_BYTES = 32


class UnrecoverableError(ValueError):
    """A text that is no signature, no digest or no private key, or a signature that nobody can have made."""


def message_digest(text: str) -> bytes:
    """What EIP-191 (personal message) signs of a text."""
    raw = text.encode()
    return keccak(b"\x19Ethereum Signed Message:\n" + str(len(raw)).encode() + raw)


def signer(digest: bytes, signature: str) -> str:
    """The address, in EIP-55 form, whose key signed 32 bytes.

    The signature is hex of 65 bytes (r, s, v), with or without `0x`; v is 27 or 28, or 0 or 1. UnrecoverableError for
    anything else.
    """
    raw = from_hex(signature, SIGNATURE_BYTES, "a signature of 65 bytes in hex")
    if len(digest) != DIGEST_BYTES:
        raise UnrecoverableError(f"a digest has 32 bytes, not {len(digest)}")
    v = raw[-1] - 27 if raw[-1] >= 27 else raw[-1]
    try:
        parsed = Signature(raw[:-1] + bytes([v]) if v in (0, 1) else raw)
        return parsed.recover_public_key_from_msg_hash(digest).to_checksum_address()
    except (BadSignature, ValidationError) as problem:
        raise UnrecoverableError(f"a signature that recovers to a signer is needed: {problem}") from problem


def address_of(private_key: str) -> str:
    """The address, in EIP-55 form, of a private key of secp256k1 in hex. UnrecoverableError for what is none."""
    raw = from_hex(private_key, KEY_BYTES, "a private key of 32 bytes in hex")
    if not 0 < int.from_bytes(raw) < CURVE_ORDER:
        raise UnrecoverableError("a private key is from 1 up to the order of the curve")
    return PrivateKey(raw).public_key.to_checksum_address()


def from_hex(text: str, size: int, what: str) -> bytes:
    """The bytes of a hex text with or without `0x`. UnrecoverableError when it is not `what`."""
    try:
        raw = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise UnrecoverableError(f"{what} is needed, not {text[:80]!r}") from None
    if len(raw) != size:
        raise UnrecoverableError(f"{what} is needed, not {len(raw)} bytes")
    return raw
