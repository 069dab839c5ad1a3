"""The node's time, as far as a client can know it: by its `Date` header, or to the second with `clock_control`."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from conformance.drivers.caserun import CaseRun
from conformance.drivers.refusals import must_accept
from conformance.problems import Inconclusive
from conformance.target.client import Answer, Message
from conformance.target.jsontext import written
from conformance.target.requests import JSON_TYPE

T = TypeVar("T")

MOST_APART = 2
"""Seconds between the suite's time and a `Date` header that servers renew once a second."""
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
    url = f"{run.target.profile.control_url}/clock"
    request = Message("POST", url, {"Content-Type": JSON_TYPE}, written({"offset_seconds": 0}))
    answer = run.target.exchange(request, run.log)
    must_accept(answer)
    apart = abs(date_of(answer) - time.time())
    if apart > MOST_APART:
        raise Inconclusive("a node on the suite's time", f"{apart:.0f} s between the two", answer.exchange)


def within_one_second(act: Callable[[int], T]) -> T:
    """What `act` gave, told the second in which it began and ended; again in another one where it took too long."""
    for _ in range(MOST_TRIES):
        part = time.time() % 1
        if not FIRST <= part <= LATEST - 0.1:
            time.sleep((FIRST - part) % 1)
        second = int(time.time())
        done = act(second)
        if second + FIRST - 0.05 <= time.time() <= second + LATEST:
            return done
    raise Inconclusive("an answer within half a second", f"none in {MOST_TRIES} tries")
