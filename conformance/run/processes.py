"""Several processes that run cases. They are forked when the packs are loaded, so that none of them loads any.

Forking copies the thread that forks and no other: all processes are forked before the pool starts a thread of its own,
and the suite has none by then.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.queues import SimpleQueue
from types import FrameType, TracebackType
from typing import Self

from conformance.endpoints.client import Target
from conformance.run.case import Case
from conformance.run.runner import run_case
from conformance.verdict import Outcome

CAN_FORK = hasattr(os, "fork")


class CaseProcesses:
    """So many processes; each has a target of its own, which is made in it.

    A block that ends by an exception ends the cases that run: they clean up, and no other begins.
    """

    def __init__(self, number: int, cases: Sequence[Case], target_of: Callable[[int], Target]) -> None:
        context = multiprocessing.get_context("fork")
        places: SimpleQueue[int] = context.SimpleQueue()
        for place in range(number):
            places.put(place)
        self._pool = ProcessPoolExecutor(number, context, _begin, (places, cases, target_of))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        children = multiprocessing.active_children()
        if kind is not None:
            for child in children:
                child.terminate()
        try:
            self._pool.shutdown(cancel_futures=True)
        except KeyboardInterrupt:  # a second one: the user does not want to wait for what cleans up
            for child in children:
                child.kill()
            raise

    def submit(self, case: Case) -> Future[Outcome]:
        """Have one of them run a case. The future raises BrokenProcessPool when one of them has died."""
        return self._pool.submit(_run, case.id)


class _Own:
    """What a process has: the cases of its parent, and a target."""

    cases: dict[str, Case]
    target: Target
    is_running = False
    is_stopped = False


def _begin(places: SimpleQueue[int], cases: Sequence[Case], target_of: Callable[[int], Target]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the parent that decides whether the run ends
    signal.signal(signal.SIGTERM, _stop)
    _Own.cases = {case.id: case for case in cases}
    _Own.target = target_of(places.get())


def _stop(_signal: int, _frame: FrameType | None) -> None:
    _Own.is_stopped = True
    if _Own.is_running:
        raise KeyboardInterrupt


def _run(case_id: str) -> Outcome:
    _Own.is_running = True
    try:
        if _Own.is_stopped:
            raise KeyboardInterrupt
        return run_case(_Own.cases[case_id], _Own.target)
    finally:
        _Own.is_running = False
