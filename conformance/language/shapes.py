"""Shapes: what a value can hold, as far as the specification and the profile name the members.

The loader uses them to refuse matchers for members that no answer has: such a matcher fails on every node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Anything:
    """A value of unknown shape."""


@dataclass(frozen=True)
class Scalar:
    """A text, a number, a boolean or null."""


@dataclass(frozen=True)
class Array:
    """An array of items of one shape."""

    item: Shape


@dataclass(frozen=True)
class Object:
    """An object that has only these members, each of which may be missing."""

    members: Mapping[str, Shape]


@dataclass(frozen=True)
class Made(Object):
    """An object that a step made. Only its members can be used: the object itself is no value of the service."""


Shape: TypeAlias = Anything | Scalar | Array | Object
ANYTHING = Anything()
SCALAR = Scalar()


def member_of(shape: Shape, part: str) -> Shape | None:
    """The shape of a member or item; None where the shape has none of this name."""
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
    """The shape at a path; None where the path leads nowhere."""
    reached: Shape | None = shape
    for part in path:
        reached = None if reached is None else member_of(reached, part)
    return reached


def names_in(shape: Shape) -> Iterator[str]:
    """The names of all members of a shape, at every depth."""
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
