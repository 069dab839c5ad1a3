"""Validates a part of a pack against its model, and reports every fault at the deepest place that has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from conformance.language.templates import CompileContext
from conformance.problems import BadShape
from conformance.values.marked_yaml import Document, Place

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Fault:
    """What is wrong, and where."""

    place: Place
    message: str


def validated(model: type[M], value: JsonValue, context: CompileContext) -> M | None:
    """The value as its model; None where it does not fit, with every fault reported to the context."""
    try:
        return model.model_validate(value)
    except ValidationError as problem:
        errors = [(tuple(error["loc"]), error) for error in problem.errors(include_url=False)]
    for fault in _faults(errors, context.place, context.document):
        where = ".".join(map(str, fault.place)) or "the pack"
        context.elsewhere(fault.place).report(BadShape, f"{where}: {fault.message}")
    return None


Located = tuple[tuple[str | int, ...], ErrorDetails]
"""An error of pydantic, with its location relative to a place of the document."""


def _faults(errors: Sequence[Located], place: Place, document: Document) -> Iterator[Fault]:
    """The faults at a place and below it; of the branches of a union, only those of the likeliest."""
    below: dict[str | int, list[Located]] = {}
    branches: dict[str | int, list[Located]] = {}
    for loc, error in errors:
        if not loc or (error["type"] == "missing" and len(loc) == 1):
            yield Fault(place, _message(error))
        else:
            group = below if document.has((*place, loc[0])) else branches
            group.setdefault(loc[0], []).append((loc[1:], error))
    for part, inner in below.items():
        yield from _faults(inner, (*place, part), document)
    yield from _likeliest([list(_faults(inner, place, document)) for inner in branches.values()])


def _likeliest(branches: Sequence[Sequence[Fault]]) -> Sequence[Fault]:
    """The faults of the branch of a union that fits the value to the deepest place.

    Where several branches fit equally far, their messages become one fault.
    """
    depths = [max(len(fault.place) for fault in branch) for branch in branches]
    best = [branch for branch, depth in zip(branches, depths, strict=True) if depth == max(depths)]
    if len(best) < 2:
        return [fault for branch in best for fault in branch]
    messages = dict.fromkeys(fault.message for branch in best for fault in branch)
    return [Fault(best[0][0].place, ", or ".join(messages))]


def _message(error: ErrorDetails) -> str:
    if error["type"] == "missing":
        return f"the member {error['loc'][-1]!r} is missing"
    if error["type"] == "extra_forbidden":
        return "there is no such member"
    return str(error["msg"])
