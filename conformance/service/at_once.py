"""Calls at the same moment: races and loads of a few threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import Departure
from conformance.service.session import Session

T = TypeVar("T")


def at_once(thunks: Sequence[Callable[[], T]]) -> list[T]:
    """Call all thunks at the same moment, each in a thread, and return their results in order.

    Raises the first exception, preferring a Departure.
    """
    if not thunks:
        return []
    barrier = threading.Barrier(len(thunks))

    def together(thunk: Callable[[], T]) -> T:
        barrier.wait()
        return thunk()

    with ThreadPoolExecutor(max_workers=len(thunks)) as pool:
        futures = [pool.submit(copy_context().run, together, thunk) for thunk in thunks]
    failures = [failure for failure in (future.exception() for future in futures) if failure is not None]
    for failure in sorted(failures, key=lambda failure: not isinstance(failure, Departure)):
        raise failure
    return [future.result() for future in futures]


def send_at_once(session: Session, requests: Sequence[OutgoingRequest]) -> list[Answer]:
    """Send all requests at the same moment; their answers in order."""
    return at_once([partial(session.send, request) for request in requests])


def accepted_at_once(session: Session, requests: Sequence[OutgoingRequest]) -> int:
    """Send all requests at the same time, each in a conversation of its own; how many are accepted."""
    branches = [session.branch(f"write {number}") for number in range(len(requests))]
    with ThreadPoolExecutor(len(requests)) as pool:
        answers = list(pool.map(lambda branch, request: branch.send(request), branches, requests))
    return sum(answer.accepted for answer in answers)
