"""Reads that must stay unchanged after a refusal, cached while nothing can have changed them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from conformance.endpoints.log import ExchangeLog

SECONDS_TO_REMEMBER = 2.0
"""How long a read is cached: a case may wait for something to expire."""


@dataclass(frozen=True)
class Read:
    """A read that must give the same before and after a refusal."""

    name: str
    get: Callable[[], object]
    asks: str | None = field(default=None, repr=False)
    """Operation, credential and arguments. Reads that ask the same give the same as long as nothing else is sent."""


class RecentReads:
    """A cache of reads, emptied when the case's log grows by other exchanges. Reads after a refusal serve the next."""

    def __init__(self, log: ExchangeLog, *, beside_others: bool = False) -> None:
        self._log = log
        self._forgets = beside_others
        """True in one of several threads, since the others may write at any time."""
        self._values: dict[str, object] = {}
        self._exchanges = 0
        """Length of the log after the newest of them."""
        self._asked = 0.0

    def forget(self) -> None:
        """Empty the cache: something beside the case's own requests may have changed what reads give."""
        self._values.clear()

    def values(self, reads: Sequence[Read]) -> list[object]:
        """The values of these reads, from the cache where possible."""
        if self._forgets or len(self._log) != self._exchanges or time.monotonic() - self._asked > SECONDS_TO_REMEMBER:
            self._values.clear()
        return [self._values[read.asks] if read.asks in self._values else self.ask(read) for read in reads]

    def ask(self, read: Read) -> object:
        """Carry out a read."""
        if len(self._log) != self._exchanges:
            self._values.clear()
        value = read.get()
        self._exchanges, self._asked = len(self._log), time.monotonic()
        if read.asks is not None:
            self._values[read.asks] = value
        return value
