"""Connections that keep to bounds of an exchange as a whole, however a server sends its bytes.

A time-out of HTTP clients is for one wait: a server that sends byte after byte, or 102 again and again, never meets it.
"""

from __future__ import annotations

import math
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, Protocol

import httpcore

PIECE = 64 * 1024
"""How many bytes of a request are sent under one time-out."""
Opening = Callable[[float | None], httpcore.NetworkStream]
"""What opens a connection, or TLS on it, within so many seconds; None: no limit."""


class Bounds(Protocol):
    """What an exchange may take."""

    def seconds(self, timeout: float | None, over: type[Exception]) -> float | None:
        """How long one wait may take; None: for ever. Raises `over` where the exchange is over."""

    def count(self, size: int) -> None:
        """Note what arrived."""

    def open(self, opening: Opening, timeout: float | None) -> httpcore.NetworkStream:
        """Open a connection within the time that is left."""


def time_left(end: float, timeout: float | None, over: type[Exception]) -> float | None:
    """The seconds until `end` of the monotonic clock, at most `timeout`; None: no limit. Raises `over` at the end."""
    left = end - time.monotonic()
    if left <= 0:
        raise over("the exchange as a whole took too long")
    least = min(left, math.inf if timeout is None else timeout)
    return None if least == math.inf else least


class BoundedStream(httpcore.NetworkStream):
    """A connection within bounds."""

    def __init__(self, stream: httpcore.NetworkStream, bounds: Bounds) -> None:
        self._stream, self._bounds = stream, bounds

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what has come, or wait for it."""
        data = self._stream.read(max_bytes, self._bounds.seconds(timeout, httpcore.ReadTimeout))
        self._bounds.count(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all."""
        for start in range(0, len(buffer), PIECE):
            self._stream.write(buffer[start : start + PIECE], self._bounds.seconds(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """The connection under TLS."""
        stream = self._bounds.open(
            lambda seconds: self._stream.start_tls(ssl_context, server_hostname, seconds), timeout
        )
        return BoundedStream(stream, self._bounds)

    def get_extra_info(self, info: str) -> Any:
        """What is known of the connection."""
        return self._stream.get_extra_info(info)


class BoundedNetwork(httpcore.NetworkBackend):
    """Opens connections under bounds that `begin` sets for one exchange. For one thread."""

    def __init__(self, network: httpcore.NetworkBackend | None = None) -> None:
        self._network = network or httpcore.SyncBackend()
        self._end = math.inf
        self._left = self._most = 0

    def begin(self, end: float, most_bytes: int) -> None:
        """Let the next exchange end by `end` of the monotonic clock, and take in `most_bytes` with all headers."""
        self._end = end
        self._left = self._most = most_bytes

    @property
    def received(self) -> int:
        """Bytes that the exchange took in."""
        return self._most - self._left

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect. The time is for the look-up of the name and all of its addresses together."""
        stream = self.open(
            lambda seconds: self._network.connect_tcp(host, port, seconds, local_address, socket_options), timeout
        )
        return BoundedStream(stream, self)

    def open(self, opening: Opening, timeout: float | None) -> httpcore.NetworkStream:
        """Open within the time that is left; a step of it that takes longer goes on by itself, and is closed."""
        seconds = self.seconds(timeout, httpcore.ConnectTimeout)
        return _within(seconds, lambda: opening(seconds))

    def seconds(self, timeout: float | None, over: type[Exception]) -> float | None:
        """How long one wait may take. Raises `over` where the exchange is over."""
        return time_left(self._end, timeout, over)

    def count(self, size: int) -> None:
        """Note what arrived. ReadError: it is more than the exchange may take in."""
        self._left -= size
        if self._left < 0:
            raise httpcore.ReadError(f"it sends more than {self._most} bytes")


def _within(seconds: float | None, connect: Callable[[], httpcore.NetworkStream]) -> httpcore.NetworkStream:
    """The outcome of `connect`. ConnectTimeout: it takes longer; its connection is closed once it is there."""
    outcome: Future[httpcore.NetworkStream] = Future()

    def run() -> None:
        try:
            stream = connect()
        except Exception as problem:  # noqa: BLE001 - whoever waits gets it
            if outcome.set_running_or_notify_cancel():
                outcome.set_exception(problem)
            return
        if outcome.set_running_or_notify_cancel():
            outcome.set_result(stream)
        else:
            stream.close()

    threading.Thread(target=run, daemon=True).start()
    try:
        return outcome.result(seconds)
    except TimeoutError:
        if outcome.cancel():
            raise httpcore.ConnectTimeout("timed out") from None
        return outcome.result()
