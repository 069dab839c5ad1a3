"""Values with `${variables}` in them, compiled once when a pack is loaded and resolved each time a step runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pydantic import JsonValue

from conformance.language.case_info import CaseInfo
from conformance.language.scope import Scope, key_and_items
from conformance.language.shapes import ANYTHING, SCALAR, Array, Made, Object, Shape, at_path, described
from conformance.language.vocabulary import Vocabulary, suggestion
from conformance.problems import LoadProblem, UndefinedVariable, UnknownName, raise_all
from conformance.values.json_values import printed
from conformance.values.marked_yaml import Document, Place

Template: TypeAlias = Callable[[Scope], object]
REFERENCE = re.compile(r"\$\$\{|\$\{([^{}]*)\}")
NAME = re.compile(r"[a-z][a-z0-9_]*(\.[A-Za-z0-9_-]+)*", re.ASCII)
ALWAYS_DEFINED = frozenset({"label", "profile", "base_url"})


@dataclass(frozen=True)
class CompileContext:
    """A place in a pack that is being compiled, with the names defined so far; reports errors with file and line."""

    document: Document
    vocabulary: Vocabulary
    place: Place = ()
    names: set[str] = field(default_factory=set)
    info: CaseInfo = field(default_factory=CaseInfo)
    faults: list[LoadProblem] = field(default_factory=list)
    """The faults of the pack that have been reported so far."""
    shapes: dict[str, Shape] = field(default_factory=dict)
    """The shapes of variables, where they are known."""
    shape: Shape = ANYTHING
    """The shape of the value that a matcher at this place is applied to."""

    def at(self, *more: str | int) -> CompileContext:
        """A place inside this one."""
        return self.elsewhere((*self.place, *more))

    def elsewhere(self, place: Place) -> CompileContext:
        """Another place of the pack, with the same names and info."""
        return replace(self, place=place)

    def of(self, shape: Shape) -> CompileContext:
        """The same place, where a matcher is applied to a value of this shape."""
        return replace(self, shape=shape)

    def define(self, name: str, shape: Shape = ANYTHING) -> None:
        """Define a variable for the steps that follow."""
        self.names.add(name)
        self.shapes[name] = shape

    def case(self, info: CaseInfo) -> CompileContext:
        """The same place for a case, with names and info of its own."""
        return CompileContext(self.document, self.vocabulary, self.place, info=info, faults=self.faults)

    def problem(self, kind: type[LoadProblem], message: str) -> LoadProblem:
        """A load error at this place, for the caller to raise where compiling cannot go on."""
        return kind(message, self.document.path, self.document.line(self.place))

    def report(self, kind: type[LoadProblem], message: str) -> None:
        """Record a load error at this place and go on: all errors of the pack are raised together at the end."""
        self.faults.append(self.problem(kind, message))

    def check(self) -> None:
        """Raise the load errors that have been reported, if any."""
        raise_all(self.faults)


def compile_value(raw: JsonValue, context: CompileContext) -> Template:
    """Compile a JSON value whose texts may hold variables. Reports undefined variables."""
    if isinstance(raw, str):
        return _text(raw, context)
    if isinstance(raw, dict) and raw:
        members = {key: compile_value(value, context.at(key)) for key, value in raw.items()}
        return lambda scope: {key: template(scope) for key, template in members.items()}
    if isinstance(raw, list) and raw:
        items = [compile_value(value, context.at(index)) for index, value in enumerate(raw)]
        return lambda scope: [template(scope) for template in items]
    return lambda _: raw


def _text(raw: str, context: CompileContext) -> Template:
    if "${" not in raw:
        return lambda _: raw
    pieces: list[str | Template] = []
    end = 0
    for reference in REFERENCE.finditer(raw):
        pieces += [raw[end : reference.start()], "${" if reference[1] is None else _reference(reference[1], context)]
        end = reference.end()
    pieces.append(raw[end:])
    filled = [piece for piece in pieces if piece != ""]
    if "${" in "".join(piece for piece in (raw[end:], raw[: raw.find("${")]) if piece):
        context.report(UndefinedVariable, f"{raw!r} opens a variable and does not close it")
    if len(filled) == 1 and not isinstance(filled[0], str):
        return filled[0]
    return lambda scope: "".join(piece if isinstance(piece, str) else printed(piece(scope)) for piece in filled)


def _reference(name: str, context: CompileContext) -> Template:
    if not NAME.fullmatch(name):
        context.report(UndefinedVariable, f"${{{name}}} is not a variable name (lower case, digits, _ and dots)")
        return lambda _: None
    root, *path = name.split(".")
    if root == "profile":
        return _profile_reference(path, context)
    if root not in context.names and root not in ALWAYS_DEFINED:
        known = ", ".join(sorted(context.names | ALWAYS_DEFINED))
        context.report(UndefinedVariable, f"${{{name}}} is used before anything defines it; known here: {known}")
    shape = at_path(context.shapes.get(root, ANYTHING), path)
    if shape is None:
        known = described(context.shapes[root])
        context.report(UndefinedVariable, f"${{{name}}} is not there: ${{{root}}} is {known}")
    if isinstance(shape, Made):
        members = " or ".join(f"${{{name}.{member}}}" for member in shape.members)
        context.report(UndefinedVariable, f"${{{name}}} stands for no value: write {members}")
    return lambda scope: scope.lookup(root, path)


def shape_of(raw: JsonValue, context: CompileContext) -> Shape:
    """The shape of a value as a pack writes it, with variables."""
    if isinstance(raw, dict):
        return Object({name: shape_of(value, context) for name, value in raw.items()})
    if isinstance(raw, list):
        return Array(ANYTHING)
    if not isinstance(raw, str):
        return SCALAR
    reference = REFERENCE.fullmatch(raw)
    if reference is None or reference[1] is None:
        return SCALAR
    root, *path = reference[1].split(".")
    return at_path(context.shapes.get(root, ANYTHING), path) or ANYTHING


def _profile_reference(path: list[str], context: CompileContext) -> Template:
    key, _ = key_and_items(path)
    if key not in context.vocabulary.profile_keys:
        context.report(UnknownName, f"the profile has no key {key!r}{suggestion(key, context.vocabulary.profile_keys)}")
    context.info.uses.add(key)
    return lambda scope: scope.lookup("profile", path)
