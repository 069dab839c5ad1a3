"""How a failing history is shrunk. Nothing is sent."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from conformance.drivers.histories.drawing import Acts
from conformance.drivers.histories.shrink import SHRINKING, Shrinking
from conformance.drivers.model.acts import Act
from conformance.problems import BudgetSpent, Departure, SetupFailed, StepProblem

LONG = Acts(
    before=tuple(Act("create_wallet", "alice", "alice", makes=f"w{number}") for number in range(4)),
    rounds=tuple(
        tuple(Act("update_group", "alice", "alice", str(3 * number + label)) for label in range(3))
        for number in range(4)
    ),
)


def labels(acts: Acts) -> list[str]:
    return [act.label or act.makes for row in (acts.before, *acts.rounds) for act in row]


class Plays:
    """A node that fails where acts with all these labels or objects are sent, at every so many-th play."""

    def __init__(self, needed: Collection[str], every: int = 1) -> None:
        self._needed, self._every = {*needed}, every
        self.played = 0

    def __call__(self, acts: Acts) -> tuple[Acts, str] | None:
        self.played += 1
        return (acts, "fails") if {*labels(acts)} >= self._needed and self.played % self._every == 0 else None


@pytest.mark.parametrize("needed", [("9", "10"), ("w1", "2", "11"), ("w0", "w3", "9")])
def test_only_what_is_needed_is_left(needed: tuple[str, ...]) -> None:
    acts, _ = Shrinking(Plays(needed)).shortest(LONG, "fails")
    assert labels(acts) == [*needed]


def test_history_that_fails_now_and_then_is_shrunk_too() -> None:
    acts, _ = Shrinking(Plays(["9", "10"], every=2)).shortest(LONG, "fails")
    assert labels(acts) == ["9", "10"]


def test_number_of_plays_is_bounded() -> None:
    plays = Plays(labels(LONG))
    assert Shrinking(plays).shortest(LONG, "fails") == (LONG, "fails")
    assert plays.played <= SHRINKING


@pytest.mark.parametrize("problem", [BudgetSpent("money", "none"), SetupFailed("a", "b"), Departure("a", "b")])
def test_trouble_while_shrinking_keeps_the_failure(problem: StepProblem) -> None:
    def troubled(_: Acts) -> tuple[Acts, str] | None:
        raise problem

    assert Shrinking(troubled).shortest(LONG, "fails") == (LONG, "fails")
