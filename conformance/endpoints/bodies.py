"""The body of an answer as text. JSON is UTF-8, whatever the label says (RFC 8259, 8.1 and 11)."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from email.message import EmailMessage
from typing import NamedTuple

LONGEST_ANSWER = 32 * 1024 * 1024
"""The most bytes of a body that the suite reads, and that it unpacks."""
NO_ENCODING = frozenset({"", "identity"})
GZIP = frozenset({"gzip", "x-gzip"})
WITH_HEADER = 31
"""zlib's word for data in the format of gzip."""


class Body(NamedTuple):
    """A text, and why it cannot be read as JSON."""

    text: str
    fault: str = ""


def body_of(raw: bytes, headers: Mapping[str, str]) -> Body:
    """The text of a body that came with these headers, by names in lower case."""
    encoding = headers.get("content-encoding", "").strip().lower()
    fault = ""
    if raw and encoding in GZIP:
        raw, fault = _unpacked(raw)
    elif raw and encoding not in NO_ENCODING:
        fault = f"the body has Content-Encoding {encoding[:40]!r}, and identity was asked for"
    if fault:
        return Body(raw.decode("utf-8", "replace"), fault)
    try:
        return Body(raw.decode())
    except UnicodeDecodeError as problem:
        return Body(_labelled(raw, headers.get("content-type", "")), f"the body is no UTF-8 (byte {problem.start})")


def _unpacked(raw: bytes) -> tuple[bytes, str]:
    """What gzip packed, and what is wrong with it. Some gateways pack whatever is asked for."""
    unpacking = zlib.decompressobj(WITH_HEADER)
    try:
        unpacked = unpacking.decompress(raw, LONGEST_ANSWER)
    except zlib.error:
        return raw, "the body is no gzip, which its Content-Encoding says"
    if unpacking.unconsumed_tail:
        return unpacked[: len(raw)], f"the body unpacks to more than {LONGEST_ANSWER} bytes"
    return unpacked, "" if unpacking.eof else "the body is the beginning of a gzip file"


def _labelled(raw: bytes, content_type: str) -> str:
    """Bytes that are no UTF-8 in the charset of their label, which is for pages and other texts."""
    label = EmailMessage()
    label["Content-Type"] = content_type
    try:
        return raw.decode(label.get_content_charset() or "utf-8", "replace")
    except (LookupError, ValueError):
        return raw.decode("utf-8", "replace")
