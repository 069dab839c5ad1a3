"""Cases that run beside one another at a node, and one alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.endpoints.interruption import Interruption
from conformance.endpoints.turns import Turns

LONG = 30
"""Seconds that nothing here takes."""


class Cases:
    """Cases of a few steps, and how many were in each step at the same time."""

    def __init__(self) -> None:
        self.turns = Turns(Interruption())
        self.alone: list[int] = []
        self._within = 0
        self._lock = threading.Lock()

    def beside(self, step: Callable[[], object]) -> None:
        with self.turns.one():
            self._count(1)
            step()
            self._count(-1)

    def then_alone(self, step: Callable[[], object]) -> None:
        with self.turns.one():
            step()
            self.turns.be_alone()
            self.turns.be_alone()
            self.alone.append(self._within)
            self._count(1)
            self._count(-1)

    def _count(self, number: int) -> None:
        with self._lock:
            self._within += number


def test_cases_prepare_beside_one_another_and_are_alone_afterwards() -> None:
    cases, together = Cases(), threading.Barrier(6, timeout=LONG)

    with ThreadPoolExecutor(6) as pool:
        running = [pool.submit(cases.beside, together.wait) for _ in range(3)]
        running += [pool.submit(cases.then_alone, together.wait) for _ in range(3)]
        for case in running:
            case.result()

    assert cases.alone == [0, 0, 0]


def test_case_is_alone_when_no_other_is_left_that_could_go_on() -> None:
    cases, has_begun, may_end = Cases(), threading.Event(), threading.Event()
    order: list[str] = []

    def slow() -> None:
        has_begun.set()
        assert may_end.wait(LONG)

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(cases.beside, slow)
        assert has_begun.wait(LONG)
        alone = pool.submit(cases.then_alone, lambda: order.append("prepared"))
        pool.submit(cases.beside, lambda: order.append(f"beside, {len(cases.alone)} alone")).result()
        may_end.set()
        first.result()
        alone.result()

    assert sorted(order) == ["beside, 0 alone", "prepared"]
    assert cases.alone == [0]


def test_interruption_ends_the_wait_for_a_turn() -> None:
    interruption = Interruption()
    turns, has_begun, may_end = Turns(interruption), threading.Event(), threading.Event()

    def slow() -> None:
        with turns.one():
            has_begun.set()
            assert may_end.wait(LONG)

    def alone() -> None:
        with turns.one():
            turns.be_alone()

    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(slow)
        assert has_begun.wait(LONG)
        waiting = pool.submit(alone)
        interruption.begin()
        with pytest.raises(KeyboardInterrupt):
            waiting.result()
        may_end.set()
        running.result()


def test_case_that_waits_for_a_lock_holds_up_no_other_that_waits_to_be_alone() -> None:
    turns, lock, has_lock = Turns(Interruption()), threading.RLock(), threading.Event()
    order: list[str] = []

    def first() -> None:
        with turns.one(), turns.holding(lock):
            has_lock.set()
            turns.be_alone()
            order.append("alone with the lock")

    def second() -> None:
        with turns.one():
            assert has_lock.wait(LONG)
            with turns.holding(lock) as is_held:
                order.append(f"afterwards, {'with' if is_held else 'without'} the lock")

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(first), pool.submit(second)]
        for case in running:
            case.result(LONG)

    assert order == ["alone with the lock", "afterwards, with the lock"]


def test_case_that_is_alone_waits_for_no_lock_whose_holder_may_wait_for_it() -> None:
    turns, lock = Turns(Interruption()), threading.RLock()

    def alone() -> bool:
        with turns.one():
            turns.be_alone()
            with turns.holding(lock) as is_held:
                return is_held

    with ThreadPoolExecutor(1) as pool:
        with lock:
            assert not pool.submit(alone).result(LONG)
        assert pool.submit(alone).result(LONG)
