"""Requests that have to begin and end within one second, by a clock that the test turns."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from conformance.problems import Inconclusive
from conformance.service import clock as node_clock
from conformance.service.clock import within_one_second


@dataclass
class Turned:
    """A clock that stands still but for sleep and work."""

    now: float
    begun: list[int] = field(default_factory=list)

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def work(self, seconds: float, second: int) -> str:
        self.begun.append(second)
        self.now += seconds
        return f"done in {second}"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Turned:
    turned = Turned(1000.9)
    monkeypatch.setattr(node_clock, "time", turned)
    return turned


def never(_: str) -> bool:
    return False


def test_work_begins_in_the_middle_of_a_second(clock: Turned) -> None:
    assert within_one_second(clock.work, lambda: 0.1, never, 3) == "done in 1001"


def test_work_that_takes_too_long_is_done_again_in_another_second(clock: Turned) -> None:
    takes = iter([0.6, 0.6, 0.1])
    assert within_one_second(clock.work, lambda: next(takes), never, 3) == "done in 1003"
    assert clock.begun == [1001, 1002, 1003]


def test_work_that_always_takes_too_long_teaches_nothing(clock: Turned) -> None:
    with pytest.raises(Inconclusive, match="none in 3 tries"):
        within_one_second(clock.work, lambda: 0.6, never, 3)


def test_work_that_always_takes_more_than_a_second_is_given_up_early(clock: Turned) -> None:
    with pytest.raises(Inconclusive, match="none in 8 tries that took a second"):
        within_one_second(clock.work, lambda: 1.4, never, 40)
    assert len(clock.begun) == 8


def test_late_work_that_stands_all_the_same_is_done_once(clock: Turned) -> None:
    assert within_one_second(clock.work, lambda: 5.0, lambda _: True, 3) == "done in 1001"
    assert clock.begun == [1001]


def test_preparation_is_made_anew_and_takes_no_part_of_the_second(clock: Turned) -> None:
    def prepare() -> float:
        clock.sleep(7.3)
        return 0.2

    assert within_one_second(clock.work, prepare, never, 1) == "done in 1008"
