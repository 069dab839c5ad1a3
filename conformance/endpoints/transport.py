"""The HTTP client under a target: no redirect, no cookie, and one time-out for an exchange as a whole."""

from __future__ import annotations

import math
import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path

import httpcore
import httpx

from conformance.transport import Pool, Routes, trusted

MOST_CONNECTIONS = 256
KEEP_IDLE_SECONDS = 1.0
"""Shorter than any usual server's keep-alive: reusing a connection that the server is closing looks like a fault."""
PIECE = 64 * 1024
"""How many bytes of a request are sent under one time-out."""


EXCHANGE_ENDS: ContextVar[float] = ContextVar("exchange_ends", default=math.inf)
"""When the exchange has to be over that the thread, or the greenlet of a campaign, is carrying out."""


@contextmanager
def exchange_within(seconds: float) -> Iterator[None]:
    """Let all waits for a peer, however many there are, end so many seconds from now.

    A time-out of httpx is for one read: a peer that sends byte after byte, or 102 again and again, never meets it.
    """
    ends = EXCHANGE_ENDS.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        EXCHANGE_ENDS.reset(ends)


def http_client(timeout: float, kept: int, ca_file: Path | None = None) -> httpx.Client:
    """A client that keeps so many idle connections. `ca_file`: certificates to trust beside this machine's."""
    trust = partial(trusted, ca_file)
    return httpx.Client(
        timeout=timeout,
        follow_redirects=False,
        trust_env=False,  # what of the environment counts, the transport reads
        transport=Routes(partial(_pool, kept), trust, trust),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # the keys alone say who asks
        headers={
            "User-Agent": "service-conformance",
            "Accept": "application/json, */*;q=0.5",
            "Accept-Encoding": "identity",
        },
    )


def _pool(kept: int, context: ssl.SSLContext, proxy: httpcore.Proxy | None) -> Pool:
    return Pool(context, proxy, most=MOST_CONNECTIONS, kept=kept, idle_seconds=KEEP_IDLE_SECONDS, network=_Network())


class _Network(httpcore.SyncBackend):
    """Connections that keep to the time-out of the exchange."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect."""
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(super().connect_tcp(host, port, left, local_address, socket_options))


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what has come, or wait for it."""
        return self._stream.read(max_bytes, _left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all."""
        for start in range(0, len(buffer), PIECE):
            self._stream.write(buffer[start : start + PIECE], _left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """The connection under TLS."""
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _left(timeout, httpcore.ConnectTimeout)))

    def get_extra_info(self, info: str) -> object:
        """What is known of the connection."""
        return self._stream.get_extra_info(info)


def _left(timeout: float | None, over: type[httpcore.TimeoutException]) -> float | None:
    """The seconds that a step of the exchange may take. Raises `over` when there are none."""
    left = EXCHANGE_ENDS.get() - time.monotonic()
    if left <= 0:
        raise over("the exchange as a whole took too long")
    longest = math.inf if timeout is None else timeout
    return None if min(left, longest) == math.inf else min(left, longest)
