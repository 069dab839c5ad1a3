"""Connections that end at a time and take in a bounded number of bytes, however a server sends them."""

from __future__ import annotations

import math
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any

import httpcore


class BoundedNetwork(httpcore.NetworkBackend):
    """Opens connections under bounds that `begin` sets for one exchange. For one thread.

    The timeouts of HTTP clients are for each wait, and start again with each byte that arrives.
    """

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
        seconds = self.seconds(timeout, httpcore.ConnectTimeout)
        return _BoundedStream(
            _within(seconds, lambda: self._network.connect_tcp(host, port, seconds, local_address, socket_options)),
            self,
        )

    def seconds(self, timeout: float | None, error: type[Exception]) -> float:
        """How long one wait may take. Raises `error` where the exchange is over."""
        left = min(math.inf if timeout is None else timeout, self._end - time.monotonic())
        if left <= 0:
            raise error("timed out")
        return left

    def count(self, size: int) -> None:
        """Note what arrived. ReadError: it is more than the exchange may take in."""
        self._left -= size
        if self._left < 0:
            raise httpcore.ReadError(f"it sends more than {self._most} bytes")


class _BoundedStream(httpcore.NetworkStream):
    """One connection."""

    def __init__(self, stream: httpcore.NetworkStream, bounds: BoundedNetwork) -> None:
        self._stream, self._bounds = stream, bounds

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read."""
        data = self._stream.read(max_bytes, self._bounds.seconds(timeout, httpcore.ReadTimeout))
        self._bounds.count(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write."""
        self._stream.write(buffer, self._bounds.seconds(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        """Close it."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Begin TLS. The time is for the whole handshake."""
        seconds = self._bounds.seconds(timeout, httpcore.ConnectTimeout)
        return _BoundedStream(
            _within(seconds, lambda: self._stream.start_tls(ssl_context, server_hostname, seconds)), self._bounds
        )

    def get_extra_info(self, info: str) -> Any:
        """What the connection tells."""
        return self._stream.get_extra_info(info)


def _within(seconds: float, connect: Callable[[], httpcore.NetworkStream]) -> httpcore.NetworkStream:
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
