"""Matchers: what a pack expects of a value. Compiled once when the pack is loaded.

A compiled matcher is called with the value and the scope and gives None, or the first `Difference` that it finds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from conformance.language.scope import Scope
from conformance.language.templates import CompileContext, compile_value
from conformance.problems import BadShape, UnknownName
from conformance.values.json_values import MISSING, member, printed, printed_json, same


@dataclass(frozen=True)
class Difference:
    """Where a value departs from a matcher."""

    expected: str
    got: object
    path: str = ""
    """The way into the value, `0.name`; empty for the value itself."""

    def inside(self, name: str | int) -> Difference:
        """The same difference, seen from one level above."""
        return Difference(self.expected, self.got, f"{name}.{self.path}" if self.path else str(name))


Matcher: TypeAlias = Callable[[object, Scope], Difference | None]
Maker: TypeAlias = Callable[[JsonValue, CompileContext], Matcher]
OPERATORS: dict[str, Maker] = {}
CONTINUED = frozenset({"pluck", "where"})
"""Operators that need a `then` beside them."""


def compile_matcher(raw: JsonValue, site: CompileContext) -> Matcher:
    """The matcher that a pack writes at this place. Raises LoadProblem for an unknown or half-written one."""
    if isinstance(raw, list):
        return _each_in_order([compile_matcher(item, site.at(index)) for index, item in enumerate(raw)])
    if not isinstance(raw, dict) or not raw:
        return _equals(raw, site)
    named = raw.keys() & (OPERATORS.keys() | CONTINUED | {"then"})
    if not named:
        return compile_members(raw, site)
    others = raw.keys() - named
    if others:
        other = sorted(others)[0]
        raise site.at(other).problem(
            UnknownName,
            f"{other!r} is no matcher, but stands beside the matcher {sorted(named)[0]!r}; "
            "an object with members of such names is written {members: {…}}",
        )
    return all_of([_operator(name, raw, site) for name in raw if name != "then" or not raw.keys() & CONTINUED])


def compile_members(raw: dict[str, JsonValue], site: CompileContext) -> Matcher:
    """An object that has these members, and may have others."""
    members = {name: compile_matcher(value, site.at(name)) for name, value in raw.items()}

    def match(value: object, scope: Scope) -> Difference | None:
        if not isinstance(value, dict):
            return Difference(f"an object with {', '.join(members)}", value)
        for name, matcher in members.items():
            difference = matcher(value.get(name, MISSING), scope)
            if difference:
                return difference.inside(name)
        return None

    return match


def all_of(matchers: list[Matcher]) -> Matcher:
    """Every matcher holds; the first difference counts."""
    if len(matchers) == 1:
        return matchers[0]
    return lambda value, scope: next(
        (difference for matcher in matchers if (difference := matcher(value, scope))),
        None,
    )


def _operator(name: str, raw: dict[str, JsonValue], site: CompileContext) -> Matcher:
    if name in CONTINUED:
        if "then" not in raw:
            raise site.problem(BadShape, f"{name!r} needs a `then` beside it")
        following = compile_matcher(raw["then"], site.at("then"))
        return _pluck(raw[name], site.at(name), following) if name == "pluck" else _where(raw[name], site, following)
    if name == "then":
        raise site.problem(BadShape, "`then` stands beside `pluck` or `where` only")
    return OPERATORS[name](raw[name], site.at(name))


def _each_in_order(matchers: list[Matcher]) -> Matcher:
    def match(value: object, scope: Scope) -> Difference | None:
        if not isinstance(value, list):
            return Difference(f"an array of {len(matchers)}", value)
        for index, (item, matcher) in enumerate(zip(value, matchers, strict=False)):
            difference = matcher(item, scope)
            if difference:
                return difference.inside(index)
        return None if len(value) == len(matchers) else Difference(f"{len(matchers)} items", value)

    return match


def _equals(raw: JsonValue, site: CompileContext) -> Matcher:
    template = compile_value(raw, site)

    def match(value: object, scope: Scope) -> Difference | None:
        wanted = template(scope)
        return None if same(wanted, value) else Difference(printed_json(wanted), value)

    return match


def _pluck(raw: JsonValue, site: CompileContext, following: Matcher) -> Matcher:
    if not isinstance(raw, str):
        raise site.problem(BadShape, "`pluck` takes the name of a member")

    def match(value: object, scope: Scope) -> Difference | None:
        if not isinstance(value, list):
            return Difference("an array", value)
        difference = following([member(item, raw) for item in value], scope)
        return difference and difference.inside(f"*.{raw}")

    return match


def _where(raw: JsonValue, site: CompileContext, following: Matcher) -> Matcher:
    wanted = compile_matcher(raw, site.at("where"))

    def match(value: object, scope: Scope) -> Difference | None:
        if not isinstance(value, list):
            return Difference("an array", value)
        difference = following([item for item in value if wanted(item, scope) is None], scope)
        return difference and difference.inside(f"(where {printed(raw)})")

    return match
