"""Functions of `let` for what follows from keys and wallets: key hashes, PKP ids from lists, wallets of leaked secrets.

Specification, "Resources and their fields": the account's `apiKeyHash`, the PKP id, and that a PKP's key material is
never exported.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from eth_keys.datatypes import PrivateKey
from eth_utils.crypto import keccak

from conformance.language.functions import bytes_of_base64, bytes_of_key, function, pkp_id_of, relies_on
from conformance.language.scope import Scope
from conformance.problems import Mismatch, ProfileSilent
from conformance.values.json_values import MISSING, member, printed

CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""Of secp256k1: a private key is from 1 up to, not including, this number (SEC 2)."""

SECRET_BYTES = 32
HEX_RUN = re.compile(r"[0-9a-fA-F]{64,}")
HEX_TEXT = re.compile(r"(0x)?[0-9a-fA-F]+")
DECIMAL_RUN = re.compile(r"(?<![0-9])[0-9]{60,78}(?![0-9])")
BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{43,}")


@function
@relies_on("crypto.api_key_hash_preimage")
def account_hash(scope: Scope, key: object) -> str:
    """The `apiKeyHash` of an account key, by the profile's `crypto.api_key_hash_preimage`, as 0x hex."""
    return _key_hash(scope, key, "api_key_hash_preimage")


@function
@relies_on("crypto.usage_key_hash_preimage")
def usage_key_hash(scope: Scope, key: object) -> str:
    """The contract's name for a usage key, by the profile's `crypto.usage_key_hash_preimage`, as 0x hex."""
    return _key_hash(scope, key, "usage_key_hash_preimage")


def _key_hash(scope: Scope, key: object, rule: str) -> str:
    preimage = scope.lookup("profile", ["crypto", rule])
    if preimage == "base64_text":
        return f"0x{keccak(text=printed(key)).hex()}"
    if preimage != "decoded_bytes":
        raise ProfileSilent(f"a crypto.{rule} that the suite knows", printed(preimage))
    return f"0x{keccak(bytes_of_key(key)).hex()}"


@function
@relies_on("crypto.account_wallet_derivation")
def account_wallet(scope: Scope, key: object) -> str:
    """The wallet address of an account key, by the profile's `crypto.account_wallet_derivation`."""
    return account_private_key(scope, key).public_key.to_checksum_address()


def account_private_key(scope: Scope, key: object) -> PrivateKey:
    """The private key of an account key's wallet. Raises Mismatch where the key stands for none."""
    secret = bytes_of_base64(key)
    rule = scope.lookup("profile", ["crypto", "account_wallet_derivation"])
    if rule == "keccak256_of_secret_is_private_key":
        secret = keccak(secret)
    elif rule != "secret_is_private_key":
        raise ProfileSilent("a rule for account wallets that the suite knows", printed(rule))
    if len(secret) != SECRET_BYTES or not 0 < int.from_bytes(secret) < CURVE_ORDER:
        raise Mismatch("a private key of secp256k1 (32 bytes)", f"{len(secret)} bytes that are none")
    return PrivateKey(secret)


@function
def pkp_id_in(scope: Scope, wallets: object, address: object) -> str:
    """The PKP id of the wallet with this address in a wallet list; by the profile's rule where items hold no id."""
    items = wallets if isinstance(wallets, list) else []
    if items and all(MISSING in (member(item, "id"), member(item, "wallet_address")) for item in items):
        return printed(pkp_id_of(scope, address))
    wanted = printed(address).lower()
    found = [member(item, "id") for item in items if printed(member(item, "wallet_address")).lower() == wanted]
    if len(found) != 1 or not isinstance(found[0], str):
        raise Mismatch(f"one wallet with the address {wanted} and its id", printed(wallets))
    return found[0]


@function
def wallets_of_secrets_in(_: Scope, *values: object) -> list[str]:
    """The address of every 32-byte value anywhere in these values, taken as a private key; lower case, sorted."""
    secrets = {secret for value in values for secret in _secrets(value)}
    found = (secret for secret in secrets if 0 < int.from_bytes(secret) < CURVE_ORDER)
    return sorted({PrivateKey(secret).public_key.to_address() for secret in found})


def _secrets(value: object) -> Iterator[bytes]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _secrets(name)
            yield from _secrets(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _secrets(item)
    elif isinstance(value, str):
        yield from _secrets_in_text(value)
    elif isinstance(value, int) and not isinstance(value, bool) and 0 < value < CURVE_ORDER:
        yield value.to_bytes(SECRET_BYTES)


def _secrets_in_text(text: str) -> Iterator[bytes]:
    for run in DECIMAL_RUN.findall(text):
        if int(run) < CURVE_ORDER:
            yield int(run).to_bytes(SECRET_BYTES)
    for run in HEX_RUN.findall(text):
        for start in range(len(run) - 2 * SECRET_BYTES + 1):
            yield bytes.fromhex(run[start : start + 2 * SECRET_BYTES])
    for run in BASE64_RUN.findall(text):
        if HEX_TEXT.fullmatch(run):  # read as base64 it would give nothing but chance
            continue
        for start in range(min(4, len(run) - 42)):
            yield from _windows(_decoded(run[start:]))


def _windows(raw: bytes) -> Iterator[bytes]:
    for start in range(len(raw) - SECRET_BYTES + 1):
        yield raw[start : start + SECRET_BYTES]


def _decoded(run: str) -> bytes:
    whole = run[: len(run) // 4 * 4] if len(run) % 4 == 1 else run
    padded = whole + "=" * (-len(whole) % 4)
    return base64.urlsafe_b64decode(padded.replace("+", "-").replace("/", "_"))
