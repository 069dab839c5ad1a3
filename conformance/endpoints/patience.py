"""The suite's time-outs: for one answer, and for a node that stops answering."""

from __future__ import annotations

import math
import threading
import time

from conformance.problems import NodeSilent

MOST_TIMEOUTS = 3
"""Consecutive time-outs after which the node counts as silent."""


MINING_SECONDS, SECONDS_OF_A_CHAIN_THAT_STANDS = 180.0, 30.0
"""How long to wait for a transaction's block, and how long once a case has waited for one in vain."""


class MiningPatience:
    """How long any case waits for a block: no run shall wait three minutes for each transaction of a chain at rest."""

    def __init__(self, seconds: float = MINING_SECONDS, of_one_that_stands: float | None = None) -> None:
        self._usual = seconds
        self._less = SECONDS_OF_A_CHAIN_THAT_STANDS if of_one_that_stands is None else of_one_that_stands
        self.seconds = seconds
        """The wait for the next block."""

    def note(self, *, is_mined: bool) -> None:
        """Note how a wait ended."""
        self.seconds = self._usual if is_mined else self._less


class Patience:
    """Counts consecutive time-outs over all threads. Those of parallel requests count once."""

    def __init__(self, seconds: float | None = None, most: int | None = None) -> None:
        self.seconds = seconds
        """The time-out of an answer; None: by the profile."""
        self.waited_in_vain = False
        """Whether the last wait for a node behind a gateway was: no case waits so again until the node is back."""
        self._most = most or MOST_TIMEOUTS
        self._in_a_row = 0
        self._last = 0.0
        self._until = math.inf
        self._lock = threading.Lock()

    def end_within(self, seconds: float) -> None:
        """Let no request begin when so many seconds are over, and none take longer."""
        self._until = min(self._until, time.monotonic() + seconds)

    def left(self, seconds: float) -> float:
        """A time-out in seconds, cut by the end of the run."""
        return max(0.0, min(seconds, self._until - time.monotonic()))

    def begin(self) -> float:
        """The time in seconds at which a request begins. NodeSilent: the node answers no more, or the run ends."""
        if time.monotonic() >= self._until:
            raise NodeSilent("a run that goes on", "it was ended")
        if self._in_a_row >= self._most:
            raise NodeSilent("a node that answers", f"{self._in_a_row} requests in a row without an answer in time")
        return time.monotonic()

    def note_answer(self) -> None:
        """Note that a request was answered, whatever the answer."""
        with self._lock:
            self._in_a_row = 0

    def note_timeout(self, began: float) -> None:
        """Note that a request that began at this time was not answered in time, or put off again and again."""
        with self._lock:
            if began >= self._last:
                self._in_a_row += 1
                self._last = time.monotonic()
