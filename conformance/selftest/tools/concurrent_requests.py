"""Makes concurrent requests wait for one another, so that races show on any machine."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Hashable

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept
from reference_node.node import Node

ALONE_SECONDS = 2.0
"""How long a request waits for another. Concurrent ones come much sooner, on busy machines, too."""


class Rendezvous:
    """Holds each request until another one comes after it."""

    def __init__(self, seconds: float = ALONE_SECONDS) -> None:
        self._seconds = seconds
        self._come = 0
        self._more = threading.Condition()

    def wait(self) -> None:
        """Return when another request has come, or after `seconds`."""
        with self._more:
            self._come += 1
            mine = self._come
            self._more.notify_all()
            self._more.wait_for(lambda: self._come > mine, self._seconds)

    def come(self) -> None:
        """Release those who wait, without waiting."""
        with self._more:
            self._come += 1
            self._more.notify_all()


class Overtaking:
    """Holds the first of two requests until the second is done."""

    def __init__(self) -> None:
        self._held = False
        self._done = 0
        self._more = threading.Condition()

    def wait(self) -> None:
        """Return at once where a request is held; else when another is done, or after `ALONE_SECONDS`."""
        with self._more:
            if self._held:
                return
            self._held, before = True, self._done
            self._more.notify_all()
            self._more.wait_for(lambda: self._done > before, ALONE_SECONDS)
            self._held = False

    def overtake(self) -> None:
        """Return when a request is held, or after `ALONE_SECONDS`."""
        with self._more:
            self._more.wait_for(lambda: self._held, ALONE_SECONDS)

    def done(self) -> None:
        """Release the request that is held."""
        with self._more:
            self._done += 1
            self._more.notify_all()


def one_answer_at_a_time(node: Node, operation: str, same: Callable[[Received], Hashable]) -> None:
    """Answer requests of an operation that come while one with the same `same` is under way with its answer."""
    working: dict[Hashable, tuple[asyncio.Event, asyncio.Task[Answered]]] = {}

    async def once_shared(shared: asyncio.Event, request: Received, forward: Forward) -> Answered:
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(shared.wait(), ALONE_SECONDS)
            return await forward(request)
        finally:
            del working[same(request)]

    async def handler(request: Received, forward: Forward) -> Answered:
        if (under_way := working.get(same(request))) is not None:
            shared, task = under_way
            shared.set()
        else:
            shared = asyncio.Event()
            task = asyncio.create_task(once_shared(shared, request, forward))
            working[same(request)] = shared, task
        return await task

    intercept(node, operation, handler)
