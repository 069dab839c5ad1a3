"""The findings of the doctor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from conformance.endpoints.log import ExchangeLog
from conformance.problems import StepProblem


class State(StrEnum):
    """The state of what was checked."""

    WELL = "ok"
    WRONG = "wrong"
    DOUBTFUL = "look"
    """It may be right: somebody should look at it."""
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    check: str
    state: State
    found: str
    mend: str = ""
    """What to do about it."""
    ends_run: bool = False
    """Whether the run has to end, because no case could judge the node."""
    tells_run: bool = False
    """Whether a run says it before its cases, though it goes on."""

    def hidden_by(self, hide: Callable[[str], str]) -> Finding:
        """The finding without keys: an answer may repeat those of the requests."""
        return replace(self, found=hide(self.found), mend=hide(self.mend))


def of_problem(check: str, problem: StepProblem, log: ExchangeLog) -> Finding:
    """The finding of a check that met a problem: the operation, what was expected of which member, and what came."""
    operation = "" if problem.exchange is None else log.operation(problem.exchange)
    where = f"{operation}: " if operation else ""
    found = f"{where}{problem.cause}: expected {problem.expected}; got {problem.got}"
    return Finding(check, State.WRONG, found, problem.hint)
