"""The suite's time-outs: for one answer, and for a node that stops answering."""

from __future__ import annotations

import threading
import time

from conformance.problems import NodeSilent

MOST_TIMEOUTS = 3
"""Consecutive time-outs after which the node counts as silent."""


class Patience:
    """Counts the time-outs in a row, over all threads; those of requests that waited side by side count once."""

    def __init__(self, seconds: float | None = None, most: int | None = None) -> None:
        self.seconds = seconds
        """For one answer; None: as long as it takes nodes of this profile."""
        self._most = most or MOST_TIMEOUTS
        self._in_a_row = 0
        self._last = 0.0
        self._lock = threading.Lock()

    def begin(self) -> float:
        """The time at which a request begins, in seconds. NodeSilent: it need not be sent any more."""
        if self._in_a_row >= self._most:
            raise NodeSilent("a node that answers", f"{self._in_a_row} requests in a row without an answer in time")
        return time.monotonic()

    def note_answer(self) -> None:
        """A request was answered, whatever the answer."""
        with self._lock:
            self._in_a_row = 0

    def note_timeout(self, began: float) -> None:
        """A request that began then was not answered in time."""
        with self._lock:
            if began >= self._last:
                self._in_a_row += 1
                self._last = time.monotonic()
