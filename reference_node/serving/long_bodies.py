"""Reads long bodies apart from the event loop, one at a time: a megabyte of numbers takes more than half a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

LONG_BODY = 64 * 1024
"""Bytes of a body that others must not wait for."""

T = TypeVar("T")


class LongBodies:
    """Lets one long body be read at a time; those that read with the same object wait for each other."""

    def __init__(self) -> None:
        self._limiter = CapacityLimiter(1)

    async def read(self, body: bytes, read: Callable[[], T]) -> T:
        """What `read` makes of this body."""
        return await run_sync(read, limiter=self._limiter) if len(body) >= LONG_BODY else read()
