"""Waiting for the payment provider apart from everything else, in threads that the node's end does not wait for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Patience:
    """Runs what may take long, so much of it at once; what comes beyond that waits for its turn."""

    def __init__(self, at_once: int) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._waiting: set[asyncio.Future[Any]] = set()

    async def wait_for(self, work: Callable[[], T]) -> T:
        """What `work` returns or raises. It goes on when nobody waits any more, and ends with the process."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def carry_out() -> None:
            try:
                outcome = work()
            except BaseException as fault:  # noqa: BLE001 - raised where it is waited for
                _tell(loop, _fail, done, fault)
            else:
                _tell(loop, _succeed, done, outcome)

        async with self._turns:
            threading.Thread(target=carry_out, name="provider", daemon=True).start()
            self._waiting.add(done)
            try:
                return await done
            finally:
                self._waiting.discard(done)

    def give_up(self, fault: Exception) -> None:
        """Have everybody who waits wait no longer. Called in the thread of the event loop."""
        for done in self._waiting:
            _fail(done, fault)


def _tell(loop: asyncio.AbstractEventLoop, tell: Callable[..., None], *values: object) -> None:
    try:
        loop.call_soon_threadsafe(tell, *values)
    except RuntimeError:
        if not loop.is_closed():  # the node has ended: nobody waits any more
            raise


def _succeed(done: asyncio.Future[T], outcome: T) -> None:
    if not done.done():
        done.set_result(outcome)


def _fail(done: asyncio.Future[T], fault: BaseException) -> None:
    if not done.done():
        done.set_exception(fault)
