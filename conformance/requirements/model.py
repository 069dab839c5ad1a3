"""The requirement catalogue: every checkable statement of the specification, with a stable id."""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from conformance.requirements.specification import sections

Id = Annotated[str, Field(pattern=r"^[A-Z]+-\d{3}$")]
Text = Annotated[str, Field(min_length=1)]


class Level(StrEnum):
    """How much the specification demands."""

    MUST = "must"
    """It says so."""
    SHOULD = "should"
    """It follows from what it says; the text names from what."""
    MAY = "may"
    """It allows it; nothing is judged."""
    SILENT = "silent"
    """It leaves it open; the profile answers."""


class Matter(StrEnum):
    """What a statement is about, where some failures of its cases do not break it, or break it and no other one."""

    ACCEPTED_REQUESTS = "accepted requests"
    """What an accepted request does, shows or costs."""
    REFUSED_REQUESTS = "refused requests"
    """What a refused request does and answers."""
    REJECTION = "rejection"
    """That a request is refused, and no more: a refused request that changes state breaks other statements."""
    UNCHANGED_STATE = "unchanged state"
    """That a refused request changes nothing."""
    NO_SUCCESS = "no success"
    """That a refusal is no success, and does not give what a success gives."""
    NO_SERVER_FAULT = "no server fault"
    """That a refusal is neither a success nor a server fault."""
    SECRETS = "secrets"
    """That answers tell no secret."""
    WALLETS_KEYS = "wallets' keys"
    """That a run uses the key of the wallet that it names."""
    BODIES = "bodies"
    """That bodies are JSON: also those of refusals, where they call themselves so."""
    ACCOUNT_KEYS = "account keys"
    """What account keys open in `X-Api-Key`, and what is open to all. Nearly every case sends requests so: what is
    refused for another reason, the case about that request charges."""
    PATHS = "paths"
    """Where endpoints are: one that asks for a key is there."""
    DESCRIPTION = "description"
    """What a node says of itself: an answer that contradicts it does so whatever else is wrong."""


class Part(BaseModel):
    """A part of the catalogue file."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Requirement(Part):
    """One statement."""

    id: Id
    """Family and number. Never reused, never renumbered."""
    section: str
    """The headings under which the specification says it."""
    items: tuple[int, ...] = ()
    """The numbered items of that section which say it."""
    level: Level = Level.MUST
    text: Text
    """The statement. `follows from` says why a statement is there that the specification does not spell out."""
    demands: Literal["acceptance", "refusal"] | None = None
    """Whether it is about requests that have to be accepted alone, or refused alone: a departure of the other sort does
    not break it."""
    about: tuple[Matter, ...] = ()
    """Which failures break it or do not; most statements say nothing."""
    profile_key: str | None = None
    """Of a silent statement: the key of the profile that answers."""
    reference_choice: Text | None = None
    """Of a silent statement: the reference node's answer, in words."""

    @property
    def family(self) -> str:
        """The letters of the id."""
        return self.id.partition("-")[0]

    @property
    def judged(self) -> bool:
        """Whether a check has to prove it."""
        return self.level in {Level.MUST, Level.SHOULD}

    @property
    def place(self) -> str:
        """Section and items in words."""
        if not self.items:
            return self.section
        return f"{self.section} ({'item' if len(self.items) == 1 else 'items'} {', '.join(map(str, self.items))})"

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.section not in sections():
            raise ValueError(f"{self.id}: the specification has no section {self.section!r}")
        if missing := set(self.items) - sections()[self.section]:
            raise ValueError(f"{self.id}: {self.section!r} has no item {min(missing)}")
        silent = self.level is Level.SILENT
        if silent != (self.profile_key is not None) or silent != (self.reference_choice is not None):
            raise ValueError(
                f"{self.id}: profile_key and reference_choice belong to silent statements, and to no others"
            )
        return self


class Tension(Part):
    """A place where the text allows several readings."""

    ids: Annotated[tuple[Id, ...], Field(min_length=1)]
    text: Text
    readings: Annotated[tuple[Text, ...], Field(min_length=1)]
    decided: Text
    """The reading that the suite and the reference node follow."""


class Catalogue(Part):
    """All statements."""

    requirements: tuple[Requirement, ...]
    tensions: tuple[Tension, ...]
    restatements: dict[Id, Annotated[tuple[Id, ...], Field(min_length=1)]]
    """A statement that says again what others say, to those others: their checks prove it."""

    @cached_property
    def by_id(self) -> dict[str, Requirement]:
        """Each statement by its id, in the order of the file."""
        return {requirement.id: requirement for requirement in self.requirements}

    @cached_property
    def families(self) -> dict[str, tuple[Requirement, ...]]:
        """The statements of each family, in the order of the file."""
        names = dict.fromkeys(requirement.family for requirement in self.requirements)
        return {name: tuple(entry for entry in self.requirements if entry.family == name) for name in names}

    @cached_property
    def about(self) -> dict[Matter, frozenset[str]]:
        """The ids of the statements about each matter."""
        return {
            matter: frozenset(entry.id for entry in self.requirements if matter in entry.about) for matter in Matter
        }

    @cached_property
    def silent(self) -> tuple[Requirement, ...]:
        """What the specification leaves open."""
        return tuple(entry for entry in self.requirements if entry.level is Level.SILENT)

    def targets(self, restated: str) -> tuple[str, ...]:
        """What a restatement says again, down to statements that are none."""
        reached: dict[str, None] = {}
        for target in self.restatements.get(restated, ()):
            reached.update(dict.fromkeys(self.targets(target) or (target,)))
        return tuple(reached)

    @model_validator(mode="after")
    def _ids_agree(self) -> Self:
        if len(self.by_id) != len(self.requirements):
            ids = [requirement.id for requirement in self.requirements]
            raise ValueError(f"{next(one for one in ids if ids.count(one) > 1)} is used twice")
        for tension in self.tensions:
            self._known(tension.ids, "a tension")
        for restated, targets in self.restatements.items():
            self._known((restated, *targets), "a restatement")
            self._ends(restated, ())
        return self

    def _known(self, ids: tuple[str, ...], where: str) -> None:
        for name in ids:
            if name not in self.by_id:
                raise ValueError(f"{where} names {name}, which does not exist")

    def _ends(self, name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"{name} restates itself")
        for target in self.restatements.get(name, ()):
            self._ends(target, (*above, name))
