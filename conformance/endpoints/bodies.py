"""The body of an answer as text. JSON is UTF-8, whatever the label says (RFC 8259, 8.1 and 11)."""

from __future__ import annotations

import re
import sys
import threading
import zlib
from collections.abc import Mapping
from typing import NamedTuple

LONGEST_ANSWER = 32 * 1024 * 1024
"""The most bytes of a body that the suite reads, and that it unpacks."""
LONG_ANSWER = 2 * 1024 * 1024
"""No longer one is refused as long as a node sends few of them: the page of Swagger UI has 1.4 MB."""
MOST_OF_LONG_ANSWERS = 256 * 1024 * 1024
"""The bytes of all longer ones that a process of a run takes in."""
SMALL_ANSWER = 64 * 1024
"""An answer that takes no more is never refused, and so much of each counts nowhere."""
MOST_OF_A_RUN = 1024 * 1024 * 1024
"""What all other answers of a process of a run may take in memory, one after the other."""
MOST_OF_A_CASE = 128 * 1024 * 1024
"""What the other answers of one case may take in memory together: it may hold them all."""
BYTES_OF_A_VALUE = 100
"""About what Python takes for a value of JSON in an array or an object."""
CHARSET = re.compile(r";\s*charset\s*=\s*\"?([A-Za-z0-9_.:-]+)", re.IGNORECASE)
LONGEST_LABEL = 1_000
"""Characters of a Content-Type that are searched for its charset."""
NO_ENCODING = frozenset({"", "identity"})
GZIP = frozenset({"gzip", "x-gzip"})
WITH_HEADER = 31
"""zlib's word for data in the format of gzip."""


class TooLargeError(Exception):
    """An answer is larger than the suite takes in."""


class Volume:
    """What the answers of a run may still take. Several threads may count."""

    def __init__(self) -> None:
        self._left_of_long = MOST_OF_LONG_ANSWERS
        self._left = MOST_OF_A_RUN
        self._lock = threading.Lock()

    @property
    def longest(self) -> int:
        """The most bytes of the next answer."""
        if self._left <= 0:
            return SMALL_ANSWER
        return LONGEST_ANSWER if self._left_of_long > 0 else LONG_ANSWER

    def take(self, size: int, weight: int) -> None:
        """Count an answer of so many bytes that takes so much in memory."""
        with self._lock:
            self._left = min(MOST_OF_A_RUN, self._left + SMALL_ANSWER - weight)
            if size > LONG_ANSWER:
                self._left_of_long -= size


def weight_of(text: str) -> int:
    """About how many bytes a text takes in memory together with the JSON that is read from it."""
    values = text.count(",") + text.count("[") + text.count("{") if len(text) > SMALL_ANSWER // BYTES_OF_A_VALUE else 0
    return sys.getsizeof(text) + BYTES_OF_A_VALUE * values


def too_long(most: int, does: str) -> TooLargeError:
    """What to raise for a body that is longer than this, or unpacks to more."""
    of_all = ", since so many answers were long" if most < LONGEST_ANSWER else ""
    return TooLargeError(f"the body {does} more than {most} bytes{of_all}")


class Body(NamedTuple):
    """A text, and why it cannot be read as JSON."""

    text: str
    fault: str = ""


def body_of(raw: bytes, headers: Mapping[str, str], most: int = LONGEST_ANSWER) -> Body:
    """The text of a body that came with these headers, by names in lower case. TooLargeError: it unpacks to more."""
    encoding = headers.get("content-encoding", "").strip().lower()
    fault = ""
    if raw and encoding in GZIP:
        raw, fault = _unpacked(raw, most)
    elif raw and encoding not in NO_ENCODING:
        fault = f"the body has Content-Encoding {encoding[:40]!r}, and identity was asked for"
    if fault:
        return Body(raw.decode("utf-8", "replace"), fault)
    try:
        return Body(raw.decode())
    except UnicodeDecodeError as problem:
        return Body(_labelled(raw, headers.get("content-type", "")), f"the body is no UTF-8 (byte {problem.start})")


def _unpacked(raw: bytes, most: int) -> tuple[bytes, str]:
    """What gzip packed, and what is wrong with it. Some gateways pack whatever is asked for."""
    unpacking = zlib.decompressobj(WITH_HEADER)
    try:
        unpacked = unpacking.decompress(raw, most)
    except zlib.error:
        return raw, "the body is no gzip, which its Content-Encoding says"
    if unpacking.unconsumed_tail:
        raise too_long(most, "unpacks to")
    return unpacked, "" if unpacking.eof else "the body is the beginning of a gzip file"


def _labelled(raw: bytes, content_type: str) -> str:
    """Bytes that are no UTF-8 in the charset of their label, which is for pages and other texts."""
    stated = CHARSET.search(content_type[:LONGEST_LABEL])
    try:
        return raw.decode(stated[1] if stated else "utf-8", "replace")
    except (LookupError, ValueError):
        return raw.decode("utf-8", "replace")
