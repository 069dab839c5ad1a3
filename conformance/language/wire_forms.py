"""Matchers and functions for JSON texts, hex and keys in answers.

Specification, "Preamble / Conventions" (bodies are JSON), the members that hold hex, and that a key is shown once.
"""

from __future__ import annotations

import json
import re

from pydantic import JsonValue

from conformance.language.functions import function
from conformance.language.matchers import Difference, Matcher
from conformance.language.operators import named
from conformance.language.scope import Scope
from conformance.language.templates import CompileContext, compile_value
from conformance.problems import BadShape, Mismatch
from conformance.values.json_text import parse
from conformance.values.json_values import printed
from conformance.values.key_text import spellings

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


@named("hides")
def hides(raw: JsonValue, context: CompileContext) -> Matcher:
    """A value that does not contain this key in any spelling."""
    template = compile_value(raw, context)

    def match(value: object, scope: Scope) -> Difference | None:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        forms = spellings(printed(template(scope)))
        if not forms:
            return Difference("a key of some length to look for", template(scope))
        return Difference("nothing that discloses the key", value) if any(form in text for form in forms) else None

    return match


@function
def parse_json(_: Scope, text: object) -> object:
    """The value of a JSON text."""
    try:
        return parse(printed(text))
    except ValueError as problem:
        raise Mismatch(f"JSON ({problem})", printed(text)) from None
