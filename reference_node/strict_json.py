"""JSON from requests, read strictly: bodies of at most 1 MiB, exactly one value in UTF-8, no member twice, no NaN.

Python's parser accepts duplicate members, `Infinity` and lone surrogates, which other parsers refuse or read
differently. They are refused here, so that a request means the same to every reader.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import NoReturn, TypeAlias

from starlette.requests import ClientDisconnect, Request

from reference_node.json_depth import depth
from reference_node.problems import BadRequest, TooLarge, Unprocessable, quoted

BODY_LIMIT = 1024 * 1024
"""Bytes of a request body."""

DEPTH_LIMIT = 64
"""The deepest nesting of arrays and objects."""

INTEGER_DIGITS = 80
"""More digits than any integer of the interface has. Longer ones are cut and remain out of every range."""

NUMBER_LENGTH = 400
"""The most characters of a number with a fraction or an exponent. Any double can be written with fewer."""

_CHARSET = re.compile(r'charset\s*=\s*"?([^\s";]*)', re.IGNORECASE)

_SPACE = re.compile(r"[ \t\n\r]*")

_EXTENT = json.JSONDecoder(parse_int=len, parse_float=len)
"""Finds the end of a value, whatever its numbers are."""

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class WrittenOtherwise(int):
    """An integer with a fraction or an exponent, such as `2.0`: it is the integer 2, but not in plain digits."""


async def read_body(request: Request) -> bytes:
    """The whole body, refused as soon as it is known to be over the limit, chunked or not."""
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:INTEGER_DIGITS]) > BODY_LIMIT:
        raise _too_large()
    chunks = bytearray()
    try:
        async for chunk in request.stream():
            chunks += chunk
            if len(chunks) > BODY_LIMIT:
                raise _too_large()
    except ClientDisconnect:
        raise _incomplete() from None
    return bytes(chunks)


async def skip_body(request: Request) -> None:
    """Read a body that the endpoint does not take to its end.

    Invalid HTTP in it is refused, and a refused request must not have had an effect.
    """
    try:
        async for _ in request.stream():
            pass
    except ClientDisconnect:
        raise _incomplete() from None


def _incomplete() -> BadRequest:
    return BadRequest("body-incomplete", "the connection ended before the whole body had arrived")


def _too_large() -> TooLarge:
    return TooLarge("body-too-large", f"the body is over {BODY_LIMIT} bytes: send less")


def is_json(content_type: str | None) -> bool:
    """Whether a body calls itself `application/json` in UTF-8."""
    media_type, _, parameters = (content_type or "").partition(";")
    charset = _CHARSET.search(parameters)
    return media_type.strip().lower() == "application/json" and (
        charset is None or charset[1].lower() in {"utf-8", "utf8"}
    )


def require_json(content_type: str | None) -> None:
    """Refuse a body that does not call itself `application/json` in UTF-8."""
    if not is_json(content_type):
        raise BadRequest("content-type-not-json", "send the body with the header Content-Type: application/json")


def parse(text: bytes, what: str = "body", *, doubles: bool = False) -> Json:
    """The JSON value in these bytes; `what` names them in codes and details.

    With `doubles` every number may be whatever a double can come near to, as JavaScript has it. Raises `BadRequest`
    for anything that is not exactly one JSON value, `Unprocessable` for strings that no UTF-8 answer could repeat.
    """
    characters = _characters(text, what)
    _refuse_depth(characters, what)
    try:
        value: Json = json.loads(
            characters,
            object_pairs_hook=partial(_members, what),
            parse_constant=partial(_refuse_constant, what),
            parse_int=partial(_double, what) if doubles else _integer,
            parse_float=partial(_double if doubles else _number, what),
        )
    except json.JSONDecodeError as fault:
        raise _not_json(what, f"{fault.msg} at line {fault.lineno}, column {fault.colno}") from None
    if b"\\ud" in text.lower():
        _refuse_lone_surrogates(value, what)
    return value


def member_text(text: bytes, name: str) -> str | None:
    """The source text of a member's value in an object that `parse` has accepted; `None` where it is absent."""
    characters = text.decode()
    at = _after_space(characters, 0)
    while characters[at] != "}":  # at the opening brace, or at a comma
        at = _after_space(characters, at + 1)
        if characters[at] == "}":
            break
        member, at = _EXTENT.raw_decode(characters, at)
        at = _after_space(characters, _after_space(characters, at) + 1)
        _, end = _EXTENT.raw_decode(characters, at)
        if member == name:
            return characters[at:end]
        at = _after_space(characters, end)
    return None


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def repeated(names: Iterable[str]) -> str | None:
    """The first repeated name, if there is one."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _code(what: str, fault: str) -> str:
    return f"{what.replace(' ', '-')}-{fault}"


def _not_json(what: str, reason: str) -> BadRequest:
    return BadRequest(_code(what, "not-json"), f"the {what} is not JSON: {reason}")


def _characters(text: bytes, what: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as fault:
        detail = f"the {what} is not UTF-8: byte {fault.start} cannot be decoded"
        raise BadRequest(_code(what, "not-utf8"), detail) from None


def _refuse_depth(text: str, what: str) -> None:
    """Refuse deep nesting by counting brackets outside strings, since Python's parser would exhaust its stack."""
    if text.count("[") + text.count("{") > DEPTH_LIMIT and depth(text) > DEPTH_LIMIT:
        detail = f"the {what} nests deeper than {DEPTH_LIMIT} levels: flatten it"
        raise BadRequest(_code(what, "too-deep"), detail)


def _members(what: str, pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = quoted(repeated(name for name, _ in pairs) or "")
        detail = f"the {what} has the member {twice!r} twice in one object: send it once"
        raise BadRequest("duplicate-member", detail)
    return members


def _refuse_constant(what: str, name: str) -> NoReturn:
    raise _not_json(what, f"{name} is no JSON number")


def _integer(digits: str) -> int:
    return int(digits[:INTEGER_DIGITS])


def _number(what: str, text: str) -> int | float:
    """A number with a fraction or an exponent; `2.0` is exactly the integer 2, as JSON Schema has it."""
    try:
        number = Decimal(text[:NUMBER_LENGTH])
    except InvalidOperation:  # an exponent of more digits than Decimal takes
        number = None
    if number is None or len(text) > NUMBER_LENGTH or (number and number.adjusted() > INTEGER_DIGITS):
        raise _number_out_of_range(what)
    if not number or (number.adjusted() >= 0 and number.as_integer_ratio()[1] == 1):
        return WrittenOtherwise(number)
    return float(number)


def _double(what: str, text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _number_out_of_range(what)
    return number


def _number_out_of_range(what: str) -> Unprocessable:
    detail = f"a number in the {what} is too large or too long: send a smaller one"
    return Unprocessable("number-out-of-range", detail)


def _refuse_lone_surrogates(value: Json, what: str) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        detail = f"a string in the {what} holds half of a surrogate pair, which is no Unicode text"
        raise Unprocessable("lone-surrogate", detail) from None
