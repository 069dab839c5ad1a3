"""Two things timed in turn, so that a drift of the machine's speed touches both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


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


def in_turn(measured: Callable[[], object], base: Callable[[], object], rounds: int) -> tuple[float, float]:
    """The medians of both, in milliseconds, after one round that does not count."""
    pairs = [(milliseconds(measured), milliseconds(base)) for _ in range(rounds + 1)][1:]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)
