"""One case of a pack while it runs: its session with the node, and the variables that its steps share."""

from __future__ import annotations

from typing import Self

from conformance.drivers.steps.unchanged import UnchangedState
from conformance.endpoints.client import Target
from conformance.language.scope import Scope
from conformance.problems import ControlNotAccepted
from conformance.service.acceptance import Accepted
from conformance.service.session import Session
from conformance.values.json_values import printed
from conformance.verdict import CellOutcome


class CaseRun(Session):
    """What the steps of a case share. A branch has a scope of its own and shares everything else."""

    def __init__(self, target: Target, case_id: str) -> None:
        super().__init__(target, case_id)
        self.scope = Scope(self.seed, target.profile_value, {"base_url": target.base_url, "label": self.label})
        self.scope.random = self.random
        self.accepted: dict[str, Accepted] = {}
        """By id, the steps that were accepted: a refusal's control must be among them."""
        self.unchanged = UnchangedState(self)
        self.label_of_step = ""
        """The step that runs, as a failure names it."""
        self.cells: dict[str, CellOutcome] = {}
        """The cells of a matrix by id, and what has come of them so far."""

    def branch(self, name: str) -> Self:
        """The same case for one of several steps at the same time."""
        branch = super().branch(name)
        branch.scope = self.scope.branch(name)
        branch.scope.random = branch.random
        branch.unchanged = UnchangedState(branch, at_once=True)
        return branch

    def account_key(self, name: str) -> str:
        """The API key of an account that a step made."""
        return printed(self.scope.lookup(name, ()))

    def control(self, step: str | None, *, accepted: str) -> Accepted:
        """The step that a refusal is held against. ControlNotAccepted: it was not `accepted`, or did not run."""
        if step is None or step not in self.accepted:
            raise ControlNotAccepted(f"that {step} {accepted}", "it was not, or did not run")
        return self.accepted[step]
