"""Secrets of 32 bytes as they may stand in a text: in hex, in base64 of either alphabet, in decimal digits."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import NamedTuple

SECRET_BYTES = 32
HEX_RUN = re.compile(r"[0-9a-fA-F]{64,}")
HEX_TEXT = re.compile(r"(0x)?[0-9a-fA-F]+")
DECIMAL_RUN = re.compile(r"(?<![0-9])[0-9]{60,78}(?![0-9])")
BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{43,}")


class Candidate(NamedTuple):
    """A place of a text that may be a secret."""

    start: int
    end: int
    secret: bytes


def candidates(text: str) -> Iterator[Candidate]:
    """Every 32 bytes that some part of the text stands for, overlapping ones included."""
    for run in DECIMAL_RUN.finditer(text):
        if (number := int(run[0])) < 1 << 8 * SECRET_BYTES:
            yield Candidate(run.start(), run.end(), number.to_bytes(SECRET_BYTES))
    for run in HEX_RUN.finditer(text):
        for start in range(run.start(), run.end() - 2 * SECRET_BYTES + 1):
            end = start + 2 * SECRET_BYTES
            yield Candidate(start, end, bytes.fromhex(text[start:end]))
    for run in BASE64_RUN.finditer(text):
        if not HEX_TEXT.fullmatch(run[0]):  # read as base64 it would give nothing but chance
            yield from _in_base64(run[0], run.start())


def _in_base64(run: str, at: int) -> Iterator[Candidate]:
    """The bytes of a run from each of its first four digits on: it may stand inside a longer one."""
    for skipped in range(min(4, len(run) - 42)):
        raw = _decoded(run[skipped:])
        for index in range(len(raw) - SECRET_BYTES + 1):
            start, end = skipped + index * 4 // 3, skipped + -(-(index + SECRET_BYTES) * 4 // 3)
            yield Candidate(at + start, at + end, raw[index : index + SECRET_BYTES])


def _decoded(run: str) -> bytes:
    whole = run[: len(run) // 4 * 4] if len(run) % 4 == 1 else run
    padded = whole + "=" * (-len(whole) % 4)
    return base64.urlsafe_b64decode(padded.replace("+", "-").replace("/", "_"))
