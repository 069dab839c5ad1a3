"""IPFS content identifiers: the CID of an action's code, and whether a text is a CID at all.

Specification: "Wallets and actions" (`get_service_action_ipfs_id`, raw versus hashed CID rule). The CID of code is what
`ipfs add` gives a file of those bytes with default settings: CIDv0 over UnixFS v1 in dag-pb, chunks of 256 KiB, a
balanced DAG with up to 174 links a node.
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from eth_utils.crypto import keccak

CHUNK_SIZE = 256 * 1024
"""Bytes of a leaf, `--chunker=size-262144`."""

LINKS_PER_NODE = 174
"""The most children of an inner node of the balanced layout."""

LONGEST_CID = 256
"""Characters; a CIDv1 of the longest digest in the longest accepted base is shorter."""

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

_B58 = "[1-9A-HJ-NP-Za-km-z]"
USUAL_CIDS = (
    rf"^(Qm(N(L(e[j-km-z]|[f-km-z]{_B58})|[MNP-Za-km-z]{_B58}{{2}})|[P-Za-e]{_B58}{{3}}"
    rf"|f([1-9A-HJ-NP-Y]{_B58}{{2}}|Z([1-9A-HJ-NP-Za-km-x]{_B58}|y[1-4]))){_B58}{{40}}"
    r"|baf(kr|yb)ei[a-h][a-z2-7]{50}[aeimquy4])$"
)
"""A regular expression for descriptions of the interface: sha2-256 as CIDv0, or as CIDv1 in base32 of raw or dag-pb.

Everything it matches is a CID. Of all CIDv0 it leaves out the first and last few in 10**8, whose bounds do not fit it.
"""


def cid_hash(raw_cid: str) -> bytes:
    """The hashed CID: keccak256 of the UTF-8 text exactly as given, 32 bytes."""
    return keccak(raw_cid.encode())


# The CID of a file: UnixFS v1 and dag-pb, both protobuf messages small enough to write by hand.


@dataclass(frozen=True, slots=True)
class Block:
    """A node of the DAG: its multihash, the file bytes below it, and the encoded bytes of it and all below it."""

    multihash: bytes
    file_size: int
    total_size: int


def cid_of(content: bytes) -> str:
    """The CIDv0 that `ipfs add` gives a file with this content."""
    return cid_of_chunks([content[at : at + CHUNK_SIZE] for at in range(0, len(content), CHUNK_SIZE)] or [b""])


def cid_of_chunks(chunks: Sequence[bytes]) -> str:
    """The CIDv0 of a file whose leaves hold these chunks, at least one."""
    level = [_leaf(chunk) for chunk in chunks]
    while len(level) > 1:
        level = [_parent(level[at : at + LINKS_PER_NODE]) for at in range(0, len(level), LINKS_PER_NODE)]
    return _base58_text(level[0].multihash)


def _leaf(chunk: bytes) -> Block:
    data = _bytes_field(2, chunk) if chunk else b""
    return _block(b"", _varint_field(1, 2) + data + _varint_field(3, len(chunk)), len(chunk), 0)


def _parent(children: Sequence[Block]) -> Block:
    links = b"".join(_bytes_field(2, _link(child)) for child in children)
    file_size = sum(child.file_size for child in children)
    block_sizes = b"".join(_varint_field(4, child.file_size) for child in children)
    unixfs = _varint_field(1, 2) + _varint_field(3, file_size) + block_sizes
    return _block(links, unixfs, file_size, sum(child.total_size for child in children))


def _link(child: Block) -> bytes:
    return _bytes_field(1, child.multihash) + _bytes_field(2, b"") + _varint_field(3, child.total_size)


def _block(links: bytes, unixfs: bytes, file_size: int, size_below: int) -> Block:
    node = links + _bytes_field(1, unixfs)
    return Block(b"\x12\x20" + hashlib.sha256(node).digest(), file_size, len(node) + size_below)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _varint_field(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _bytes_field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _base58_text(value: bytes) -> str:
    number = int.from_bytes(value)
    digits = ""
    while number:
        number, digit = divmod(number, 58)
        digits = BASE58[digit] + digits
    return digits


# Whether a text is a CID: multibase, version, codec, multihash.


class Base(NamedTuple):
    """A multibase: its alphabet, and the bits a character carries where that is a whole number, else 0."""

    alphabet: str
    bits: int


_BASE32 = string.ascii_lowercase + "234567"
_BASE36 = string.digits + string.ascii_lowercase
_BASE64 = string.ascii_uppercase + string.ascii_lowercase + string.digits
MULTIBASES = {
    "f": Base("0123456789abcdef", 4),
    "F": Base("0123456789ABCDEF", 4),
    "b": Base(_BASE32, 5),
    "B": Base(_BASE32.upper(), 5),
    "k": Base(_BASE36, 0),
    "K": Base(_BASE36.upper(), 0),
    "z": Base(BASE58, 0),
    "m": Base(_BASE64 + "+/", 6),
    "u": Base(_BASE64 + "-_", 6),
}
"""The bases of CIDv1 texts by prefix (multiformats/multibase), each without padding."""

DIGEST_LENGTHS = {
    0x11: 20,  # sha1
    0x12: 32,  # sha2-256
    0x13: 64,  # sha2-512
    0x14: 64,  # sha3-512
    0x15: 48,  # sha3-384
    0x16: 32,  # sha3-256
    0x17: 28,  # sha3-224
    0x1B: 32,  # keccak-256
    0x1E: 32,  # blake3
    0xB220: 32,  # blake2b-256
    0xB260: 32,  # blake2s-256
}
"""The digest's length in bytes by multihash code."""

IDENTITY = 0x00
"""The multihash code of content that the CID itself contains, of any length."""


def is_cid(text: str) -> bool:
    """Whether the text is a CIDv0, or a CIDv1 in one of `MULTIBASES` with a known hash."""
    if not 2 <= len(text) <= LONGEST_CID:
        return False
    if text.startswith("Qm"):
        value = _decode(text, Base(BASE58, 0))
        return len(text) == 46 and value is not None and len(value) == 34 and value.startswith(b"\x12\x20")
    base = MULTIBASES.get(text[0])
    value = _decode(text[1:], base) if base else None
    return value is not None and _is_cid_v1(value)


def _decode(text: str, base: Base) -> bytes | None:
    digits = [base.alphabet.find(character) for character in text]
    if not digits or min(digits) < 0:
        return None
    number = 0
    for digit in digits:
        number = number * len(base.alphabet) + digit
    if base.bits:
        length, spare = divmod(len(digits) * base.bits, 8)
        if spare >= base.bits or number & ((1 << spare) - 1):
            return None
        return (number >> spare).to_bytes(length)
    zeros = next((at for at, digit in enumerate(digits) if digit), len(digits))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8)


def _is_cid_v1(value: bytes) -> bool:
    numbers: list[int] = []
    for _ in ("version", "codec", "hash code", "digest length"):
        number, value = _take_varint(value)
        numbers.append(number)
    version, _, code, length = numbers
    known = code == IDENTITY or DIGEST_LENGTHS.get(code) == length
    return version == 1 and known and length == len(value)


def _take_varint(value: bytes) -> tuple[int, bytes]:
    """The leading varint and the bytes after it; -1 where there is none in its shortest form of at most 9 bytes."""
    end = next((at for at, byte in enumerate(value[:9]) if byte < 0x80), None)
    if end is None or (end and value[end] == 0):
        return -1, b""
    return sum((byte & 0x7F) << 7 * at for at, byte in enumerate(value[: end + 1])), value[end + 1 :]
