"""Runs cases in several threads of this process, for a node at an address: a case mostly waits for its answers."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from types import TracebackType
from typing import Self

from conformance.endpoints.client import Target
from conformance.endpoints.turns import Turns
from conformance.run.case import Case
from conformance.run.runner import CLEAN_UP_SECONDS, run_case
from conformance.verdict import Outcome

IMPORTED_BY_CASES = (
    "conformance.drivers.attestation.connections",
    "conformance.drivers.attestation.driver",
    "conformance.drivers.openapi.answers",
)
"""What cases import as they run: threads that import modules of one package at the same time may find half of them."""


class CaseThreads:
    """Threads that share one target, and with it its budgets and rate.

    When the block ends by an exception, the running cases are ended and clean up, and no other case begins.
    """

    def __init__(self, number: int, target: Target) -> None:
        for module in IMPORTED_BY_CASES:
            with suppress(ImportError):  # the extra `attestation` is absent: the cases that need it say so
                import_module(module)
        self._target = target
        target.turns = Turns(target.interruption)
        self._pool = ThreadPoolExecutor(number, "case")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._target.end_within(CLEAN_UP_SECONDS)  # also for a case that had cleaned up already when it was ended
            self._target.interruption.begin()
        try:
            self._pool.shutdown(cancel_futures=True)
        except KeyboardInterrupt:  # the second Ctrl-C: the user does not want to wait for the clean-up
            self._target.end_within(0)
            self._target.interruption.begin()
            raise

    def submit(self, case: Case) -> Future[Outcome]:
        """Run a case in one of the threads."""
        return self._pool.submit(run_case, case, self._target)
