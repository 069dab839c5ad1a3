"""The matchers of a pack in the words of a failure: what a value is expected to be, with the values of variables."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from conformance.language.scope import Scope
from conformance.language.templates import CompileContext, compile_value
from conformance.values.json_values import printed, printed_json

Words = Callable[[Scope], str]

PHRASES = {
    "matches": "a text like ",
    "type": "a value of type ",
    "includes": "something that includes ",
    "at_most": "at most ",
}
"""Matchers with a word before what they name."""


def compile_words(raw: JsonValue, context: CompileContext) -> Words:
    """The words for a matcher, a list of matchers, or an object of members."""
    template = compile_value(raw, context)
    return lambda scope: in_words(template(scope))


def in_words(matcher: object) -> str:
    """The words for a matcher whose variables are filled in."""
    if isinstance(matcher, list):
        return f"[{', '.join(map(in_words, matcher))}]"
    if not isinstance(matcher, dict):
        return printed_json(matcher)
    if len(matcher) == 1:
        ((name, inner),) = matcher.items()
        if name == "equals":
            return printed_json(inner)
        if name in PHRASES:
            return PHRASES[name] + (printed(inner) if name in {"matches", "type"} else in_words(inner))
    return f"{{{', '.join(f'{name}: {in_words(inner)}' for name, inner in matcher.items())}}}"
