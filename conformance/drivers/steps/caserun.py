"""One case while it runs: its session with the node, and the variables that the steps of a pack share."""

from __future__ import annotations

from typing import Self

from conformance.endpoints.client import Target
from conformance.language.scope import Scope
from conformance.service.acceptance import Accepted
from conformance.service.reliance import Reliance
from conformance.service.session import Session
from conformance.values.json_values import printed
from conformance.verdict import CellOutcome


class CaseRun(Session):
    """The state that the steps of a case share. A branch has a scope of its own and shares everything else."""

    def __init__(self, target: Target, case_id: str, reliance: Reliance | None = None) -> None:
        super().__init__(target, case_id, reliance)
        self.scope = Scope(target.profile_value, {"base_url": target.base_url, "label": self.label})
        self.accepted: dict[str, Accepted] = {}
        """The accepted steps by id. The control of a refusal must be one of them."""
        self.cells: dict[str, CellOutcome] = {}
        """The outcomes so far of a matrix's cells, by id."""

    def branch(self, name: str) -> Self:
        """The same case, for steps beside those of the case."""
        branch = super().branch(name)
        branch.scope = self.scope.branch()
        return branch

    def account_key(self, name: str) -> str:
        """The API key of an account that a step made."""
        return printed(self.scope.lookup(name, ()))
