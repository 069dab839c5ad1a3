"""What a value can hold, as far as the specification and the profile's keys name it: told from an operation's answer.

The loader uses it to refuse what can never be: a matcher for a member that no answer has either fails on every node or,
inside `excludes` and its like, holds on every node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from conformance.profile import Parameter


@dataclass(frozen=True)
class Anything:
    """A value of which nothing is known."""


@dataclass(frozen=True)
class Scalar:
    """A text, a number, a boolean or null."""


@dataclass(frozen=True)
class Array:
    """An array of items that are alike."""

    item: Shape


@dataclass(frozen=True)
class Object:
    """An object with no members but these, all of which may be missing."""

    members: Mapping[str, Shape]


@dataclass(frozen=True)
class Made(Object):
    """What a step made: only its members can be used, for it is no value of the service's."""


Shape: TypeAlias = Anything | Scalar | Array | Object
ANYTHING = Anything()
SCALAR = Scalar()


def either(shapes: Sequence[Shape]) -> Shape:
    """What is known of a value that has one of these shapes."""
    if all(isinstance(shape, Scalar) for shape in shapes):
        return SCALAR
    if all(isinstance(shape, Object) for shape in shapes):
        found: dict[str, list[Shape]] = {}
        for shape in shapes:
            for name, inner in shape.members.items() if isinstance(shape, Object) else ():
                found.setdefault(name, []).append(inner)
        return Object({name: either(inner) for name, inner in found.items()})
    return ANYTHING


def member_of(shape: Shape, part: str) -> Shape | None:
    """What a path's next part leads to; None when it leads nowhere."""
    match shape:
        case Object(members):
            return members.get(part)
        case Array(item):
            return item if part.removeprefix("-").isdecimal() else None
        case Scalar():
            return None
        case Anything():
            return ANYTHING


def at_path(shape: Shape, path: Sequence[str]) -> Shape | None:
    """What a whole path leads to; None when it leads nowhere."""
    found: Shape | None = shape
    for part in path:
        found = None if found is None else member_of(found, part)
    return found


def names_in(shape: Shape) -> Iterator[str]:
    """The names of all members anywhere in it."""
    match shape:
        case Object(members):
            for name, inner in members.items():
                yield name
                yield from names_in(inner)
        case Array(item):
            yield from names_in(item)


def described(shape: Shape) -> str:
    """A shape in words, for a load error."""
    match shape:
        case Object(members):
            return f"an object with {', '.join(members) or 'no members'}"
        case Array(item):
            return f"an array of {described(item).removeprefix('an ').replace('object', 'objects', 1)}"
        case Scalar():
            return "a text, number or boolean"
        case Anything():
            return "anything"


RECEIPT = Object({"hash": SCALAR, "block": SCALAR, "gas_used": SCALAR, "logs": Array(ANYTHING)})
"""What a `send` step gives."""
LOG = Object({"address": SCALAR, "topics": Array(SCALAR), "data": SCALAR})
TRANSACTIONS = Array(
    Object({"hash": SCALAR, "from": SCALAR, "to": SCALAR, "input": SCALAR, "block": SCALAR, "logs": Array(LOG)})
)
"""What a `transactions` step gives."""


def of_outputs(outputs: Sequence[Parameter]) -> Shape:
    """What a view of the contract gives: its values by their names, or the only one that has no name."""
    if len(outputs) == 1 and not outputs[0].name:
        return _of_parameter(outputs[0])
    return Object({output.name: _of_parameter(output) for output in outputs})


def _of_parameter(parameter: Parameter) -> Shape:
    base: Shape = SCALAR
    if parameter.members:
        base = Object({member.name: _of_parameter(member) for member in parameter.members})
    for _ in range(parameter.type.count("[") - sum(member.type.count("[") for member in parameter.members)):
        base = Array(base)
    return base
