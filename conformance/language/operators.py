"""The named matchers for single values (`matches`, `type`, `length`, …). docs/pack-reference.md lists them."""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic import JsonValue

from conformance.language.matchers import (
    OPERATORS,
    Difference,
    Maker,
    Matcher,
    all_of,
    compile_matcher,
    compile_members,
)
from conformance.language.scope import Scope
from conformance.language.shapes import SCALAR
from conformance.language.templates import CompileContext, compile_value
from conformance.language.words import compile_words
from conformance.problems import BadShape
from conformance.values import json_values
from conformance.values.json_values import MISSING, printed_json, same

JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "integer": int,
    "string": str,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}


def named(name: str) -> Callable[[Maker], Maker]:
    """Register a matcher under its name."""

    def register(maker: Maker) -> Maker:
        OPERATORS[name] = maker
        return maker

    return register


def listed(raw: JsonValue, context: CompileContext) -> list[Matcher]:
    """Compile a list of matchers."""
    if not isinstance(raw, list):
        raise context.problem(BadShape, "takes a list of matchers")
    return [compile_matcher(item, context.at(index)) for index, item in enumerate(raw)]


@named("equals")
def equals(raw: JsonValue, context: CompileContext) -> Matcher:
    """Exactly this value: an object may have no other members."""
    template = compile_value(raw, context)

    def match(value: object, scope: Scope) -> Difference | None:
        wanted = template(scope)
        return None if same(wanted, value) else Difference(f"exactly {printed_json(wanted)}", value)

    return match


@named("not")
def negation(raw: JsonValue, context: CompileContext) -> Matcher:
    """A value that is present and does not match."""
    inner, words = compile_matcher(raw, context), compile_words(raw, context)
    return lambda value, scope: (
        Difference(f"anything but {words(scope)}", value) if value is MISSING or inner(value, scope) is None else None
    )


@named("matches")
def matches(raw: JsonValue, context: CompileContext) -> Matcher:
    """A text in which the regular expression is found."""
    if not isinstance(raw, str):
        raise context.problem(BadShape, "`matches` takes a regular expression")
    try:
        pattern = re.compile(raw)
    except re.error as problem:
        raise context.problem(BadShape, f"{raw!r} is not a regular expression: {problem}") from problem
    return lambda value, _: (
        None if isinstance(value, str) and pattern.search(value) else Difference(f"a text like {raw}", value)
    )


@named("type")
def json_type(raw: JsonValue, context: CompileContext) -> Matcher:
    """A value of this JSON type; true is no integer."""
    if not isinstance(raw, str) or raw not in JSON_TYPES:
        raise context.problem(BadShape, f"`type` takes one of {', '.join(JSON_TYPES)}")
    types = JSON_TYPES[raw]

    def match(value: object, _: Scope) -> Difference | None:
        fits = isinstance(value, types) and (raw == "boolean" or not isinstance(value, bool))
        return None if fits else Difference(f"a value of type {raw}", value)

    return match


@named("length")
def length(raw: JsonValue, context: CompileContext) -> Matcher:
    """A text, array or object whose number of characters, items or members matches."""
    inner = compile_matcher(raw, context.of(SCALAR))

    def match(value: object, scope: Scope) -> Difference | None:
        if not isinstance(value, str | list | dict):
            return Difference("something with a length", value)
        difference = inner(len(value), scope)
        return difference and Difference(f"length {difference.expected}", value)

    return match


@named("at_most")
def at_most(raw: JsonValue, context: CompileContext) -> Matcher:
    """A number that is equal or less."""
    template = compile_value(raw, context)

    def match(value: object, scope: Scope) -> Difference | None:
        limit = template(scope)
        fits = _is_number(value) and _is_number(limit) and value <= limit  # type: ignore[operator]  # both are numbers
        return None if fits else Difference(f"a number of at most {printed_json(limit)}", value)

    return match


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@named("all_of")
def every_matcher(raw: JsonValue, context: CompileContext) -> Matcher:
    """A value that matches all of these matchers."""
    return all_of(listed(raw, context))


@named("any_of")
def any_matcher(raw: JsonValue, context: CompileContext) -> Matcher:
    """A value that matches at least one of these matchers."""
    matchers = listed(raw, context)

    def match(value: object, scope: Scope) -> Difference | None:
        differences = [matcher(value, scope) for matcher in matchers]
        if not all(differences):
            return None
        return Difference(" or ".join(difference.expected for difference in differences if difference), value)

    return match


@named("one_of")
def one_of(raw: JsonValue, context: CompileContext) -> Matcher:
    """A value equal to one of these (a list, or a variable that holds a list)."""
    template = compile_value(raw, context)

    def match(value: object, scope: Scope) -> Difference | None:
        values = template(scope)
        fits = isinstance(values, list) and any(same(wanted, value) for wanted in values)
        return None if fits else Difference(f"one of {printed_json(values)}", value)

    return match


@named("same_hex")
def same_hex(raw: JsonValue, context: CompileContext) -> Matcher:
    """A text with the same hex digits, in upper or lower case, with or without 0x."""
    template = compile_value(raw, context)

    def match(value: object, scope: Scope) -> Difference | None:
        wanted = template(scope)
        return None if json_values.same_hex(value, wanted) else Difference(f"the hex {printed_json(wanted)}", value)

    return match


@named("absent")
def absent(raw: JsonValue, context: CompileContext) -> Matcher:
    """A member that is missing; with `false`, one that is present with any value."""
    if not isinstance(raw, bool):
        raise context.problem(BadShape, "`absent` takes true or false")
    return lambda value, _: (
        None if (value is MISSING) is raw else Difference("no such member" if raw else "any value", value)
    )


@named("members")
def members(raw: JsonValue, context: CompileContext) -> Matcher:
    """An object with these members. Needed for members whose names look like matchers."""
    if not isinstance(raw, dict):
        raise context.problem(BadShape, "`members` takes an object")
    return compile_members(raw, context)
