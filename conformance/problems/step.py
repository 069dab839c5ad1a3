"""The two kinds of problems of a step: a departure of the node, and an inconclusive step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from conformance.problems.problem import Problem


class StepProblem(Problem):
    """A problem of a step. The runner adds which step it was."""

    def __init__(self, expected: str, got: str, exchange: int | None = None) -> None:
        self.expected = expected
        self.got = got
        self.exchange = exchange
        """Number of the exchange in the case's log that shows it."""
        self.beside: tuple[str, ...] = ()
        """The further failures of the case: where, what was expected and what came."""
        self.others: tuple[int, ...] = ()
        """The numbers of the exchanges that show those."""
        self.step = ""
        """The label of the step; the step that raised the problem fills it in."""
        self.requirements: tuple[str, ...] = ()
        """The requirements of the case that it contradicts, where known; otherwise it counts for all of them."""
        self.judged = False
        """Whether a judging step or a judge's block has charged its requirements with it."""
        self.assumed: dict[str, object] | None = None
        """The assumed profile values, by key, that the case had relied on by then; None: not determined yet."""
        self.replay = ""
        """A pack that shows the failure by itself, for a case whose steps were generated."""
        super().__init__(self.told)

    @property
    def told(self) -> str:
        """What was expected and what came."""
        return f"expected {self.expected}; got {self.got}"


class Departure(StepProblem):
    """The node departs from the specification."""

    code = "departure"
    cause = "the node departs from what the step says"
    was_refused = False
    """Whether what had to be refused was, only otherwise than it must be."""

    def blame(self, requirements: Sequence[str]) -> None:
        """Count it against these requirements, unless it names those that it contradicts itself.

        Raises SetupFailed where there are none: nothing is judged yet.
        """
        self.requirements = self.requirements or tuple(requirements)
        if not self.requirements:
            raise SetupFailed.of(self) from self
        self.judged = True

    @property
    def told_beside(self) -> tuple[str, ...]:
        """It and the failures beside it, as another failure names them."""
        return (f"{self.step}: {self.told}" if self.step else self.told, *self.beside)

    @classmethod
    def first_of(cls, failures: Sequence[Departure]) -> Departure:
        """The first of several independent failures, with the requirements of all of them.

        Failures that depend on assumed profile values count only where there are no others. A refusal with another
        status than it must have comes after all else: it tells least.
        """
        certain = [failure for failure in failures if not failure.assumed] or list(failures)
        certain.sort(key=lambda failure: failure.was_refused)
        first = certain[0]
        first.requirements = tuple(dict.fromkeys(name for failure in certain for name in failure.requirements))
        shown_by = (number for one in certain for number in (one.exchange, *one.others) if number is not None)
        first.others = tuple(number for number in dict.fromkeys(shown_by) if number != first.exchange)
        first.beside += tuple(line for failure in certain[1:] for line in failure.told_beside)
        return first


class Inconclusive(StepProblem):
    """Nothing was learnt about the requirement."""

    code = "inconclusive"
    cause = "nothing was learnt about the requirement"


class SetupFailed(Inconclusive):
    """A departure before anything is judged: what the case is about could not be reached."""

    code = "blocked"
    cause = "blocked: a step that prepares did not go as it should"
    hint = "look for a failing case about that operation: it tells more"
    judged_by = ""
    """The case that judges the failed set-up; empty where no single case does."""

    @classmethod
    def of(cls, problem: Departure) -> Self:
        """The problem for a departure in set-up."""
        failure = cls(problem.expected, f"{problem.got} ({problem.cause})", problem.exchange)
        failure.step, failure.assumed = problem.step, problem.assumed
        return failure
