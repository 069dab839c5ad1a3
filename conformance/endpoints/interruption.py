"""Ends the cases of a run whose threads no signal reaches: Python interrupts the first thread of a process alone."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from weakref import WeakSet

import httpcore

_cleans_up: ContextVar[bool] = ContextVar("cleans_up", default=False)


class Interruption:
    """Whether the run has been interrupted, and the connections on which its threads wait. For several threads."""

    def __init__(self) -> None:
        self._begun = threading.Event()
        self._opened: WeakSet[httpcore.NetworkStream] = WeakSet()
        self._lock = threading.Lock()

    def note(self, stream: httpcore.NetworkStream) -> None:
        """A connection was opened, or put under TLS."""
        with self._lock:
            self._opened.add(stream)

    def begin(self) -> None:
        """Raise KeyboardInterrupt in every thread that sends or waits, or that is about to."""
        self._begun.set()
        with self._lock:
            for stream in self._opened:
                opened = stream.get_extra_info("socket")
                with suppress(OSError):  # it is closed already
                    socket.socket.shutdown(opened, socket.SHUT_RDWR)

    def check(self) -> None:
        """Raise KeyboardInterrupt where the run is interrupted, unless this thread cleans up."""
        if self._begun.is_set() and not _cleans_up.get():
            raise KeyboardInterrupt

    def pause(self, seconds: float) -> None:
        """Wait so many seconds. Raises KeyboardInterrupt when the run is interrupted, unless this thread cleans up."""
        if _cleans_up.get():
            time.sleep(max(0.0, seconds))
            return
        if seconds > 0:
            self._begun.wait(seconds)
        self.check()


@contextmanager
def cleaning_up() -> Iterator[None]:
    """Let nothing in this thread be interrupted within the block."""
    was = _cleans_up.set(True)
    try:
        yield
    finally:
        _cleans_up.reset(was)
