"""Which statements the checks prove, which they prove in part, and why the others are not proved yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Self

from pydantic import Field, model_validator

from conformance.requirements.model import Catalogue, Id, Part, Requirement, Text


class NotYet(Part):
    """Statements that no check proves, for one reason."""

    reason: Text
    ids: Annotated[tuple[Id, ...], Field(min_length=1)]


class Partly(Part):
    """Statements that checks prove but for one thing."""

    missing: Text
    ids: Annotated[tuple[Id, ...], Field(min_length=1)]


class Unread(Part):
    """Keys of the profile that no check reads by name, for one reason."""

    reason: Text
    keys: Annotated[tuple[Text, ...], Field(min_length=1)]


class Uncovered(Part):
    """What the checks do not prove."""

    not_yet: tuple[NotYet, ...] = ()
    partly: tuple[Partly, ...] = ()
    unread: tuple[Unread, ...] = ()

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Id to the reason why nothing proves it."""
        return {one: group.reason for group in self.not_yet for one in group.ids}

    @cached_property
    def missing(self) -> dict[str, str]:
        """Id to what its checks leave out."""
        return {one: group.missing for group in self.partly for one in group.ids}

    @model_validator(mode="after")
    def _once(self) -> Self:
        ids = [one for group in self.not_yet for one in group.ids] + [one for group in self.partly for one in group.ids]
        for one in ids:
            if ids.count(one) > 1:
                raise ValueError(f"{one} is listed twice")
        return self


class Coverage(StrEnum):
    """How far the checks prove a statement."""

    COVERED = "covered"
    PARTLY = "partly covered"
    RESTATED = "restated"
    """Proved by the checks of what it restates, all of which is proved in full."""
    NOT_YET = "not yet covered"
    NOT_JUDGED = "not judged"
    """May and silent statements: nothing to prove."""


@dataclass(frozen=True)
class Status:
    """What proves one statement."""

    requirement: Requirement
    coverage: Coverage
    checks: tuple[str, ...] = ()
    """The cases that prove it, those of restated statements included."""
    restates: tuple[str, ...] = ()
    note: str = ""
    """What is missing, or why nothing proves it yet; empty when nobody has said."""


def statuses(catalogue: Catalogue, listed: Uncovered, checks: Mapping[str, Iterable[str]]) -> tuple[Status, ...]:
    """The status of every statement. ``checks``: id to the cases that name it."""
    return tuple(_status(catalogue, listed, checks, requirement) for requirement in catalogue.requirements)


def _status(
    catalogue: Catalogue, listed: Uncovered, checks: Mapping[str, Iterable[str]], requirement: Requirement
) -> Status:
    name = requirement.id
    own = tuple(checks.get(name, ()))
    targets = catalogue.targets(name)
    inherited = tuple(dict.fromkeys(case for target in targets for case in checks.get(target, ())))
    if own and name in listed.missing:
        return Status(requirement, Coverage.PARTLY, own, targets, listed.missing[name])
    if own:
        return Status(requirement, Coverage.COVERED, own, targets)
    if not requirement.judged:
        return Status(requirement, Coverage.NOT_JUDGED)
    if targets and all(checks.get(target) and target not in listed.missing for target in targets):
        return Status(requirement, Coverage.RESTATED, inherited, targets)
    return Status(requirement, Coverage.NOT_YET, inherited, targets, listed.reasons.get(name, ""))


def faults(found: Iterable[Status], listed: Uncovered) -> tuple[str, ...]:
    """What is wrong with the list: a judged statement without proof or reason, and a reason that is no longer true."""
    wrong = []
    for status in found:
        name = status.requirement.id
        proved = status.coverage in {Coverage.COVERED, Coverage.PARTLY, Coverage.RESTATED}
        if status.coverage is Coverage.NOT_YET and not status.note:
            wrong.append(f"{name} is proved by no check, and uncovered.yaml gives no reason")
        if name in listed.reasons and proved:
            wrong.append(f"{name} is listed under not_yet, and {', '.join(status.checks)} proves it")
        if name in listed.reasons and not status.requirement.judged:
            wrong.append(f"{name} is listed under not_yet, and is {status.requirement.level}: nothing is to be proved")
        if name in listed.missing and status.coverage is not Coverage.PARTLY:
            wrong.append(f"{name} is listed under partly, and no check names it")
    return tuple(wrong)
