"""Whose run is next when processes are scarce."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from running import WAIT, until

from reference_node.sandbox import Limits, SandboxBroken, SandboxBusy
from reference_node.sandbox.slots import FairSlots


class Runs:
    """Runs in threads that hold a slot until they are told to end."""

    def __init__(self, slots: FairSlots) -> None:
        self.slots = slots
        self.started: queue.Queue[str] = queue.Queue()
        self.refused: queue.Queue[Exception] = queue.Queue()
        self._ends: dict[str, threading.Event] = {}
        self._threads: dict[str, threading.Thread] = {}

    def begin(self, name: str) -> None:
        """Ask for a slot; the account is the name's first letter, which is a capital where it has never paid."""
        waiting = self.slots.waiting
        self._ends[name] = threading.Event()
        thread = threading.Thread(target=self._run, args=(name,))
        self._threads[name] = thread
        thread.start()
        until(lambda: not thread.is_alive() or self.slots.waiting > waiting or self._began(name))

    def _began(self, name: str) -> bool:
        return name in self.started.queue

    def _run(self, name: str) -> None:
        try:
            with self.slots.slot(name[0].encode(), paying=name[0].islower()):
                self.started.put(name)
                self._ends[name].wait(WAIT)
        except (SandboxBusy, SandboxBroken) as refusal:
            self.refused.put(refusal)

    def next(self) -> str:
        """Who got a slot next."""
        return self.started.get(timeout=WAIT)

    def end(self, name: str) -> None:
        """End a run, and wait until its slot is free."""
        self._ends[name].set()
        self._threads[name].join(WAIT)

    def end_all(self) -> None:
        for event in self._ends.values():
            event.set()
        self.slots.close()
        for thread in self._threads.values():
            thread.join(WAIT)


@pytest.fixture
def runs_of() -> Iterator[Callable[..., Runs]]:
    with ExitStack() as stack:

        def make(slots: int, limits: Limits = Limits()) -> Runs:  # noqa: B008 - frozen
            made = Runs(FairSlots(slots, limits))
            stack.callback(made.end_all)
            return made

        yield make


def test_one_account_leaves_slots_to_the_others(runs_of: Callable[..., Runs]) -> None:
    runs = runs_of(8)
    for i in range(100):
        runs.begin(f"a{i}")
    assert [runs.next() for _ in range(4)] == ["a0", "a1", "a2", "a3"]
    runs.begin("b0")
    assert runs.next() == "b0"
    runs.begin("c0")
    assert runs.next() == "c0"
    assert runs.started.empty()


@pytest.mark.parametrize(
    ("begun", "ran"),
    [("a0 a1 a2 a3 b0 b1 c0", "a0 a1 b0 c0 a2 b1 a3"), ("A0 B0 C0 a0 a1", "A0 a0 a1 B0 C0")],
    ids=["go round the accounts", "first to those that paid"],
)
def test_free_slots_are_given_in_turn(runs_of: Callable[..., Runs], begun: str, ran: str) -> None:
    runs = runs_of(1)
    for name in begun.split():
        runs.begin(name)
    order = []
    for _ in begun.split():
        order.append(runs.next())
        runs.end(order[-1])
    assert order == ran.split()


def test_any_number_of_accounts_that_never_paid_leaves_slots_to_one_that_did(runs_of: Callable[..., Runs]) -> None:
    runs = runs_of(16)
    free = "ABCDEFGHIJKLMNOPQRST"
    for name in (*free, *free):
        runs.begin(f"{name}{runs.slots.waiting}")
    assert [runs.next()[0] for _ in range(12)] == list(free[:12])
    assert runs.started.empty()
    for name in ("a0", "b0"):
        runs.begin(name)
        assert runs.next() == name
    assert runs.started.empty()


@pytest.mark.parametrize(
    ("limits", "begun", "waiting", "then"),
    [
        pytest.param(Limits(queued_runs=2), "a0 b0 c0 d0", 2, "", id="of all"),
        pytest.param(Limits(queued_runs_per_account=2), "a0 a1 a2 a3", 2, "b0", id="of an account"),
        pytest.param(Limits(queued_runs=8), "A0 B0 C0 D0 E0 F0 G0 H0", 6, "a0", id="of those that never paid"),
    ],
)
def test_queue_is_bounded(runs_of: Callable[..., Runs], limits: Limits, begun: str, waiting: int, then: str) -> None:
    runs = runs_of(1, limits)
    for name in begun.split():
        runs.begin(name)
    assert isinstance(runs.refused.get(timeout=WAIT), SandboxBusy)
    assert runs.slots.waiting == waiting
    for name in then.split():
        runs.begin(name)
        assert runs.slots.waiting == waiting + 1
    assert runs.refused.empty()


def test_wait_is_bounded_and_forgotten(runs_of: Callable[..., Runs]) -> None:
    runs = runs_of(1, Limits(queue_seconds=0.01))
    runs.begin("a0")
    assert runs.next() == "a0"
    runs.begin("b0")
    assert isinstance(runs.refused.get(timeout=WAIT), SandboxBusy)
    assert runs.slots.waiting == 0
    runs.end("a0")
    runs.begin("c0")
    assert runs.next() == "c0"


def test_closing_sends_away_who_waits_and_who_comes(runs_of: Callable[..., Runs]) -> None:
    runs = runs_of(1)
    runs.begin("a0")
    runs.begin("b0")
    runs.slots.close()
    assert isinstance(runs.refused.get(timeout=WAIT), SandboxBroken)
    with pytest.raises(SandboxBroken), runs.slots.slot(b"c"):
        pass


def test_slot_comes_back_after_a_failure() -> None:
    slots = FairSlots(1, Limits())
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), slots.slot(1):
            raise ZeroDivisionError
