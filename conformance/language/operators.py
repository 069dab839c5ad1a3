"""The named matchers (`equals`, `matches`, `includes`, …). docs/pack-reference.md lists them."""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic import JsonValue

from conformance.language.matchers import OPERATORS, Difference, Maker, Matcher, compile_matcher, equality, item_of
from conformance.language.scope import Scope
from conformance.language.shapes import Object, Scalar, described
from conformance.language.templates import CompileContext, compile_value, shape_of
from conformance.language.words import compile_words
from conformance.problems import BadShape
from conformance.values.json_values import printed_json

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


@named("equals")
def equals(raw: JsonValue, context: CompileContext) -> Matcher:
    """Exactly this value: an object may have no other members."""
    return equality(raw, context, "exactly ")


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


# ------------------------------------------------------------------------------------------------------------ arrays


@named("includes")
def includes(raw: JsonValue, context: CompileContext) -> Matcher:
    """An array with a matching item."""
    item = item_of(context)
    if isinstance(item, Object) and isinstance(shape_of(raw, context), Scalar):
        context.report(BadShape, f"{printed_json(raw)} is never an item of {described(context.shape)}")
    inner, words = compile_matcher(raw, context.of(item)), compile_words(raw, context)

    def match(value: object, scope: Scope) -> Difference | None:
        if isinstance(value, list) and any(inner(one, scope) is None for one in value):
            return None
        return Difference(f"something that includes {words(scope)}", value)

    return match


@named("any_order")
def any_order(raw: JsonValue, context: CompileContext) -> Matcher:
    """An array with as many items as matchers, each of which matches another item."""
    if not isinstance(raw, list):
        raise context.problem(BadShape, "takes a list of matchers")
    inside = context.of(item_of(context))
    matchers = [compile_matcher(item, inside.at(index)) for index, item in enumerate(raw)]
    words = compile_words(raw, context)

    def match(value: object, scope: Scope) -> Difference | None:
        if isinstance(value, list) and len(value) == len(matchers):
            fits = [[matcher(item, scope) is None for item in value] for matcher in matchers]
            if _assignable(fits):
                return None
        return Difference(f"in any order {words(scope)}", value)

    return match


def _assignable(fits: list[list[bool]]) -> bool:
    taken: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in seen:
                seen.add(column)
                if column not in taken or place(taken[column], seen):
                    taken[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(fits)))
