"""The suite's time-outs: for one answer, and for a node that stops answering."""

from __future__ import annotations

import threading
import time

from conformance.problems import NodeSilent

MOST_TIMEOUTS = 3
"""Consecutive time-outs after which the node counts as silent."""


class Patience:
    """Counts consecutive time-outs over all threads. Those of parallel requests count once."""

    def __init__(self, seconds: float | None = None, most: int | None = None) -> None:
        self.seconds = seconds
        """The time-out of an answer; None: by the profile."""
        self._most = most or MOST_TIMEOUTS
        self._in_a_row = 0
        self._last = 0.0
        self._lock = threading.Lock()

    def begin(self) -> float:
        """The time in seconds at which a request begins. NodeSilent: the node has stopped answering."""
        if self._in_a_row >= self._most:
            raise NodeSilent("a node that answers", f"{self._in_a_row} requests in a row without an answer in time")
        return time.monotonic()

    def note_answer(self) -> None:
        """Note that a request was answered, whatever the answer."""
        with self._lock:
            self._in_a_row = 0

    def note_timeout(self, began: float) -> None:
        """Note that a request that began at this time was not answered in time."""
        with self._lock:
            if began >= self._last:
                self._in_a_row += 1
                self._last = time.monotonic()
