"""Makes, parses and recovers signatures of wallets.

Specification: "Wallet-signed endpoints", and what actions sign with the wallets they may use.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from coincurve import PrivateKey
from eth_keys.datatypes import Signature as RecoverableSignature
from eth_keys.exceptions import BadSignature
from eth_utils.crypto import keccak

from reference_node.chain.interface import Address, Hash
from reference_node.permission.keys import CURVE_ORDER
from reference_node.problems import BadRequest

RECOVERY_BIT = {0: 0, 1: 1, 27: 0, 28: 1}
"""The recovery bit by the last byte of a signature."""

_SIGNATURE = re.compile(r"0x[0-9a-fA-F]{130}")


class Signature(NamedTuple):
    """A well-formed signature: r and s within the curve's order, s in its lower half."""

    recovery_bit: int
    r: int
    s: int


def parse_signature(text: object) -> Signature:
    """The parts of `0x` and 65 bytes in hex: r, s, v. Raises `BadRequest`."""
    if not isinstance(text, str) or not _SIGNATURE.fullmatch(text):
        raise BadRequest("signature-malformed", "the signature has to be 0x and 130 hex characters: r, s and v")
    r, s, v = int(text[2:66], 16), int(text[66:130], 16), int(text[130:], 16)
    if v not in RECOVERY_BIT:
        raise BadRequest("signature-recovery-byte", f"the signature's last byte is {v}: it has to be 27, 28, 0 or 1")
    if not (0 < r < CURVE_ORDER and 0 < s < CURVE_ORDER):
        raise BadRequest("signature-out-of-range", "r and s have to be from 1 to one less than the curve's order")
    if s > CURVE_ORDER // 2:
        raise BadRequest(
            "signature-high-s", "s is in the upper half of the curve's order: send its twin, as wallets do"
        )
    return Signature(RECOVERY_BIT[v], r, s)


def recover(digest: Hash, signature: Signature) -> Address:
    """The wallet whose key signed this digest. Raises `BadRequest` where no key can have signed it."""
    try:
        key = RecoverableSignature(vrs=signature).recover_public_key_from_msg_hash(digest)
    except BadSignature:
        raise BadRequest(
            "signature-unrecoverable", "no key can have made this signature: r is on no curve point"
        ) from None
    return key.to_canonical_address()


def sign(private_key: bytes, digest: Hash) -> str:
    """The signature over a digest as `parse_signature` takes it, with 27 or 28 as its last byte."""
    signed = PrivateKey(private_key).sign_recoverable(digest, hasher=None)
    return f"0x{signed[:64].hex()}{27 + signed[64]:02x}"


def message_digest(message: bytes) -> Hash:
    """The EIP-191 digest of a message ("personal message")."""
    return keccak(b"\x19Ethereum Signed Message:\n" + str(len(message)).encode() + message)
