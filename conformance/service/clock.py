"""The node's time as a client sees it: from the `Date` header, or exact to the second with `clock_control`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from conformance.endpoints.clock import NodeClock
from conformance.endpoints.messages import Answer
from conformance.problems import ChainTrouble, Inconclusive
from conformance.service.acceptance import must_accept
from conformance.values.http_dates import http_date

P = TypeVar("P")
T = TypeVar("T")

MOST_APART = 2
"""Seconds between the suite's time and a `Date` header that servers renew once a second."""
WAITS = (0.2, 1.0, 2.0)
"""Seconds between retries, since a busy server may renew its `Date` late."""
FIRST, LATEST = 0.25, 0.75
"""The part of a second in which an exact request begins and ends: clocks that differ by less do no harm."""
MOST_TRIES = 40
MOST_LATE = 8
"""Tries in a row that take longer than a second, after which there is no other."""


def date_of(answer: Answer) -> int:
    """The node's Unix time in an answer; the suite's own time without a `Date` header."""
    return _date(answer.headers.get("date"))


def _date(header: str | None) -> int:
    try:
        return int(http_date(header or "").timestamp())
    except ValueError:
        return int(datetime.now(UTC).timestamp())


@dataclass(frozen=True)
class _Seen:
    """A `Date` header and the time of its arrival."""

    header: str | None
    at: float
    """By the suite's monotonic clock."""


class Clock:
    """Tracks the node's time during a case, and moves it through the test control."""

    def __init__(self, control: NodeClock, ask: Callable[[], Answer]) -> None:
        self._control = control
        self._ask = ask
        """Sends a request to get a `Date` header."""
        self._seen: _Seen | None = None

    @property
    def offset(self) -> int:
        """The offset in seconds that the test control has set."""
        return self._control.offset

    def note(self, answer: Answer) -> None:
        """Take the time from an answer. Answers under a moved clock are ignored: `Date` may follow it or not."""
        if not self.offset or self._seen is None:
            self._seen = _Seen(answer.headers.get("date"), time.monotonic())

    def now(self) -> int:
        """The node's Unix time, possibly a few seconds behind."""
        return self._right_time() + self.offset

    def _right_time(self) -> int:
        """The node's time without the offset."""
        if self._seen is None:
            self.note(self._ask())
        seen = self._seen
        if seen is None:
            raise TypeError("an answer has no time")
        return _date(seen.header) + int(time.monotonic() - seen.at) if seen.header else _date(None)

    def move(self, seconds: int) -> None:
        """Set the offset in seconds. No other case may run meanwhile."""
        if self._seen is None:
            self.note(self._ask())
        answer = self._control.set(seconds)
        if not answer.accepted:
            raise ChainTrouble("a clock that can be set", f"status {answer.status}", answer.exchange)

    def move_to(self, time_of_day: int) -> None:
        """Move the clock to this Unix time."""
        self.move(time_of_day - self._right_time())

    def reset(self) -> None:
        """Remove the offset; ignore whether the node accepts that."""
        self._control.set(0)

    def set_right(self) -> None:
        """Remove the offset. Inconclusive: the node's time then differs from the suite's."""
        for wait in (*WAITS, 0.0):
            answer = self._control.set(0)
            must_accept(answer)
            apart = abs(date_of(answer) - time.time())
            if apart <= MOST_APART:
                return
            time.sleep(wait)
        raise Inconclusive("a node on the suite's time", f"{apart:.0f} s between the two", answer.exchange)

    @contextmanager
    def ahead(self, seconds: int) -> Iterator[None]:
        """Move the clock ahead within the block."""
        must_accept(self._control.set(seconds))
        try:
            yield
        finally:
            must_accept(self._control.set(0))


def within_one_second(
    act: Callable[[P, int], T], prepare: Callable[[], P], stands: Callable[[T], bool], tries: int
) -> T:
    """Call `act` with the result of `prepare` and the current second, and return its result.

    If the call does not end within that second, retry, unless `stands` accepts the result anyway. No retry helps where
    answers always take longer than a second.
    """
    late = 0
    for _ in range(tries):
        prepared = prepare()
        part = time.time() % 1
        if not FIRST <= part <= LATEST - 0.1:
            time.sleep((FIRST - part) % 1)
        second = int(time.time())
        done = act(prepared, second)
        if second + FIRST - 0.05 <= time.time() <= second + LATEST or stands(done):
            return done
        late = late + 1 if time.time() > second + 1 + FIRST else 0
        if late == MOST_LATE:
            break
    raise Inconclusive(
        "an answer within half a second",
        "none in " + (f"{MOST_LATE} tries that took a second" if late == MOST_LATE else f"{tries} tries"),
    )
