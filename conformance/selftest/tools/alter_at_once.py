"""Tools for faults that show when requests are under way at once: these wait for one another, on any machine."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Hashable

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept
from reference_node.node import Node

ALONE_SECONDS = 2.0
"""How long the first waits for another. Requests of the same moment come much sooner, on busy machines, too."""


class Company:
    """Holds everybody who comes until somebody else has come, too."""

    def __init__(self, seconds: float = ALONE_SECONDS) -> None:
        self._seconds = seconds
        self._come = 0
        self._more = threading.Condition()

    def wait(self) -> None:
        """Return when another has come, or nobody has for so long."""
        with self._more:
            self._come += 1
            mine = self._come
            self._more.notify_all()
            self._more.wait_for(lambda: self._come > mine, self._seconds)


class Overtaking:
    """Holds the first of two that come until the second is done."""

    def __init__(self) -> None:
        self._held = False
        self._done = 0
        self._more = threading.Condition()

    def wait(self) -> None:
        """Return at once where somebody is held; else when another is done, or nobody has been for so long."""
        with self._more:
            if self._held:
                return
            self._held, before = True, self._done
            self._more.notify_all()
            self._more.wait_for(lambda: self._done > before, ALONE_SECONDS)
            self._held = False

    def overtake(self) -> None:
        """Return when somebody is held, or nobody has come for so long."""
        with self._more:
            self._more.wait_for(lambda: self._held, ALONE_SECONDS)

    def done(self) -> None:
        """Let go who is held."""
        with self._more:
            self._done += 1
            self._more.notify_all()


def one_answer_at_a_time(node: Node, operation: str, same: Callable[[Received], Hashable]) -> None:
    """Let requests of an operation that come while one is under way that is the `same` get its answer."""
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
