"""Matchers: what a pack expects of a value. Compiled once, when the pack is loaded.

A compiled matcher takes the value and the scope, and returns None or the first `Difference`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeAlias

from pydantic import JsonValue

from conformance.language.scope import Scope
from conformance.language.shapes import ANYTHING, Anything, Array, Object, Scalar, Shape, described, member_of
from conformance.language.templates import CompileContext, compile_value
from conformance.language.vocabulary import suggestion
from conformance.language.words import Words, compile_words
from conformance.problems import BadShape, UnknownName
from conformance.values.json_values import member, printed_json, same


@dataclass(frozen=True)
class Difference:
    """Where a value departs from a matcher."""

    expected: str
    got: object
    path: str = ""
    """The path into the value, such as `0.name`; empty for the value itself."""

    def inside(self, name: str | int) -> Difference:
        """The same difference, with its path from one level above."""
        return Difference(self.expected, self.got, f"{name}.{self.path}" if self.path else str(name))


Matcher: TypeAlias = Callable[[object, Scope], Difference | None]
Maker: TypeAlias = Callable[[JsonValue, CompileContext], Matcher]
OPERATORS: dict[str, Maker] = {}
OTHER_WORDS = {
    "is": "equals",
    "eq": "equals",
    "be": "equals",
    "value": "equals",
    "contains": "includes",
    "has": "includes",
    "regex": "matches",
    "pattern": "matches",
    "like": "matches",
    "max": "at_most",
    "maximum": "at_most",
    "lte": "at_most",
}
"""Names of matchers in other tools, to the names here."""


def compile_matcher(raw: JsonValue, context: CompileContext) -> Matcher:
    """Compile the matcher at this place of a pack. Raises LoadProblem for an unknown or incomplete one."""
    if isinstance(raw, list):
        inside = context.of(item_of(context))
        items = [compile_matcher(item, inside.at(index)) for index, item in enumerate(raw)]
        return _each_in_order(items, compile_words(raw, inside))
    if not isinstance(raw, dict) or not raw:
        return equality(raw, context)
    named = raw.keys() & OPERATORS.keys()
    if not named:
        return equality(raw, context) if _report_near_misses(raw, context) else _compile_members(raw, context)
    others = raw.keys() - named
    if others:
        other = sorted(others)[0]
        near = suggestion(other, OPERATORS)
        raise context.at(other).problem(
            UnknownName, f"{other!r} is no matcher, but stands beside the matcher {sorted(named)[0]!r}{near}"
        )
    return _all_of([OPERATORS[name](raw[name], context.at(name)) for name in raw])


def _compile_members(raw: dict[str, JsonValue], context: CompileContext) -> Matcher:
    """Compile a matcher for an object that has these members and may have others."""
    _check_members(raw, context)
    members = {
        name: compile_matcher(value, context.at(name).of(member_of(context.shape, name) or ANYTHING))
        for name, value in raw.items()
    }

    def match(value: object, scope: Scope) -> Difference | None:
        if not isinstance(value, dict):
            return Difference(f"an object with {', '.join(members)}", value)
        for name, matcher in members.items():
            difference = matcher(member(value, name), scope)
            if difference:
                return difference.inside(name)
        return None

    return match


def _report_near_misses(raw: dict[str, JsonValue], context: CompileContext) -> bool:
    """Report names that look like matchers and are none, and say whether there were any.

    Read as member names, they might hold on every node.
    """
    faults = len(context.faults)
    members = context.vocabulary.members | (
        context.shape.members.keys() if isinstance(context.shape, Object) else set()
    )
    for name in raw.keys() - members:
        meant = OTHER_WORDS.get(name, "") or next(iter(get_close_matches(name, OPERATORS, n=1, cutoff=0.75)), "")
        if meant:
            context.at(name).report(UnknownName, f"{name!r} is no matcher; did you mean {meant!r}?")
    return len(context.faults) > faults


def _check_members(raw: dict[str, JsonValue], context: CompileContext) -> None:
    """Report members that a value of the known shape cannot have."""
    if isinstance(context.shape, Array | Scalar):
        context.report(BadShape, f"here is {described(context.shape)}, never an object with {', '.join(raw)}")
    for name in raw:
        if isinstance(context.shape, Object) and name not in context.shape.members:
            near = suggestion(name, context.shape.members)
            context.at(name).report(
                UnknownName, f"there is never a member {name!r}{near} in {described(context.shape)}"
            )


def _all_of(matchers: list[Matcher]) -> Matcher:
    """A matcher that holds where all of these do, and returns the first difference."""
    if len(matchers) == 1:
        return matchers[0]
    return lambda value, scope: next(
        (difference for matcher in matchers if (difference := matcher(value, scope))),
        None,
    )


def _each_in_order(matchers: list[Matcher], words: Words) -> Matcher:
    def match(value: object, scope: Scope) -> Difference | None:
        if not isinstance(value, list) or len(value) != len(matchers):
            return Difference(words(scope), value)
        for index, (item, matcher) in enumerate(zip(value, matchers, strict=True)):
            difference = matcher(item, scope)
            if difference:
                return difference.inside(index)
        return None

    return match


def equality(raw: JsonValue, context: CompileContext, words: str = "") -> Matcher:
    """Compile a matcher for exactly this value, which a failure says behind `words`."""
    template = compile_value(raw, context)

    def match(value: object, scope: Scope) -> Difference | None:
        wanted = template(scope)
        return None if same(wanted, value) else Difference(f"{words}{printed_json(wanted)}", value)

    return match


def item_of(context: CompileContext) -> Shape:
    """The shape of the value's items. Reports a value that is no array."""
    match context.shape:
        case Array(item):
            return item
        case Anything():
            return ANYTHING
        case _:
            context.report(BadShape, f"this is for arrays, and here is {described(context.shape)}")
            return ANYTHING
