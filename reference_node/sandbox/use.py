"""Measures the time of a run: its own computing and waiting, and what the node computed for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Scheduled(NamedTuple):
    """The kernel scheduler's statistics of a process, in seconds; both are 0 without statistics."""

    computed: float
    """Time on a CPU."""
    delayed: float
    """Time spent ready to run, waiting for a CPU."""


class Use:
    """Counts while a run goes on. A wait for the processor shows only once it is over."""

    def __init__(self, scheduled: Callable[[], Scheduled]) -> None:
        self._scheduled = scheduled
        self._began = 0.0
        self._before = Scheduled(0.0, 0.0)
        self._asked = 0.0
        self._asked_delay = 0.0
        self._host_computed = 0.0
        self.most = 0.0
        """The highest count so far, in seconds."""

    def begin(self) -> None:
        """Start counting."""
        self._began = time.monotonic()
        self._before = self._scheduled()

    def elapsed(self) -> float:
        """All seconds since the run began."""
        return time.monotonic() - self._began

    def seconds(self) -> float:
        """Seconds that the run has used: never less than what was computed."""
        now = self._scheduled()
        delayed = now.delayed - self._before.delayed - self._asked_delay
        own = max(now.computed - self._before.computed, self.elapsed() - self._asked - delayed)
        self.most = max(self.most, own + self._host_computed)
        return own + self._host_computed

    @contextmanager
    def of_host(self) -> Iterator[None]:
        """Count CPU time, not elapsed time, while the node works for the waiting run."""
        began, computed, delayed = time.monotonic(), time.thread_time(), self._scheduled().delayed
        try:
            yield
        finally:
            self._asked += time.monotonic() - began
            self._host_computed += time.thread_time() - computed
            self._asked_delay += self._scheduled().delayed - delayed
