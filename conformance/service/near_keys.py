"""Texts that a careless comparison takes for a key: near ones, and what is public about a key.

None of them is the key. Whoever holds one must get nothing by it, in either header and wherever a body names a key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eth_utils.crypto import keccak

from conformance.service.derivations import base64_of, key_with_flipped_bit
from conformance.values.key_text import key_bytes

Texts = Mapping[str, Sequence[str]]
"""Texts by what they are."""
BEGINNING = 8
"""Characters of a key that a pattern names."""


def near_keys(key: str) -> Texts:
    """Texts that share much with a key, by what they have of it."""
    return {
        "a key with one bit flipped": [key_with_flipped_bit(key, index) for index in (0, 15, -1) if _bytes_of(key)],
        "a part of a key": [key[:-4], key[4:], key[: len(key) // 2]],
        "a key with four more characters": [f"AAAA{key}"],
        "a key with letters of the other case": in_other_case(key),
        "a pattern that the key fits": [f"{key[:BEGINNING]}%"],
    }


def in_other_case(key: str) -> list[str]:
    """The key with its letters lowered, and with the case of its first letter swapped.

    Empty where a key has letters of one case alone, which may count in either. The last digit stays. Its spare bits are
    zero in a key; those of its other case may not be, and the text would be refused for them.
    """
    digits = key.rstrip("=")
    head, rest = digits[:-1], key[len(digits) - 1 :]
    if head in {head.lower(), head.upper()}:
        return []
    first = next(index for index, digit in enumerate(head) if digit.isalpha())
    one_swapped = f"{head[:first]}{head[first].swapcase()}{head[first + 1 :]}"
    return [f"{text}{rest}" for text in dict.fromkeys((head.lower(), one_swapped)) if text != head]


def images(key: str) -> list[str]:
    """The keccak256 of a key, which the chain shows: of its bytes in several spellings, of its text."""
    raw = _bytes_of(key)
    return [*(spelt(keccak(raw)) if raw else ()), f"0x{keccak(text=key).hex()}"]


def _bytes_of(key: str) -> bytes:
    """The bytes of a key; none where its form is one of the vendor's, as that of usage keys may be."""
    try:
        return key_bytes(key)
    except ValueError:
        return b""


def spelt(raw: bytes) -> list[str]:
    """How a hash may be written: hex with and without 0x, base64, decimal digits."""
    return [f"0x{raw.hex()}", base64_of(raw), raw.hex(), str(int.from_bytes(raw))]
