"""Parts of a driver's case: what leads up to the matter, and parts whose problems carry a name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conformance.problems import Departure, SetupFailed, StepProblem


@contextmanager
def set_up() -> Iterator[None]:
    """A part that judges nothing: a departure in it is trouble with the set-up, and inconclusive."""
    try:
        yield
    except Departure as problem:
        raise SetupFailed.of(problem) from problem


@contextmanager
def labelled(label: str) -> Iterator[None]:
    """A part whose problems name it as their step, unless they name one already."""
    try:
        yield
    except StepProblem as problem:
        problem.step = problem.step or label
        raise
