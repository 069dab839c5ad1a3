"""What hostile nodes do, by name, with the verdict that each deserves. A new behaviour is a new row of a table."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Callable

from hostile_connections import BROKEN, LARGE, REDIRECTS, Behaviour, Connection
from spoiling_node import Hostility, bytes_of, tells
from tiny_node import Asked, Told

MILLION = 1_000_000
LARGEST = 32 * 1024 * 1024
"""The longest body that the suite reads."""
PACKED = "Content-Encoding: gzip"
GROUP = {"id": 1, "name": "g", "description": ""}


def whatever_is_asked(behaviour: Behaviour) -> Callable[[Connection, Asked, Told], object]:
    """A behaviour of a connection as one of a node."""
    return lambda connection, _asked, _told: behaviour(connection)


def json_text(text: str, verdict: str = "fail", said: str = "JSON") -> Hostility:
    """A 200 with this text."""
    return Hostility(tells(200, text.encode("utf-8", "surrogatepass")), verdict, said)


def packed(raw: bytes, encoding: str, verdict: str, said: str) -> Hostility:
    """A 200 with these bytes under a Content-Encoding."""
    return Hostility(tells(200, raw, f"Content-Encoding: {encoding}"), verdict, said)


def with_header(header: str, verdict: str = "pass", said: str = "") -> Hostility:
    """The sound answer with further headers."""
    return Hostility(lambda c, asked, told: tells(told.status, bytes_of(told), header)(c, asked, told), verdict, said)


ON_CONNECTIONS = {
    name: behaviour for name, (behaviour, _) in {**BROKEN, **REDIRECTS}.items() if name not in {"limits the rate"}
}
SOCKETS: dict[str, Hostility] = {
    **{
        name: Hostility(whatever_is_asked(behaviour), "inconclusive", "expected an answer within the limits")
        for name, (behaviour, _) in LARGE.items()
    },
    "bomb in two layers": Hostility(
        whatever_is_asked(LARGE["bomb in two layers"][0]), "fail", "identity was asked for"
    ),
    **{name: Hostility(whatever_is_asked(behaviour), "fail", "") for name, behaviour in ON_CONNECTIONS.items()},
    "limits the rate": Hostility(whatever_is_asked(BROKEN["limits the rate"][0]), "inconclusive", "status 429"),
}
"""Of the connection and of HTTP's framing."""

JSON_TEXTS: dict[str, Hostility] = {
    "arrays 200,000 deep": json_text("[" * 200_000),
    "arrays 200,000 deep, closed": json_text("[" * 200_000 + "]" * 200_000),
    "objects 100,000 deep": json_text('{"a":' * 100_000),
    "string of escaped quotes without an end": json_text("[" * 201 + '"' + '\\"' * 100_000),
    "backslashes without an end": json_text("[" * 201 + '"' + "\\" * 1_000_001),
    "million quotes": json_text("[" * 201 + '"' * MILLION),
    "million open objects": json_text("{" * MILLION),
    "million commas": json_text("[" + "," * MILLION),
    "million minus signs": json_text("-" * MILLION),
    "million spaces": json_text(" " * MILLION),
    "number of a million digits": json_text("9" * MILLION),
    "number of a million digits in a list": json_text(f"[{'9' * MILLION}]"),
    "fraction of a million digits": json_text(f"[0.{'9' * MILLION}]", "pass", ""),
    "exponent of a million digits": json_text(f"[1e{'9' * MILLION}]", "pass", ""),
    "number beyond all doubles": json_text('[{"id": 1e999, "name": "g", "description": ""}]', "pass", ""),
    "NaN": json_text('[{"id": NaN, "name": "g", "description": ""}]'),
    "Infinity": json_text("[Infinity]"),
    "member twice": json_text('[{"id": 1, "id": 2, "name": "g", "description": ""}]'),
    "members twice, 100,000 of them": json_text("{" + '"a":1,' * 100_000 + '"a":1}'),
    "100,000 members": json_text(json.dumps(dict.fromkeys(map(str, range(100_000)), 0)), "pass", ""),
    "members whose hashes collide": json_text(json.dumps({str(2**61 * i): 0 for i in range(20_000)}), "pass", ""),
    "lone surrogate": json_text('["\\ud800"]', "pass", ""),
    "NUL bytes": json_text("\0" * MILLION),
    "byte order mark": json_text("\ufeff[]"),
    "text that is none": Hostility(tells(200, b"\xff\xfe" * MILLION), "fail", "UTF-8"),
    "UTF-16": Hostility(tells(200, "[]".encode("utf-16")), "fail", "UTF-8"),
    "list in a string": json_text('"[]"', "pass", ""),
    "null": json_text("null", "pass", ""),
    "true": json_text("true", "pass", ""),
    "empty body": json_text("", "pass", ""),
    "HTML with a million titles": json_text("<html>" + "<title>" * 150_000),
    "HTML with a title without an end": json_text("<html><title" + " " * MILLION),
    "event stream of 100,000 events": json_text("data: []\n\n" * 100_000),
}
"""Texts in place of JSON."""

