"""Parts of a case: set-up, which judges nothing, and parts that label their problems or say what they judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from conformance.problems import Departure, SetupFailed, StepProblem

REFUSED_CHANGES_NOTHING = "ERR-150"
"""The requirement that a rejected request leaves all state unchanged."""


def broken_by_change(judged: Sequence[str]) -> tuple[str, ...]:
    """The requirements that a changed state breaks, of those that refusals judge: it is news of `ERR-150` alone."""
    return (REFUSED_CHANGES_NOTHING,) if REFUSED_CHANGES_NOTHING in judged else tuple(dict.fromkeys(judged))


@contextmanager
def set_up() -> Iterator[None]:
    """A part that judges nothing: a departure in it becomes SetupFailed, which is inconclusive."""
    try:
        yield
    except Departure as problem:
        raise SetupFailed.of(problem) from problem


@contextmanager
def labelled(label: str) -> Iterator[None]:
    """A part that its problems name as their step, unless they name one already."""
    try:
        yield
    except StepProblem as problem:
        problem.step = problem.step or label
        raise


@contextmanager
def blaming(requirements: Sequence[str] | None) -> Iterator[None]:
    """A part whose departures break these requirements of the case: with none it is set-up; None: all of them."""
    if requirements is not None and not requirements:
        with set_up():
            yield
        return
    try:
        yield
    except Departure as problem:
        if requirements is not None and not problem.judged:
            problem.blame(requirements)
        raise
