"""Waits until writes show, where the profile gives them time for it ("Usage key", `semantics.settle_time_seconds`).

A request waits only for writes that it may depend on. What makes something new is sent at once after what made
something else new, and again after the wait where the node refuses it: a refusal has changed nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.profile import Auth, Effect

ADDITIONS = frozenset(
    {
        "new_account",
        "add_usage_api_key",
        "add_group",
        "create_wallet",
        "add_action",
        "add_action_to_group",
        "add_pkp_to_group",
    }
)
"""Writes that take nothing away: a node on which they do not show yet refuses whatever builds on them."""


@dataclass(frozen=True)
class _Write:
    """A write that may not show yet."""

    request: OutgoingRequest | None
    """None for a transaction."""
    answered: float


class Settling:
    """The writes of one case that may not show yet. Several threads of the case may use it."""

    def __init__(self, seconds: Callable[[], float], pause: Callable[[float], None] = time.sleep) -> None:
        self._seconds = seconds
        """How long the effect of a write may take to show, now."""
        self._pause = pause
        self._writes: list[_Write] = []
        self._lock = threading.Lock()

    def note(self, request: OutgoingRequest | None) -> None:
        """A request other than a read was answered, or a transaction was sent."""
        if self._seconds():
            with self._lock:
                self._writes.append(_Write(request, time.monotonic()))

    def wait(self) -> None:
        """Wait until every write shows."""
        self._wait_for(self._not_shown())

    def send(self, request: OutgoingRequest, send: Callable[[OutgoingRequest], Answer]) -> Answer:
        """Send a request when the writes show that it may depend on."""
        writes = [write for write in self._not_shown() if _may_depend(request, write)]
        if not writes or not all(_may_be_tried(request, write) for write in writes):
            self._wait_for(writes)
            return send(request)
        answer = send(request)
        if answer.accepted or answer.status >= 500:
            return answer
        self._wait_for(writes)
        return send(request)

    def _not_shown(self) -> list[_Write]:
        with self._lock:
            since = time.monotonic() - self._seconds()
            self._writes = [write for write in self._writes if write.answered > since]
            return list(self._writes)

    def _wait_for(self, writes: list[_Write]) -> None:
        shown = max((write.answered for write in writes), default=0.0) + self._seconds()
        self._pause(max(0.0, shown - time.monotonic()))


def _may_depend(request: OutgoingRequest, write: _Write) -> bool:
    """Whether a request shows, or is decided by, what a write changes: a run changes the balance alone."""
    if request.operation.auth is Auth.NONE:
        return False
    is_run = write.request is not None and write.request.operation.effect is Effect.RUN
    return not is_run or request.operation.name == "balance"


def _may_be_tried(request: OutgoingRequest, write: _Write) -> bool:
    """Whether a node on which the write does not show yet can only refuse the request, unless it is independent."""
    earlier = write.request
    if earlier is None or not {request.operation.name, earlier.operation.name} <= ADDITIONS:
        return False
    return request.operation.name != earlier.operation.name or request.members != earlier.members
