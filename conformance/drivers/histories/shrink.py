"""Shrinks a failing history: fewer acts at the same time, fewer rounds, fewer acts before them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Generic, TypeVar

from conformance.drivers.histories.drawing import Acts
from conformance.problems import Departure, Inconclusive, SetupFailed

F = TypeVar("F")
SHRINKING = 80
"""The most histories that are played to shrink a failing one."""
TIMES = 3
"""How often a shorter history is played: what fails depends on which request comes first."""


class Shrinking(Generic[F]):
    """Looks for a short history that fails, by leaving out parts of a long one."""

    def __init__(self, play: Callable[[Acts], tuple[Acts, F] | None], most: int = SHRINKING) -> None:
        """`play` gives what was sent of a history, and how it fails; None where it does not."""
        self._play = play
        self._left = most
        self._tried: set[Acts] = set()

    def shortest(self, acts: Acts, failed: F) -> tuple[Acts, F]:
        """A history that fails, and how. It is the shortest one where enough plays were left to try each part."""
        for shorter in _shorter(acts):
            again = self._fails(shorter)
            if again is not None:
                return self.shortest(*again)
        return acts, failed

    def _fails(self, acts: Acts) -> tuple[Acts, F] | None:
        if acts in self._tried:
            return None
        self._tried.add(acts)
        for _ in range(TIMES):
            if not self._left:
                return None
            self._left -= 1
            try:
                again = self._play(acts)
            except (Departure, SetupFailed):  # another failure, or none of what is sent at the same time
                return None
            except Inconclusive:  # the failure is known already
                self._left = 0
                return None
            if again is not None:
                return again
        return None


def _shorter(acts: Acts) -> Iterator[Acts]:
    """The history without some of its parts, large ones first. Its last round is the one that fails."""
    *earlier, last = acts.rounds
    if len(earlier) > 1:
        yield replace(acts, rounds=(last,))
    for number in range(len(earlier)):
        yield replace(acts, rounds=(*earlier[:number], *earlier[number + 1 :], last))
    for place, row in reversed([*enumerate(acts.rounds)]):
        for number in range(len(row) if len(row) > 1 else 0):
            fewer = (*row[:number], *row[number + 1 :])
            yield replace(acts, rounds=(*acts.rounds[:place], fewer, *acts.rounds[place + 1 :]))
    for number in reversed(range(len(acts.before))):
        yield replace(acts, before=(*acts.before[:number], *acts.before[number + 1 :]))
