"""Waits for the payment provider in daemon threads, so that neither other requests nor shutdown wait for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Patience:
    """Runs slow calls in threads, at most `at_once` at a time; further calls queue."""

    def __init__(self, at_once: int) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._waiting: set[asyncio.Future[Any]] = set()

    async def wait_for(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread and return its result. A cancelled caller does not stop the thread."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def run_work() -> None:
            try:
                outcome = work()
            except BaseException as fault:  # noqa: BLE001 - raised again in the waiting coroutine
                _tell(loop, _fail, done, fault)
            else:
                _tell(loop, _succeed, done, outcome)

        async with self._turns:
            threading.Thread(target=run_work, name="provider", daemon=True).start()
            self._waiting.add(done)
            try:
                return await done
            finally:
                self._waiting.discard(done)

    def give_up(self, fault: Exception) -> None:
        """Fail every waiting call with this exception. Call it in the event loop's thread."""
        for done in self._waiting:
            _fail(done, fault)


def _tell(loop: asyncio.AbstractEventLoop, tell: Callable[..., None], *values: object) -> None:
    try:
        loop.call_soon_threadsafe(tell, *values)
    except RuntimeError:
        if not loop.is_closed():  # a closed loop means that the node has stopped, so nothing waits
            raise


def _succeed(done: asyncio.Future[T], outcome: T) -> None:
    if not done.done():
        done.set_result(outcome)


def _fail(done: asyncio.Future[T], fault: BaseException) -> None:
    if not done.done():
        done.set_exception(fault)
