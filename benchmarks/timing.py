"""Things timed in turn, so that a drift of the machine's speed touches all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    measured_ms: float
    against: str
    base_ms: float
    bound: float
    """The largest ratio that is accepted."""

    @property
    def ratio(self) -> float:
        """How many times the base."""
        return self.measured_ms / self.base_ms

    @property
    def kept(self) -> bool:
        """Whether the ratio is within its bound."""
        return self.ratio <= self.bound


def milliseconds(action: Callable[[], object]) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def in_turn(actions: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """The median of each, in milliseconds, after one round that does not count."""
    return medians([partial(milliseconds, action) for action in actions], rounds)


def medians(timings: Sequence[Callable[[], float]], rounds: int) -> list[float]:
    """The same of actions that time themselves."""
    times = [[timing() for timing in timings] for _ in range(rounds + 1)][1:]
    return [statistics.median(of_action) for of_action in zip(*times, strict=True)]
