"""Reads of what refusals must leave unchanged, none of them asked for again while nothing can have changed it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from conformance.endpoints.log import ExchangeLog

SECONDS_TO_REMEMBER = 2.0
"""For longer a read is not remembered: a case may have waited for something to expire."""


@dataclass(frozen=True)
class Read:
    """A read that must give the same before and after a refusal."""

    name: str
    get: Callable[[], object]
    asks: str | None = field(default=None, repr=False)
    """Operation, credential and arguments. Reads that ask the same give the same as long as nothing else is sent."""


class RecentReads:
    """What reads gave since the log of the case has shown anything else: the reads after a refusal serve the next."""

    def __init__(self, log: ExchangeLog, *, beside_others: bool = False) -> None:
        self._log = log
        self._forgets = beside_others
        """In one of several threads others may write at any time."""
        self._values: dict[str, object] = {}
        self._exchanges = 0
        """Length of the log after the newest of them."""
        self._newest: str | None = None
        self._asked = 0.0

    def values(self, reads: Sequence[Read]) -> list[object]:
        """What the reads give, asked for only as far as that is not known."""
        if self._forgets or len(self._log) != self._exchanges or time.monotonic() - self._asked > SECONDS_TO_REMEMBER:
            self._values.clear()
        return [self._values[read.asks] if read.asks in self._values else self.ask(read) for read in reads]

    def latest(self, read: Read) -> object:
        """What a read gives; it is not asked for again if it was the last thing that the case has asked for."""
        if self._newest is not None and read.asks == self._newest and len(self._log) == self._exchanges:
            return self._values[self._newest]
        return self.ask(read)

    def ask(self, read: Read) -> object:
        """What a read gives now."""
        if len(self._log) != self._exchanges:
            self._values.clear()
        value = read.get()
        self._exchanges, self._asked = len(self._log), time.monotonic()
        self._newest = read.asks
        if read.asks is not None:
            self._values[read.asks] = value
        return value
