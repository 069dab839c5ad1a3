"""Secrets of 32 bytes as they may stand in a text.

In hex, also with separators; in base64 of either alphabet and base32; in decimal digits, as one number or one of each
byte; and in base64 or hex of such a text.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from eth_keys.datatypes import PrivateKey

from conformance.values.escapes import layers
from conformance.values.typed_data import CURVE_ORDER

SECRET_BYTES = 32
HEX_RUN = re.compile(r"[0-9a-fA-F]{64,}")
SEPARATED_HEX = re.compile(r"(?<![0-9a-fA-F])(?=((?:[0-9a-fA-F]{2}[\s:_.,-]{0,2}){31}[0-9a-fA-F]{2})(?![0-9a-fA-F]))")
"""At each place where it may begin, since the `ed` of `derived ab:cd:…` looks like a beginning, too."""

NO_DIGITS = re.compile(r"[^0-9a-fA-F]+")
HEX_TEXT = re.compile(r"(0x)?[0-9a-fA-F]+")
DECIMAL_RUN = re.compile(r"(?<![0-9])[0-9]{60,78}(?![0-9])")
DECIMAL_BYTES = re.compile(r"(?<![0-9])(?=((?:[0-9]{1,3}[\s,]{1,2}){31}[0-9]{1,3})(?![0-9]))")
BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{43,}")
BASE32_RUN = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z2-7]{52}|[a-z2-7]{52})(?![A-Za-z0-9])")
EDGE = 64
"""How many places at either end of a run are near its edge: a secret has a few words before or after it."""
MOST_WALLETS = 4_000
"""Of how many secrets of one text the wallet is computed; each takes a seventh of a millisecond."""


class Candidate(NamedTuple):
    """A place of a text that may be a secret."""

    start: int
    end: int
    secret: bytes
    at_edge: bool = True
    """Whether it stands near an end of its run. What lies deep in a long run is part of other data."""


def candidates(text: str, known: Container[bytes] | None = None) -> Iterator[Candidate]:
    """The 32 bytes that parts of the text stand for as it is, overlapping ones included.

    Those near an end of a run are all told, those deep in one only if they are known.
    """
    for run in DECIMAL_RUN.finditer(text):
        if (number := int(run[0])) < 1 << 8 * SECRET_BYTES:
            yield Candidate(run.start(), run.end(), number.to_bytes(SECRET_BYTES))
    for run in DECIMAL_BYTES.finditer(text):
        if max(octets := [int(octet) for octet in re.findall("[0-9]+", run[1])]) < 1 << 8:
            yield Candidate(run.start(1), run.end(1), bytes(octets))
    for run in SEPARATED_HEX.finditer(text):
        yield Candidate(run.start(1), run.end(1), bytes.fromhex(NO_DIGITS.sub("", run[1])))
    for run in BASE32_RUN.finditer(text):
        yield Candidate(run.start(), run.end(), base64.b32decode(f"{run[0].upper()}===="))
    for run in HEX_RUN.finditer(text):
        yield from _in_hex(run[0], run.start(), known)
    for run in BASE64_RUN.finditer(text):
        if not HEX_TEXT.fullmatch(run[0]):  # read as base64 it would give nothing but chance
            yield from _in_base64(run[0], run.start(), known)


def private_keys(text: str) -> set[bytes]:
    """What may be a private key in a text, escaped or not."""
    return set(likely(one for layer in layers(text) for one in candidates(layer.text)))


def likely(found: Iterable[Candidate]) -> Iterator[bytes]:
    """What may be a private key among these: the first `MOST_WALLETS` that stand near an edge."""
    secrets = (one.secret for one in found if one.at_edge and 0 < int.from_bytes(one.secret) < CURVE_ORDER)
    return islice(secrets, MOST_WALLETS)


@lru_cache(maxsize=65_536)
def wallet_of(secret: bytes) -> str:
    """The address of a private key, in lower case with 0x."""
    return PrivateKey(secret).public_key.to_address()


def _in_hex(run: str, at: int, known: Container[bytes] | None) -> Iterator[Candidate]:
    for skipped in (0, 1):
        raw = bytes.fromhex(run[skipped : skipped + (len(run) - skipped) // 2 * 2])
        for index, at_edge in _places(raw, EDGE // 2, known):
            start = at + skipped + 2 * index
            yield Candidate(start, start + 2 * SECRET_BYTES, raw[index : index + SECRET_BYTES], at_edge)
    yield from _in_a_text(bytes.fromhex(run[: len(run) // 2 * 2]), at, at + len(run), known)


def _in_base64(run: str, at: int, known: Container[bytes] | None) -> Iterator[Candidate]:
    """The bytes of a run from each of its first four digits on: it may stand inside a longer one."""
    for skipped in range(min(4, len(run) - 42)):
        raw = _decoded(run[skipped:])
        for index, at_edge in _places(raw, EDGE, known):
            start, end = skipped + index * 4 // 3, skipped + -(-(index + SECRET_BYTES) * 4 // 3)
            yield Candidate(at + start, at + end, raw[index : index + SECRET_BYTES], at_edge)
        yield from _in_a_text(raw, at, at + len(run), known)


def _places(raw: bytes, edge: int, known: Container[bytes] | None) -> Iterator[tuple[int, bool]]:
    """The places at which a secret may begin, and whether each is near an edge; of the others those of known ones."""
    number = len(raw) - SECRET_BYTES + 1
    middle = range(edge, number - edge)
    for place in (*range(min(edge, number)), *range(max(edge, middle.stop), number)):
        yield place, True
    if known is not None:
        yield from ((place, False) for place in middle if raw[place : place + SECRET_BYTES] in known)


def _in_a_text(raw: bytes, start: int, end: int, known: Container[bytes] | None) -> Iterator[Candidate]:
    """The secrets of a text that a run encodes; the whole run is the place of each."""
    if len(raw) > SECRET_BYTES and raw.isascii():
        for one in candidates(raw.decode(), known):
            yield Candidate(start, end, one.secret, one.at_edge)


def _decoded(run: str) -> bytes:
    whole = run[: len(run) // 4 * 4] if len(run) % 4 == 1 else run
    padded = whole + "=" * (-len(whole) % 4)
    return base64.urlsafe_b64decode(padded.replace("+", "-").replace("/", "_"))
