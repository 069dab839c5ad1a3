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
    """The state that the steps of a case share. A branch has a scope of its own and shares everything else."""

    def __init__(self, target: Target, case_id: str, reliance: Reliance | None = None) -> None:
        super().__init__(target, case_id, reliance)
        self.scope = Scope(self.seed, target.profile_value, {"base_url": target.base_url, "label": self.label})
        self.scope.random = self.random
        self.accepted: dict[str, Accepted] = {}
        """The accepted steps by id. The control of a refusal must be one of them."""
        self.unchanged = UnchangedState(self)
        self.repeats_reads = True
        """Whether a list step sends its request even where nothing was written since the list was last read."""
        self.label_of_step = ""
        """The label of the running step, as failures show it."""
        self.judges_of_step: tuple[str, ...] | None = None
        """The requirements that a departure in it breaks. Empty: the step is set-up. None: the caller decides."""
        self._judged_in_round: frozenset[str] | None = None
        self.cells: dict[str, CellOutcome] = {}
        """The outcomes so far of a matrix's cells, by id."""

    def branch(self, name: str) -> Self:
        """The same case, for steps beside those of the case."""
        branch = super().branch(name)
        branch.scope = self.scope.branch(name)
        branch.scope.random = branch.random
        branch.unchanged = UnchangedState(branch)
        return branch

    @contextmanager
    def judging(self, requirements: frozenset[str] | None) -> Iterator[None]:
        """Limit the steps of a round to these of their requirements; None does not limit them."""
        before = self._judged_in_round
        self._judged_in_round = before if requirements is None else requirements
        try:
            yield
        finally:
            self._judged_in_round = before

    def judged_now(self, requirements: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The requirements that a step judges in the current round."""
        around = self._judged_in_round
        if requirements is None or around is None:
            return requirements
        return tuple(name for name in requirements if name in around)

    def account_key(self, name: str) -> str:
        """The API key of an account that a step made."""
        return printed(self.scope.lookup(name, ()))

    def control(self, step: str | None, *, accepted: str) -> Accepted:
        """The accepted step that is a refusal's control. ControlNotAccepted: it was not `accepted`, or did not run."""
        if step is None or step not in self.accepted:
            raise ControlNotAccepted(f"that {step} {accepted}", "it was not, or did not run")
        return self.accepted[step]
