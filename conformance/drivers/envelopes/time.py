"""The node's time, as far as a client can know it: by its `Date` header, or to the second with `clock_control`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.refusals import must_accept
from conformance.endpoints.client import Answer
from conformance.problems import Inconclusive

P = TypeVar("P")
T = TypeVar("T")

MOST_APART = 2
"""Seconds between the suite's time and a `Date` header that servers renew once a second."""
WAITS = (0.2, 1.0, 2.0)
"""Seconds before another look: a busy server may be late in renewing its `Date`."""
FIRST, LATEST = 0.25, 0.75
"""The part of a second in which an exact request begins and ends: clocks that differ by less do no harm."""
MOST_TRIES = 40


def date_of(answer: Answer) -> int:
    """The node's time of an answer in Unix seconds; the suite's own where the node does not say."""
    try:
        return int(parsedate_to_datetime(answer.headers["date"]).timestamp())
    except (KeyError, ValueError):
        return int(datetime.now(UTC).timestamp())


class NodeTime:
    """The node's time in the course of a case."""

    def __init__(self, answer: Answer) -> None:
        self._date = date_of(answer)
        self._began = time.monotonic()

    def now(self) -> int:
        """Unix seconds, perhaps a few too few."""
        return self._date + int(time.monotonic() - self._began)


def set_right(run: CaseRun) -> None:
    """Have the node's clock show the right time. Inconclusive where it then is not the suite's."""
    for wait in (*WAITS, 0.0):
        answer = run.clock.set(0)
        must_accept(answer)
        apart = abs(date_of(answer) - time.time())
        if apart <= MOST_APART:
            return
        time.sleep(wait)
    raise Inconclusive("a node on the suite's time", f"{apart:.0f} s between the two", answer.exchange)


@contextmanager
def later(run: CaseRun, seconds: int) -> Iterator[None]:
    """The node's clock so many seconds ahead, and right again afterwards."""
    must_accept(run.clock.set(seconds))
    try:
        yield
    finally:
        must_accept(run.clock.set(0))


def within_one_second(
    act: Callable[[P, int], T], prepare: Callable[[], P], stands: Callable[[T], bool], tries: int
) -> T:
    """What `act` gave, told what `prepare` made before and the second in which it began and ended.

    Again, in another second, where it took too long, unless what it gave `stands` all the same.
    """
    for _ in range(tries):
        prepared = prepare()
        part = time.time() % 1
        if not FIRST <= part <= LATEST - 0.1:
            time.sleep((FIRST - part) % 1)
        second = int(time.time())
        done = act(prepared, second)
        if second + FIRST - 0.05 <= time.time() <= second + LATEST or stands(done):
            return done
    raise Inconclusive("an answer within half a second", f"none in {tries} tries")
