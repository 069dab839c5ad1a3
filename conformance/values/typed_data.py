"""The suite's own EIP-712: canonical envelopes, the digest of any envelope, and wallets that sign it.

Specification: "Resources and their fields / Typed-data envelope". The digest follows what an envelope says about
itself, canonical or not, and reads what is malformed as far as it can be read: whoever signs a faulty envelope has to
sign something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import NamedTuple, Self

from eth_keys.datatypes import PrivateKey
from eth_utils.crypto import keccak

Json = object
Fields = list[dict[str, Json]]

DOMAIN_TYPE = "EIP712Domain"
WORD = 2**256
CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def domain_fields() -> Fields:
    """`types.EIP712Domain`, in order."""
    return _fields(name="string", version="string", chainId="uint256")


def message_fields() -> Fields:
    """`types.<primaryType>`, in order."""
    return _fields(address="address", issuedAt="uint256")


def _fields(**types: str) -> Fields:
    return [{"name": name, "type": kind} for name, kind in types.items()]


def envelope(primary: str, *, name: str, chain_id: int, address: str, issued_at: int) -> dict[str, Json]:
    """The canonical envelope of a flow."""
    return {
        "types": {DOMAIN_TYPE: domain_fields(), primary: message_fields()},
        "primaryType": primary,
        "domain": {"name": name, "version": "1", "chainId": str(chain_id)},
        "message": {"address": address, "issuedAt": str(issued_at)},
    }


def digest(document: Mapping[str, Json]) -> bytes:
    """keccak256 of 0x1901, the hash of the domain and the hash of the message (EIP-712)."""
    types = _object(document.get("types"))
    primary = str(document.get("primaryType"))
    domain = _struct_hash(DOMAIN_TYPE, _object(document.get("domain")), types, domain_fields())
    message = _struct_hash(primary, _object(document.get("message")), types, message_fields())
    return keccak(b"\x19\x01" + domain + message)


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _struct_hash(name: str, value: Mapping[str, Json], types: Mapping[str, Json], otherwise: Fields) -> bytes:
    fields = _declared(types.get(name), otherwise)
    signature = f"{name}({','.join(f'{kind} {field}' for field, kind in fields)})"
    return keccak(keccak(text=signature) + b"".join(_word(kind, value.get(field)) for field, kind in fields))


def _declared(fields: Json, otherwise: Fields) -> list[tuple[str, str]]:
    stated = fields if isinstance(fields, list) else otherwise
    return [(str(field.get("name")), str(field.get("type"))) for field in stated if isinstance(field, dict)]


def _word(kind: str, value: Json) -> bytes:
    """The 32 bytes of a value by the name of its type."""
    if kind == "string":
        return keccak(text="" if value is None else str(value))
    if kind == "bytes":
        return keccak(_bytes(value))
    if kind.startswith("bytes"):
        return _bytes(value)[:32].ljust(32, b"\0")
    return (_number(value) % WORD).to_bytes(32)


def _bytes(value: Json) -> bytes:
    try:
        return bytes.fromhex(str(value).removeprefix("0x"))
    except ValueError:
        return b""


def _number(value: Json) -> int:
    try:
        if isinstance(value, str):
            return int(value, 16) if value.lower().startswith("0x") else int(value)
        return int(value) if isinstance(value, int | float) else 0
    except (ValueError, OverflowError):
        return 0


class Signed(NamedTuple):
    """The parts of a signature; `v` is 27 or 28."""

    r: int
    s: int
    v: int

    @property
    def twin(self) -> Signed:
        """The other signature by the same key over the same digest, with s in the upper half."""
        return Signed(self.r, CURVE_ORDER - self.s, 55 - self.v)

    @property
    def text(self) -> str:
        """0x and 65 bytes."""
        return f"0x{self.r:064x}{self.s:064x}{self.v:02x}"


class Wallet:
    """A key pair of the suite's own, decided by a seed."""

    def __init__(self, seed: str) -> None:
        self._hold(PrivateKey(keccak(text=f"wallet|{seed}")))

    @classmethod
    def of_key(cls, key: bytes) -> Self:
        """The wallet of a private key of 32 bytes."""
        wallet = cls.__new__(cls)
        wallet._hold(PrivateKey(key))
        return wallet

    def _hold(self, key: PrivateKey) -> None:
        self._key = key
        self.address = key.public_key.to_checksum_address()

    @property
    def private_key(self) -> str:
        """0x and 32 bytes."""
        return str(self._key.to_hex())

    def sign(self, digest: bytes) -> Signed:
        """Sign 32 bytes as they are."""
        v, r, s = self._key.sign_msg_hash(digest).vrs
        return Signed(r, s, v + 27)

    def sign_so_that(self, digest: bytes, fits: Callable[[Signed], bool]) -> Signed:
        """The first signature of 32 bytes that fits, of those by one nonce after another."""
        return next(filter(fits, self._signatures(digest)))

    def _signatures(self, digest: bytes) -> Iterator[Signed]:
        """Signatures of 32 bytes without end, with s in the lower half (SEC 1, 4.1.3)."""
        secret = int(self.private_key, 16)
        for number in count():
            nonce = keccak(text=f"{self.private_key}|{digest.hex()}|{number}")
            point = PrivateKey(nonce).public_key.to_bytes()
            r, k = int.from_bytes(point[:32]) % CURVE_ORDER, int.from_bytes(nonce)
            s = pow(k, -1, CURVE_ORDER) * (int.from_bytes(digest) + r * secret) % CURVE_ORDER
            signed = Signed(r, s, 27 + point[-1] % 2)
            yield signed if s <= CURVE_ORDER // 2 else signed.twin
