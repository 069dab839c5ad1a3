"""Strict readers of JSON, hex, PEM and times. They raise ValueError, and nothing else, for text in another form.

Beside them, how such text is printed.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from datetime import UTC, datetime

from conformance.values import json_text

_NO_HEX = "not an even number of hex digits with an optional 0x"
_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----\r?\n((?:[A-Za-z0-9+/=]+\r?\n)+)-----END CERTIFICATE-----\r?\n?")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_MAYBE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
MOST_CERTIFICATES = 8


def json_value(body: bytes) -> object:
    """The value of a JSON document in UTF-8, without duplicate members, NaN, lone surrogates or deep nesting."""
    text = body.decode("utf-8")
    value = json_text.parse(text)
    if _MAYBE_SURROGATE.search(text):
        json_text.written(value).encode("utf-8")
    return value


def json_object(body: bytes) -> dict[str, object]:
    """A JSON document that is an object."""
    value = json_value(body)
    if not isinstance(value, dict):
        raise ValueError("the JSON is no object")  # noqa: TRY004 - a fault of the text, not of a caller
    return value


def text_member(members: dict[str, object], name: str) -> str:
    """A member that is there and is a text."""
    value = members.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is {'absent' if name not in members else 'no text'}")  # noqa: TRY004 - a fault of the text, not of a caller
    return value


def hex_bytes(text: str, length: int | None = None) -> bytes:
    """The bytes of a hex text with an optional `0x`, in either case of letters."""
    digits = text.removeprefix("0x")
    # `fromhex` lets blanks through; this check is many times faster than a pattern
    if digits and not (digits.isascii() and digits.isalnum()):
        raise ValueError(_NO_HEX)
    try:
        value = bytes.fromhex(digits)
    except ValueError as problem:
        raise ValueError(_NO_HEX) from problem
    if length is not None and len(value) != length:
        raise ValueError(f"{len(value)} bytes where {length} belong")
    return value


def pem_certificates(body: bytes) -> tuple[bytes, ...]:
    """The DER of certificates in PEM: nothing before, between or after them but ends of lines."""
    certificates: list[bytes] = []
    position = 0
    while position < len(body):
        match = _PEM.match(body, position)
        if match is None or len(certificates) == MOST_CERTIFICATES:
            raise ValueError(f"byte {position}: no certificate in PEM, or one more than {MOST_CERTIFICATES}")
        certificates.append(_base64(re.sub(rb"[\r\n]", b"", match[1])))
        position = match.end()
        while body[position : position + 1] in {b"\n", b"\r"}:
            position += 1
    if not certificates:
        raise ValueError("there is no certificate")
    return tuple(certificates)


def _base64(text: bytes) -> bytes:
    value = b64decode(text, validate=True)
    if b64encode(value) != text:
        raise ValueError("the base64 has spare bits or padding")
    return value


def base64_bytes(text: str) -> bytes:
    """The bytes of standard base64 with padding."""
    return _base64(text.encode("ascii"))


def pem_of(certificates: tuple[bytes, ...]) -> str:
    """Certificates as PEM with lines of 64 characters."""
    return "".join(_one_pem(der) for der in certificates)


def _one_pem(der: bytes) -> str:
    text = b64encode(der).decode()
    lines = [text[start : start + 64] for start in range(0, len(text), 64)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""])


def unix_seconds(text: str) -> int:
    """Unix seconds of a UTC time as `2025-06-19T10:16:03Z`."""
    if not _TIME.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no time as 2025-06-19T10:16:03Z")
    return int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp())


def when(seconds: int) -> str:
    """A time for people."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def printable(text: str) -> str:
    """Text from evidence, fit for a terminal: no control characters, no lone surrogates, of bounded length."""
    short = text if len(text) <= 600 else f"{text[:600]}…"
    if short.isprintable():
        return short
    return "".join(character if character.isprintable() else f"\\x{ord(character):02x}" for character in short)
