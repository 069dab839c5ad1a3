"""API keys, and wallets that the service derives on demand and never stores.

Specification: "Resources and their fields" (Account API key, Usage API key, Wallet). An API key is base64 of 32 secret
bytes; the chain knows it by the keccak256 of those bytes; the bytes are also the private key of the key's own wallet.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from dataclasses import dataclass, field

from coincurve import PublicKey
from eth_utils.crypto import keccak

CURVE_ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
"""The order of secp256k1 (SEC 2). Private keys are between 1 and CURVE_ORDER - 1."""

SECRET_BYTES = 32

KEY_PATTERN = r"^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$"
"""Standard, padded base64 of 32 bytes in its canonical form."""


def new_secret() -> bytes:
    """New secret bytes of an API key that are also a valid private key."""
    while True:
        secret = secrets.token_bytes(SECRET_BYTES)
        if is_private_key(secret):
            return secret


def is_private_key(secret: bytes) -> bool:
    """Whether these 32 bytes are a secp256k1 private key. Random bytes almost always are."""
    return 0 < int.from_bytes(secret) < CURVE_ORDER


def key_text(secret: bytes) -> str:
    """The key as 44 characters of base64."""
    return base64.b64encode(secret).decode()


def parse_key(text: str) -> bytes | None:
    """The 32 secret bytes of a key in canonical form, else `None`."""
    try:
        secret = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return secret if len(secret) == SECRET_BYTES and key_text(secret) == text else None


def key_hash(secret: bytes) -> int:
    """The hash by which the contract identifies a key: keccak256 of its secret bytes, as uint256."""
    return int.from_bytes(keccak(secret))


def address_of(private_key: bytes) -> bytes:
    """The 20-byte address of a private key."""
    return keccak(PublicKey.from_valid_secret(private_key).format(compressed=False)[1:])[12:]


def pkp_id(wallet_address: bytes) -> bytes:
    """The id of the wallet with this 20-byte address: keccak256 of the packed address, 32 bytes."""
    return keccak(wallet_address)


def new_derivation_path() -> int:
    """A new derivation path: a random non-zero uint256."""
    return secrets.randbelow(2**256 - 1) + 1


@dataclass(frozen=True)
class KeyDerivation:
    """Derives a private key for each derivation path from one root secret.

    The same path always gives the same key. Derived keys are not stored.
    """

    root_secret: bytes = field(repr=False)

    def wallet_key(self, derivation_path: int) -> bytes:
        """The private key of the wallet at this path (uint256)."""
        return self._derive(b"wallet", derivation_path)

    def payer_key(self, index: int) -> bytes:
        """The private key of an API payer, counted from 0."""
        return self._derive(b"api payer", index)

    def admin_payer_key(self) -> bytes:
        """The private key of the admin API payer."""
        return self._derive(b"admin api payer", 0)

    def application_owner_key(self) -> bytes:
        """The private key of the wallet that owns the application-authorisation contract."""
        return self._derive(b"application owner", 0)

    def _derive(self, purpose: bytes, index: int) -> bytes:
        """HMAC-SHA-512, reduced modulo the curve order. With 512 bits the bias is negligible."""
        stretched = hmac.digest(self.root_secret, purpose + b"\x00" + index.to_bytes(32), "sha512")
        return (int.from_bytes(stretched) % (CURVE_ORDER - 1) + 1).to_bytes(SECRET_BYTES)
