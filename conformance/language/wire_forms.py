"""A matcher and functions for how JSON and bytes are written.

Specification, "Preamble / Conventions" (bodies are JSON), and the places that hold hex.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from pydantic import JsonValue

from conformance.language.functions import function
from conformance.language.matchers import Difference, Matcher
from conformance.language.operators import named
from conformance.language.scope import Scope
from conformance.language.templates import CompileContext
from conformance.problems import BadShape, Mismatch
from conformance.values.json_text import parse
from conformance.values.json_values import printed

HEX = re.compile(r"(0x)?([0-9a-fA-F]{2})*")


@named("json_text")
def json_text(raw: JsonValue, context: CompileContext) -> Matcher:
    """A raw body that is empty, or valid JSON without duplicate members."""
    if raw is not True:
        raise context.problem(BadShape, "`json_text` takes true")

    def match(value: object, _: Scope) -> Difference | None:
        if value == "":
            return None
        try:
            parse(str(value))
        except ValueError as problem:
            return Difference(f"a JSON body ({problem})", value)
        return None

    return match


@function
def parse_json(_: Scope, text: object) -> object:
    """The value of a JSON text."""
    try:
        return parse(printed(text))
    except ValueError as problem:
        raise Mismatch(f"JSON ({problem})", printed(text)) from None


@function
def text_hex(_: Scope, text: object) -> str:
    """The UTF-8 bytes of a text as 0x hex."""
    return f"0x{printed(text).encode().hex()}"


@function
def bare_hex(_: Scope, text: object) -> str:
    """Hex digits in lower case without the 0x, to look for them inside longer hex."""
    if not HEX.fullmatch(printed(text)):
        raise Mismatch("hex digits", printed(text))
    return printed(text).removeprefix("0x").lower()


@function
def texts_in_hex(_: Scope, value: object) -> list[str]:
    """All hex anywhere in a value, its bytes read as characters of Latin-1, to search it for texts."""
    return [bytes.fromhex(text.removeprefix("0x")).decode("latin-1") for text in _hex_texts(value)]


def _hex_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if HEX.fullmatch(value):
            yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _hex_texts(inner)


@function
def text_base64(_: Scope, text: object) -> str:
    """The UTF-8 bytes of a text in base64, as the scheme Basic has them."""
    return base64.b64encode(printed(text).encode()).decode()
