"""Runs cases in several processes, which are forked after the packs are loaded, so that none loads them again.

A fork copies only the thread that calls it. All processes are therefore forked before the pool starts its own thread,
when the suite has no other.
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
    """A pool of processes, each of which makes a target of its own.

    When the block ends by an exception, the running cases are ended and clean up, and no other case begins.
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
        except KeyboardInterrupt:  # the second Ctrl-C: the user does not want to wait for the clean-up
            for child in children:
                child.kill()
            raise

    def submit(self, case: Case) -> Future[Outcome]:
        """Run a case in one of the processes. The future raises BrokenProcessPool when a process has died."""
        return self._pool.submit(_run, case.id)


class _Own:
    """The state of a process: the cases of its parent, and its target."""

    cases: dict[str, Case]
    target: Target
    is_running = False
    is_stopped = False


def _begin(places: SimpleQueue[int], cases: Sequence[Case], target_of: Callable[[int], Target]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides whether the run ends
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