LISTS: dict[str, Hostility] = {
    "million nulls": json_text("[" + "null," * (MILLION - 1) + "null]", "pass", ""),
    "million empty objects": json_text("[" + "{}," * (MILLION - 1) + "{}]", "pass", ""),
    "600,000 groups": json_text("[" + ",".join([json.dumps(GROUP)] * 600_000) + "]", "pass", ""),
    "100,000 groups": json_text(json.dumps([{**GROUP, "id": i} for i in range(100_000)]), "pass", ""),
    "group named by a megabyte": json_text(json.dumps([{**GROUP, "name": "x" * MILLION}]), "pass", ""),
    "group numbered by 4,000 digits": json_text(json.dumps([{**GROUP, "id": "9" * 4_000}]), "pass", ""),
    "group with a thousand members": json_text(
        json.dumps([GROUP | dict.fromkeys(map(str, range(1_000)), 0)]), "pass", ""
    ),
    "list of lists": json_text("[[[[[]]]]]", "pass", ""),
}
"""Lists of groups that no page holds: the case asks for JSON alone."""


def _twice(raw: bytes) -> bytes:
    return gzip.compress(gzip.compress(raw))


PACKINGS: dict[str, Hostility] = {
    "gzip of the longest body": packed(gzip.compress(b" " * LARGEST), "gzip", "fail", "JSON"),
    "gzip of one byte more": packed(gzip.compress(b" " * (LARGEST + 1)), "gzip", "inconclusive", "unpacks"),
    "gzip of zeros for 300 MB": packed(gzip.compress(bytes(300 * MILLION), 1), "gzip", "inconclusive", "unpacks"),
    "gzip in gzip": packed(_twice(bytes(MILLION)), "gzip", "fail", "no UTF-8"),
    "gzip cut off": packed(gzip.compress(b"[]")[:-6], "gzip", "fail", "beginning of a gzip file"),
    "gzip that is none": packed(b"[]", "gzip", "fail", "no gzip"),
    "deflate": packed(zlib.compress(b"[]"), "deflate", "fail", "identity was asked for"),
    "br": packed(b"x", "br", "fail", "identity was asked for"),
    "gzip a thousand times": packed(b"x", ", ".join(["gzip"] * 1_000), "fail", "identity was asked for"),
    "gzip of many empty members": packed(gzip.compress(b"") * 20_000, "gzip", "pass", ""),
}
"""Bodies that are packed."""

HEADERS: dict[str, Hostility] = {
    "1,000 headers": with_header("\r\n".join(f"X-{i}: {'y' * 60}" for i in range(1_000)), "inconclusive", "headers"),
    "1,000 times one header": with_header("\r\n".join(["X: y"] * 1_000), "inconclusive", "headers"),
    "header of 60 kB": with_header(f"X: {'y' * 60_000}"),
    "1,000 cookies": with_header("\r\n".join(f"Set-Cookie: a{i}=b" for i in range(1_000)), "inconclusive", "headers"),
    "cookie of another host": with_header("Set-Cookie: a=b; Domain=example.com"),
    "header that is no UTF-8": with_header("X: \u00ff\u00fe"),
    "content type of 60 kB": with_header(f"Content-Type: {';' * 60_000}"),
    "address of a million brackets": with_header("Link: " + "<" * 60_000),
}
"""Headers beside a sound answer."""


def echoing(disguised: Callable[[str], str], header: str = "") -> Hostility:
    """A text that is no JSON with the key of the request in disguise, or a header with it."""

    def answer(connection: Connection, asked: Asked, told: Told) -> None:
        key = disguised(asked.key)
        tells(200, f"key: {key}".encode(), *([f"{header}: {key}"] if header else []))(connection, asked, told)

    return Hostility(answer, "fail", "JSON")


ECHOES: dict[str, Hostility] = {
    "key": echoing(str),
    "key in upper case": echoing(str.upper),
    "key backwards": echoing(lambda key: key[::-1]),
    "key backwards in escapes of JSON": echoing(lambda key: "".join(f"\\u{ord(one):04x}" for one in key[::-1])),
    "key in base64": echoing(lambda key: base64.b64encode(key.encode()).decode()),
    "key in hex": echoing(lambda key: key.encode().hex()),
    "key in percent escapes": echoing(lambda key: "".join(f"%{ord(one):02X}" for one in key)),
    "key in halves": echoing(lambda key: json.dumps({"a": key[:22], "b": key[22:]})),
    "key in a list of characters": echoing(lambda key: json.dumps([*key])),
    "key in lines": echoing(lambda key: "\n".join(key[at : at + 20] for at in range(0, len(key), 20))),
    "key in a header": echoing(str.swapcase, "X-Key"),
    "key in a link": echoing(lambda key: f"<http://127.0.0.1:9/?key={key}>; rel=next", "Link"),
}
"""The key of the request, in what is written of a failure."""

KINDS = {
    "sockets": SOCKETS,
    "JSON": JSON_TEXTS,
    "lists": LISTS,
    "packings": PACKINGS,
    "headers": HEADERS,
    "echoes": ECHOES,
}
