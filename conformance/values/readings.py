"""What parts of a text encode: bytes in base64, hex or decimal digits.

They may be those of a text of UTF-16 or UTF-32, be packed, escaped, or encoded again.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate, takewhile
from typing import NamedTuple

from conformance.values.escapes import layers

BASE64 = re.compile(r"[A-Za-z0-9+/_-]{14,}(?:[\r\n]{1,2}[A-Za-z0-9+/_-]+)*")
"""Also in lines."""
HEX = re.compile(r"(?:(?:0x|\\{0,2}(?:x|u\{)|\\|=)?[0-9a-fA-F]{2}[\s,;:}-]{0,2}){9,}[0-9a-fA-F]{0,2}")
"""Also with what languages write before a byte, such as `0x`, and with separators; `layers` resolves other escapes."""
DECIMAL = re.compile(r"(?<![0-9])(?:[0-9]{1,3}[\s,.;]{1,2}){9,}[0-9]{1,3}(?![0-9])")
BEFORE_DIGITS = re.compile(r"0x|[^0-9a-fA-F]")
PACKED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
"""How gzip and zlib begin."""
ANY_HEADER = 47
"""zlib's word for data in either format."""
MOST_ENCODED = 3
"""A text in base64 in base64 has two."""
MOST_UNPACKED = 100_000
"""Bytes of what one run packs."""
MOST_READ = 500_000
"""Characters of all that one text encodes."""


class Reading(NamedTuple):
    """The place of a run in a text, and what it encodes."""

    start: int
    end: int
    text: str


def readings(text: str) -> Iterator[Reading]:
    """What the runs of a text encode, one inside another included: `MOST_READ` characters of it."""
    found = _readings(text, MOST_ENCODED)
    read = accumulate(found, lambda before, one: (before[0] + len(one.text), one), initial=(0, Reading(0, 0, "")))
    yield from (one for _, one in takewhile(lambda pair: pair[0] <= MOST_READ, read))


def _readings(text: str, depth: int) -> Iterator[Reading]:
    for start, end, raw in _runs(text):
        for layer in layers(_text_of(raw)):
            yield Reading(start, end, layer.text)
            if depth > 1:
                yield from (Reading(start, end, one.text) for one in _readings(layer.text, depth - 1))


def _runs(text: str) -> Iterator[tuple[int, int, bytes]]:
    """The bytes of each run, from each place where its digits may begin."""
    for run in DECIMAL.finditer(text):
        octets = [int(octet) for octet in re.findall("[0-9]+", run[0])]
        yield *run.span(), bytes(octet for octet in octets if octet < 1 << 8)
    for run in HEX.finditer(text):
        digits = BEFORE_DIGITS.sub("", run[0])
        for skipped in (0, 1):
            yield *run.span(), bytes.fromhex(digits[skipped : skipped + (len(digits) - skipped) // 2 * 2])
    for run in BASE64.finditer(text):
        digits = re.sub(r"[\r\n]", "", run[0]).replace("-", "+").replace("_", "/")
        for skipped in range(4):
            whole = digits[skipped : skipped + (len(digits) - skipped) // 4 * 4]
            rest = digits[skipped + len(whole) :]
            yield *run.span(), base64.b64decode(whole + (f"{rest:=<4}" if len(rest) > 1 else ""))


def _text_of(raw: bytes) -> str:
    """Bytes as a text of single bytes, without the zeros of UTF-16 and UTF-32; what is packed is unpacked."""
    if raw.startswith(PACKED):
        with suppress(zlib.error):
            raw = zlib.decompressobj(ANY_HEADER).decompress(raw, MOST_UNPACKED)
    return raw.replace(b"\0", b"").decode("latin-1")
