"""The named matchers for arrays (`includes`, `every`, `unique`, …). docs/pack-reference.md lists them."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from conformance.language.matchers import Difference, Matcher, compile_matcher, item_of
from conformance.language.operators import listed, named
from conformance.language.scope import Scope
from conformance.language.shapes import ANYTHING, Array, Object, Scalar, described
from conformance.language.templates import CompileContext, compile_value, shape_of
from conformance.language.words import compile_words
from conformance.problems import BadShape
from conformance.values.json_values import printed_json


def _holds_part(raw: JsonValue, context: CompileContext) -> Callable[[object, Scope], bool | None]:
    inner = compile_matcher(raw, _inside(raw, context))
    text = compile_value(raw, context) if isinstance(raw, str) else None

    def holds(value: object, scope: Scope) -> bool | None:
        if isinstance(value, list):
            return any(inner(item, scope) is None for item in value)
        if isinstance(value, str) and text:
            return str(text(scope)) in value
        return None

    return holds


def _inside(raw: JsonValue, context: CompileContext) -> CompileContext:
    """The context of the value's items. Reports an item that no value of this shape can have."""
    if isinstance(context.shape, Object):
        context.report(BadShape, f"this is for arrays and texts, and here is {described(context.shape)}")
    item = context.shape.item if isinstance(context.shape, Array) else ANYTHING
    if isinstance(item, Object) and isinstance(shape_of(raw, context), Scalar):
        context.report(BadShape, f"{printed_json(raw)} is never an item of {described(context.shape)}")
    return context.of(item)


@named("includes")
def includes(raw: JsonValue, context: CompileContext) -> Matcher:
    """An array with a matching item, or a text that contains this one."""
    holds, words = _holds_part(raw, context), compile_words(raw, context)
    return lambda value, scope: (
        None if holds(value, scope) else Difference(f"something that includes {words(scope)}", value)
    )


@named("excludes")
def excludes(raw: JsonValue, context: CompileContext) -> Matcher:
    """An array without a matching item, or a text that does not contain this one."""
    holds, words = _holds_part(raw, context), compile_words(raw, context)
    return lambda value, scope: (
        None if holds(value, scope) is False else Difference(f"something that excludes {words(scope)}", value)
    )


@named("items")
def items(raw: JsonValue, context: CompileContext) -> Matcher:
    """An array of exactly these items, in this order."""
    if not isinstance(raw, list):
        raise context.problem(BadShape, "takes a list of matchers")
    return compile_matcher(raw, context)


@named("any_order")
def any_order(raw: JsonValue, context: CompileContext) -> Matcher:
    """An array with as many items as matchers, each of which matches another item."""
    matchers, words = listed(raw, context.of(item_of(context))), compile_words(raw, context)

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


@named("every")
def every(raw: JsonValue, context: CompileContext) -> Matcher:
    """An array with at least one item, all of which match."""
    inner = compile_matcher(raw, context.of(item_of(context)))

    def match(value: object, scope: Scope) -> Difference | None:
        if not isinstance(value, list):
            return Difference("an array", value)
        for index, item in enumerate(value):
            difference = inner(item, scope)
            if difference:
                return difference.inside(index)
        return None if value else Difference("an array with at least one item", value)

    return match
