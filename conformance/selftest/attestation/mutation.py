"""Mutations of bytes, texts and JSON values, by a seeded generator of random numbers."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable

INTERESTING_BYTES = (0x00, 0x01, 0x7F, 0x80, 0xFF, 0x0A, 0x20, 0x22, 0x2D, 0x30, 0x5B, 0x7B)
INTERESTING_NUMBERS = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    383,
    384,
    0x7FFF,
    0x8000,
    0xFFFF,
)
INTERESTING_TEXTS = (
    "", " ", "\n", "0", "1", "-1", "00", "0x", "0x00", "null", "true", "NaN", "[]", "{}", "\u0000", "\ufeff", "\ud7ff",
    "é", "A" * 300, "ff" * 64, "FF" * 48, "2026-03-01T00:00:00Z", "9999-12-31T23:59:59Z", "UpToDate", "OutOfDate",
    "TDX", "TD_QE", "NOERROR", "app-id", "compose-hash", "system-ready", ";", "accounturi=", "@sha256:", "${X}",
    "*a", "&a b",
)  # fmt: skip
INTERESTING_VALUES: tuple[object, ...] = (
    None, True, False, 0, 1, -1, 2, 255, 256, 65536, 2**31, 2**32, 2**63, 2**64, 10**400, -0.0, 0.5, 1e308,
    [], {}, [[]], [{}], {"a": 1}, [None], "x",
)  # fmt: skip


def bytes_mutated(rng: random.Random, data: bytes, other: bytes = b"") -> bytes:
    """One to four changes of a few bytes each."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(_BYTE_CHANGES)(rng, data, other)
    return data


def _place(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = _place(rng, data)
    return start, min(len(data), start + rng.choice((1, 1, 2, 4, 8, 32, 64, 300)))


def _flip(rng: random.Random, data: bytes, _: bytes) -> bytes:
    if not data:
        return b"\x00"
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def _set(rng: random.Random, data: bytes, _: bytes) -> bytes:
    start = _place(rng, data)
    return data[:start] + bytes([rng.choice(INTERESTING_BYTES)]) + data[start + 1 :]


def _number(rng: random.Random, data: bytes, _: bytes) -> bytes:
    start, size = _place(rng, data), rng.choice((2, 4))
    number = (rng.choice(INTERESTING_NUMBERS) + rng.choice((0, 0, len(data)))) % (1 << 8 * size)
    return data[:start] + number.to_bytes(size, "little") + data[start + size :]


def _cut(rng: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _truncated(rng: random.Random, data: bytes, _: bytes) -> bytes:
    return data[: _place(rng, data)]


def _inserted(rng: random.Random, data: bytes, _: bytes) -> bytes:
    start = _place(rng, data)
    return data[:start] + rng.randbytes(rng.choice((1, 2, 16))) + data[start:]


def _repeated(rng: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:end] + data[start:end] + data[end:]


def _moved(rng: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = _span(rng, data)
    rest, place = data[:start] + data[end:], rng.randrange(len(data) - (end - start) + 1)
    return rest[:place] + data[start:end] + rest[place:]


def _crossed(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + other[start:end] + data[end:]


def _appended(rng: random.Random, data: bytes, _: bytes) -> bytes:
    return data + rng.choice((b"\x00", b"\n", b" ", b"\x01", b"{}", rng.randbytes(4)))


_BYTE_CHANGES: tuple[Callable[[random.Random, bytes, bytes], bytes], ...] = (
    _flip, _flip, _flip, _set, _number, _cut, _truncated, _inserted, _repeated, _moved, _crossed, _appended,
)  # fmt: skip


def text_mutated(rng: random.Random, text: str) -> str:
    """One to three changes of a text, some of them words that mean something somewhere."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 0, 1, 1, 2, 8, 64)))
        new = rng.choice(
            (
                "",
                rng.choice(INTERESTING_TEXTS),
                chr(rng.randrange(0x20, 0x7F)),
                text[start:end].swapcase(),
                text[start:end] * 2,
            )
        )
        text = text[:start] + new + text[end:]
    return text


def value_mutated(rng: random.Random, value: object) -> object:
    """A JSON value with something in it changed, added, taken away or moved."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        value = _changed(rng, value)
    return value


Holder = dict[str, object] | list[object]


def _changed(rng: random.Random, value: object) -> object:
    top: list[object] = [value]
    holder: Holder = top
    key: str | int = 0
    while rng.random() < 0.85:
        inner = _at(holder, key)
        if not isinstance(inner, dict | list) or not inner:
            break
        holder, key = inner, rng.choice(list(inner)) if isinstance(inner, dict) else rng.randrange(len(inner))
    if isinstance(holder, dict):
        _member_changed(rng, holder, str(key))
    else:
        _item_changed(rng, holder, int(key))
    return top[0] if top else None


def _at(holder: Holder, key: str | int) -> object:
    return holder[str(key)] if isinstance(holder, dict) else holder[int(key)]


def _member_changed(rng: random.Random, members: dict[str, object], name: str) -> None:
    action = rng.randrange(5)
    other = rng.choice(list(members))
    if action == 0:
        del members[name]
    elif action == 1:
        members[name], members[other] = members[other], members[name]
    elif action == 2:
        members[rng.choice((name.upper(), name + "x", "extra"))] = members[name]
    else:
        members[name] = _replaced(rng, members[name])


def _item_changed(rng: random.Random, items: list[object], place: int) -> None:
    action = rng.randrange(5)
    if action == 0:
        del items[place]
    elif action == 1:
        items.insert(place, json.loads(json.dumps(items[place])))
    elif action == 2:
        items.insert(0, items.pop(place))
    else:
        items[place] = _replaced(rng, items[place])


def _replaced(rng: random.Random, value: object) -> object:
    if isinstance(value, str) and rng.random() < 0.6:
        return text_mutated(rng, value)
    if isinstance(value, int) and not isinstance(value, bool) and rng.random() < 0.6:
        return value + rng.choice((-1, 1, 256, -256, 2**32))
    return copy.deepcopy(rng.choice((*INTERESTING_VALUES, rng.choice(INTERESTING_TEXTS))))  # later changes are in place
