"""The HTTP client under a target: no redirect, no cookie, and one time-out for an exchange as a whole."""

from __future__ import annotations

import math
import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path

import httpcore
import httpx

from conformance.endpoints.bodies import TooLargeError
from conformance.endpoints.interruption import Interruption
from conformance.transport import Pool, Routes, trusted
from conformance.transport.bounded import BoundedStream, Opening, time_left

MOST_CONNECTIONS = 256
MOST_OVERHEAD = 1024 * 1024
"""The most bytes of headers, 1xx answers and framing of one answer, beside an eighth of its body."""
KEEP_IDLE_SECONDS = 1.0
"""Shorter than any usual server's keep-alive: reusing a connection that the server is closing looks like a fault."""

LOCATION = "location"
"""Where an answer keeps this header aside."""

EXCHANGE_ENDS: ContextVar[float] = ContextVar("exchange_ends", default=math.inf)
"""When the exchange has to be over that the thread, or the greenlet of a campaign, is carrying out."""


@dataclass
class Received:
    """What an exchange took in."""

    raw: int = 0
    """Bytes of the connection."""
    body: int = 0
    """Bytes of the body among them."""

    def count(self, size: int) -> None:
        """Note bytes of the connection. TooLargeError: too many of them are not of the body."""
        self.raw += size
        if self.raw - self.body - self.body // 8 > MOST_OVERHEAD:
            raise TooLargeError(f"more than {MOST_OVERHEAD} bytes of headers, 1xx answers and framing")


RECEIVED: ContextVar[Received | None] = ContextVar("received", default=None)
"""What the exchange took in so far."""


@contextmanager
def exchange_within(seconds: float) -> Iterator[Received]:
    """Let all waits for a peer, however many there are, end so many seconds from now, and bound what it sends."""
    received = Received()
    ends, before = EXCHANGE_ENDS.set(time.monotonic() + seconds), RECEIVED.set(received)
    try:
        yield received
    finally:
        EXCHANGE_ENDS.reset(ends)
        RECEIVED.reset(before)


def http_client(
    timeout: float, kept: int, ca_file: Path | None = None, interruption: Interruption | None = None
) -> httpx.Client:
    """A client that keeps so many idle connections. `ca_file`: certificates to trust beside this machine's."""
    trust = partial(trusted, ca_file)
    return httpx.Client(
        timeout=timeout,
        follow_redirects=False,
        trust_env=False,  # what of the environment counts, the transport reads
        transport=Routes(partial(_pool, kept, interruption or Interruption()), trust, trust),
        event_hooks={"response": [_put_location_aside]},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # the keys alone say who asks
        headers={
            "User-Agent": "service-conformance",
            "Accept": "application/json, */*;q=0.5",
            "Accept-Encoding": "identity",
        },
    )


def _put_location_aside(response: httpx.Response) -> None:
    """Keep httpx from building the request of a redirect that nobody follows, which fails where the place is no URL."""
    if "location" in response.headers:
        response.extensions[LOCATION] = response.headers.pop("location")


def with_location(response: httpx.Response) -> httpx.Response:
    """An answer with all of its headers."""
    if (location := response.extensions.pop(LOCATION, None)) is not None:
        response.headers["location"] = location
    return response


def _pool(kept: int, interruption: Interruption, context: ssl.SSLContext, proxy: httpcore.Proxy | None) -> Pool:
    network = _Network(interruption)
    return Pool(context, proxy, most=MOST_CONNECTIONS, kept=kept, idle_seconds=KEEP_IDLE_SECONDS, network=network)


class _OfTheExchange:
    """The bounds of the exchange that the thread, or greenlet, is carrying out."""

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption

    def seconds(self, timeout: float | None, over: type[Exception]) -> float | None:
        """How long one wait may take. Raises `over` where the exchange is over."""
        return time_left(EXCHANGE_ENDS.get(), timeout, over)

    def count(self, size: int) -> None:
        """Note what arrived. TooLargeError: it is more than an exchange may take in."""
        if (received := RECEIVED.get()) is not None:
            received.count(size)

    def open(self, opening: Opening, timeout: float | None) -> httpcore.NetworkStream:
        """Open within the time that is left."""
        stream = opening(self.seconds(timeout, httpcore.ConnectTimeout))
        self._interruption.note(stream)
        return stream


class _Network(httpcore.SyncBackend):
    """Connections that keep to the time-out of the exchange, and that an interruption breaks."""

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect."""
        bounds = _OfTheExchange(self._interruption)
        connect = super().connect_tcp
        stream = bounds.open(lambda seconds: connect(host, port, seconds, local_address, socket_options), timeout)
        return BoundedStream(stream, bounds)
