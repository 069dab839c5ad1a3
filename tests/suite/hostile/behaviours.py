"""What hostile nodes do, by name, with the verdict that each deserves. A new behaviour is a new row of a table."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Callable

from hostile_connections import BROKEN, LARGE, REDIRECTS, Behaviour, Connection, body
from spoiling_node import Hostility, bytes_of, tells
from tiny_node import Asked, Told

MILLION = 1_000_000
LARGEST = 32 * 1024 * 1024
"""The longest body that the suite reads."""
GROUP = {"id": 1, "name": "g", "description": ""}


def whatever_is_asked(behaviour: Behaviour, verdict: str, said: str = "") -> Hostility:
    """A behaviour of a connection as one of a node."""
    return Hostility(lambda connection, _asked, _told: behaviour(connection), verdict, said)


def json_text(text: str, verdict: str = "fail", said: str = "JSON") -> Hostility:
    """A 200 with this text."""
    return Hostility(tells(200, text.encode("utf-8", "surrogatepass")), verdict, said)


def harmless(text: str) -> Hostility:
    """A 200 with a text that the case takes: it asks for JSON alone."""
    return json_text(text, "pass", "")


def packed(raw: bytes, encoding: str, verdict: str, said: str) -> Hostility:
    """A 200 with these bytes under a Content-Encoding."""
    return Hostility(tells(200, raw, f"Content-Encoding: {encoding}"), verdict, said)


def with_header(header: str, verdict: str = "pass", said: str = "") -> Hostility:
    """The sound answer with further headers."""
    return Hostility(lambda c, asked, told: tells(told.status, bytes_of(told), header)(c, asked, told), verdict, said)


SOCKETS: dict[str, Hostility] = {
    **{
        name: whatever_is_asked(behaviour, "inconclusive", "expected an answer within the limits")
        for name, (behaviour, _) in LARGE.items()
    },
    **{name: whatever_is_asked(behaviour, "fail") for name, (behaviour, _) in (BROKEN | REDIRECTS).items()},
    "bomb in two layers": whatever_is_asked(LARGE["bomb in two layers"][0], "fail", "identity was asked for"),
    "limits the rate": whatever_is_asked(BROKEN["limits the rate"][0], "inconclusive", "status 429"),
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
    "fraction of a million digits": harmless(f"[0.{'9' * MILLION}]"),
    "exponent of a million digits": harmless(f"[1e{'9' * MILLION}]"),
    "number beyond all doubles": harmless('[{"id": 1e999, "name": "g", "description": ""}]'),
    "NaN": json_text('[{"id": NaN, "name": "g", "description": ""}]'),
    "Infinity": json_text("[Infinity]"),
    "member twice": json_text('[{"id": 1, "id": 2, "name": "g", "description": ""}]'),
    "members twice, 100,000 of them": json_text("{" + '"a":1,' * 100_000 + '"a":1}'),
    "100,000 members": harmless(json.dumps(dict.fromkeys(map(str, range(100_000)), 0))),
    "members whose hashes collide": harmless(json.dumps({str(2**61 * i): 0 for i in range(20_000)})),
    "lone surrogate": harmless('["\\ud800"]'),
    "NUL bytes": json_text("\0" * MILLION),
    "byte order mark": json_text("\ufeff[]"),
    "text that is none": Hostility(tells(200, b"\xff\xfe" * MILLION), "fail", "UTF-8"),
    "UTF-16": Hostility(tells(200, "[]".encode("utf-16")), "fail", "UTF-8"),
    "list in a string": harmless('"[]"'),
    "null": harmless("null"),
    "true": harmless("true"),
    "empty body": harmless(""),
    "HTML with a million titles": json_text("<html>" + "<title>" * 150_000),
    "HTML with a title without an end": json_text("<html><title" + " " * MILLION),
    "event stream of 100,000 events": json_text("data: []\n\n" * 100_000),
}
"""Texts in place of JSON."""

LISTS: dict[str, Hostility] = {
    "group named by a megabyte": harmless(json.dumps([{**GROUP, "name": "x" * MILLION}])),
    "group numbered by 4,000 digits": harmless(json.dumps([{**GROUP, "id": "9" * 4_000}])),
    "group with a thousand members": harmless(json.dumps([GROUP | dict.fromkeys(map(str, range(1_000)), 0)])),
    "list of lists": harmless("[[[[[]]]]]"),
    "100,000 groups": harmless(json.dumps([{**GROUP, "id": i} for i in range(100_000)])),
    "million nulls": harmless("[" + "null," * (MILLION - 1) + "null]"),
    "million empty objects": json_text("[" + "{}," * (MILLION - 1) + "{}]", "inconclusive", "bytes of memory"),
    "600,000 groups": json_text("[" + ",".join([json.dumps(GROUP)] * 600_000) + "]", "inconclusive", "bytes of memory"),
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


def told(status: str, text: str = "{}", *headers: str, verdict: str = "fail") -> Hostility:
    """An answer with this status, which a case that does not pass names."""
    said = "" if verdict == "pass" else f"status {status.split(maxsplit=1)[0]}"
    return Hostility(lambda c, _asked, _told: body(text.encode(), *headers, status=status)(c), verdict, said)


def put_off(after: str, *headers: str) -> Hostility:
    """A 429 that asks to come again after so long."""
    return told("429 Slow", "{}", f"Retry-After: {after}", *headers, verdict="inconclusive")


STATUSES: dict[str, Hostility] = {
    "no content": told("204 None", "", verdict="pass"),
    "part of a page": told("206 Part", "[]", "Content-Range: bytes 0-1/2", verdict="pass"),
    "not modified": told("304 Same", ""),
    "choices": told("300 Many", "[]"),
    "moved for good, to this address": told("301 Moved", "", "Location: ?"),
    "moved to a script": told("308 Moved", "", "Location: javascript:alert(1)"),
    "moved to a user of this host": told("307 Moved", "", "Location: http://user:word@127.0.0.1:9/"),
    "moved without a place": told("302 Moved", ""),
    "moved to no host": told("307 Moved", "", "Location: //"),
    "refused at length": told("400 No", json.dumps({"error": "x" * MILLION})),
    "refused with a page": told("403 No", "<html><title>" + "no " * 100_000),
    "refused with a challenge of 60 kB": told("401 No", "{}", f"WWW-Authenticate: {'a=b,' * 15_000}"),
    "refused with links of a terminal": told("400 No", "\x1b]8;;http://127.0.0.1:9/\x07here\x1b]8;;\x07"),
    "refused with commands of jobs": told("400 No", "x\n::error::x\n##vso[task.x]\n##[group]x"),
    "refused with markup": told("400 No", "<img src=x onerror=alert(1)>[x](javascript:alert(1))|x|\n# x\n]]>"),
    "refused with text from right to left": told("400 No", "\u202e\u2066\u200b\u200dabc\ufeff"),
    "refused with a formula": told("400 No", "=cmd|' /C calc'!A0"),
    "refused with variables of a shell": told("400 No", "$(touch /tmp/x) `id` ${HOME} '; id; '"),
    "proxy asks who is there": told("407 Who", "{}", "Proxy-Authenticate: Basic"),
    "too early": told("425 Early"),
    "gone for reasons of law": told("451 Law"),
    "fault with a page without an end": told("500 Fault", "<html><title " + "x" * MILLION),
    "version not supported": told("505 Version"),
    "status of nobody": told("599 Nobody"),
    "status beyond all": told("999 Beyond"),
    "put off for 60,000 digits": put_off("9" * 60_000),
    "put off for an hour": put_off("3600"),
    "put off for a negative time": put_off("-5"),
    "put off for digits of another script": put_off("\u0669\u0669"),
    "put off to no date": put_off("Fri, 31 Foo 9999"),
    "put off to a date in a zone of 14 digits": put_off("Fri, 31 Dec 9999 23:59:59 +99999999999999"),
    "put off to a date before its own": put_off("Mon, 01 Jan 0001 00:00:00 GMT", "Date: Fri, 31 Dec 9999 23:59:59 GMT"),
    "dated before 1970": with_header("Date: Mon, 01 Jan 0001 00:00:00 GMT"),
    "dated in a zone of 14 digits": with_header("Date: Fri, 31 Dec 9999 23:59:59 +99999999999999"),
    "ranges of 60 kB": with_header(f"Accept-Ranges: {'bytes,' * 10_000}"),
    "cookie with the name of a header": with_header("Set-Cookie: X-Api-Key=stolen; Path=/"),
    "policy of 60 kB": with_header(f"Strict-Transport-Security: {'max-age=1;' * 6_000}"),
    "alternative service": with_header('Alt-Svc: h2="127.0.0.1:9"; ma=99999999'),
    "refresh": with_header("Refresh: 0; url=http://127.0.0.1:9/"),
}
"""Statuses and headers of an answer."""


def member(name: str, value: object, verdict: str) -> Hostility:
    """The sound answer with another value of a member."""

    def answer(connection: Connection, asked: Asked, told: Told) -> None:
        sound = told.body if isinstance(told.body, dict) else {}
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        raw = json.dumps(sound | {name: 0}).encode()
        tells(told.status, raw.replace(f'"{name}": 0'.encode(), f'"{name}": '.encode() + text))(connection, asked, told)

    return Hostility(answer, verdict, "")


STRANGE: dict[str, object] = {
    "null": None,
    "number": 7,
    "number of a thousand digits": b"9" * 1_000,
    "number of 100,000 digits": b"9" * 100_000,
    "number beyond all doubles": b"1e999",
    "true": True,
    "list": ["x" * 44],
    "object": {"x": "y" * 44},
    "objects 150 deep": json.loads('{"x":' * 150 + "1" + "}" * 150),
    "empty text": "",
    "blanks": " " * 44,
    "NUL characters": "\0" * 44,
    "line breaks with a header": "x" * 44 + "\r\nX-Evil: 1\r\n\r\nGET / HTTP/1.1",
    "half a surrogate pair": "\ud800" * 44,
    "characters that become eighteen": "\ufdfa" * 400,
    "text from right to left": "\u202e" + "x" * 44,
    "sequence of a terminal": "\x1b[2J" + "x" * 44,
    "name of a variable": "$API_KEY_1$API_KEY_1$API_KEY_1",
    "template of a pack": "${alice}${profile.base_url}${env.HOME}",
    "commands of a shell": "'; touch /tmp/x; echo '$(id)`id`",
    "mark of a hidden key": "[private key][private key][redacted]",
    "one letter": "a" * 44,
    "ten letters": "abcdefghij",
    "hex of 2,048 bytes": "ab" * 2_048,
    "base64 of base64": base64.b64encode(base64.b64encode(b"V" * 900)).decode(),
    "megabyte": "k" * MILLION,
    "path": "../../../../etc/passwd",
    "address": "http://user:word@127.0.0.1:9/?x=" + "y" * 44,
    "escapes in escapes": "%252541" * 200,
    "entities": "&amp;#x41;" * 200,
    "YAML": "x: !!python/object/apply:os.system [id]\n---\n&a *a",
}
"""Values in place of a key or an id."""
UNSENT = {"blanks", "NUL characters", "line breaks with a header", "YAML", "megabyte"}
"""What no header can hold, or is longer than the suite sends: such a key is not sent."""
KEYS = {name: member("api_key", value, "inconclusive" if name in UNSENT else "fail") for name, value in STRANGE.items()}
"""The key of a new account, with which the case lists groups then."""
IDS = {name: member("group_id", value, "fail") for name, value in STRANGE.items()}
"""The id of a new group, which the case removes then."""

KINDS = {
    "sockets": SOCKETS,
    "JSON": JSON_TEXTS,
    "lists": LISTS,
    "packings": PACKINGS,
    "headers": HEADERS,
    "statuses": STATUSES,
    "echoes": ECHOES,
    "keys": KEYS,
    "ids": IDS,
}
"""The behaviours by what they spoil."""
STEPS = {
    "keys": """
      - {call: new_account, with: {account_name: "${behaviour}", account_description: d}, save: {key: api_key}}
      - {call: list_groups, as: "${key}", with: {page_number: 0, page_size: 9}}""",
    "ids": """
      - {call: add_group, with: {group_name: "${behaviour}", group_description: d}, save: {id: group_id}}
      - {call: remove_group, with: {group_id: "${id}"}}""",
}
"""The steps of a case, where it does not just list groups."""
LISTS_GROUPS = """
      - {call: list_groups, with: {page_number: 0, page_size: "${size}"}}"""
