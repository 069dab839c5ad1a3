"""One case of a pack while it runs: its session with the node, and the variables that its steps share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from conformance.drivers.steps.unchanged import UnchangedState
from conformance.endpoints.client import Target
from conformance.language.scope import Scope
from conformance.problems import ControlNotAccepted
from conformance.service.acceptance import Accepted
from conformance.service.reliance import Reliance
from conformance.service.session import Session
from conformance.values.json_values import printed
from conformance.verdict import CellOutcome


class CaseRun(Session):
    """What the steps of a case share. A branch has a scope of its own and shares everything else."""

    def __init__(self, target: Target, case_id: str, reliance: Reliance | None = None) -> None:
        super().__init__(target, case_id, reliance)
        self.scope = Scope(self.seed, target.profile_value, {"base_url": target.base_url, "label": self.label})
        self.scope.random = self.random
        self.accepted: dict[str, Accepted] = {}
        """By id, the steps that were accepted: a refusal's control must be among them."""
        self.unchanged = UnchangedState(self)
        self.repeats_reads = True
        """Whether a step that reads a list asks for it also where that was the last thing that was asked for."""
        self.label_of_step = ""
        """The step that runs, as a failure names it."""
        self.judges_of_step: tuple[str, ...] | None = None
        """The requirements that a departure in it breaks; none: it is set-up; None: whoever runs it decides."""
        self._judged_in_round: frozenset[str] | None = None
        self.cells: dict[str, CellOutcome] = {}
        """The cells of a matrix by id, and what has come of them so far."""

    def branch(self, name: str) -> Self:
        """The same case for one of several steps at the same time."""
        branch = super().branch(name)
        branch.scope = self.scope.branch(name)
        branch.scope.random = branch.random
        branch.unchanged = UnchangedState(branch, at_once=True)
        return branch

    @contextmanager
    def judging(self, requirements: frozenset[str] | None) -> Iterator[None]:
        """A round whose steps judge these of their requirements alone; None: all of them."""
        before = self._judged_in_round
        self._judged_in_round = before if requirements is None else requirements
        try:
            yield
        finally:
            self._judged_in_round = before

    def judged_now(self, requirements: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """What a step judges in the round that runs."""
        around = self._judged_in_round
        if requirements is None or around is None:
            return requirements
        return tuple(name for name in requirements if name in around)

    def account_key(self, name: str) -> str:
        """The API key of an account that a step made."""
        return printed(self.scope.lookup(name, ()))

    def control(self, step: str | None, *, accepted: str) -> Accepted:
        """The step that a refusal is held against. ControlNotAccepted: it was not `accepted`, or did not run."""
        if step is None or step not in self.accepted:
            raise ControlNotAccepted(f"that {step} {accepted}", "it was not, or did not run")
        return self.accepted[step]
