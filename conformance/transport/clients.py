"""HTTP clients that keep to the rule: no proxy to this machine, no `.netrc`, and errors that name the proxy."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import httpcore
import httpx
from socksio import SOCKSError

from conformance.transport.proxies import PORTS, BadProxyError, Proxy, forwarder, proxy_for
from conformance.transport.trust import BadCertificatesError, trusted, unverified

REFUSED_BY_PROXY = 407
"""The status with which an HTTP proxy asks for its own password (RFC 9110, 15.5.8)."""
Trust = Callable[[], ssl.SSLContext]


class Pool(httpx.HTTPTransport):
    """Connections that go directly or through one proxy."""

    def __init__(
        self,
        context: ssl.SSLContext,
        proxy: httpcore.Proxy | None,
        *,
        most: int | None = None,
        kept: int | None = None,
        idle_seconds: float = 5.0,
        network: httpcore.NetworkBackend | None = None,
    ) -> None:
        super().__init__(verify=context)
        self._pool = httpcore.ConnectionPool(
            ssl_context=context,
            proxy=proxy,
            max_connections=most,
            max_keepalive_connections=kept,
            keepalive_expiry=idle_seconds,
            network_backend=network,
        )


class Routes(httpx.BaseTransport):
    """Sends each request directly or through the proxy of its URL, over a pool for each of these ways."""

    def __init__(
        self,
        pool: Callable[[ssl.SSLContext, httpcore.Proxy | None], Pool] = Pool,
        trust: Trust = trusted,
        trust_of_proxies: Trust = trusted,
    ) -> None:
        """`trust`: the TLS contexts of servers and of proxies, which are made when they are first needed."""
        self._pool, self._trust, self._trust_of_proxies = pool, trust, trust_of_proxies
        self._proxies: dict[tuple[str, str, int | None], Proxy | None] = {}
        self._pools: dict[tuple[Proxy | None, bool], Pool] = {}
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request. Raises ProxyError where a proxy is at fault, and ConnectError for unusable certificates."""
        try:
            proxy, pool = self._way(request.url)
        except BadProxyError as problem:
            raise httpx.ProxyError(str(problem), request=request) from problem
        except BadCertificatesError as problem:
            raise httpx.ConnectError(str(problem), request=request) from problem
        if proxy is None:
            return pool.handle_request(request)
        if proxy.scheme not in PORTS:
            request.extensions["trace"] = _SocksTrace(request.extensions.get("trace"))
        with _naming(proxy, request):
            response = pool.handle_request(request)
            if response.status_code == REFUSED_BY_PROXY and forwarder(str(request.url)):
                response.close()
                raise httpx.ProxyError(f"status {response.status_code}")
        if isinstance(response.stream, httpx.SyncByteStream):
            response.stream = _Body(response.stream, proxy, request)
        return response

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.close()

    def _way(self, url: httpx.URL) -> tuple[Proxy | None, Pool]:
        origin = url.scheme, url.host, url.port
        with self._lock:
            if origin not in self._proxies:
                self._proxies[origin] = proxy_for(str(url))
            proxy, secure = self._proxies[origin], url.scheme == "https"
            if (proxy, secure) not in self._pools:
                # plain connections need no certificates, and reading them takes time
                context = self._trust() if secure else unverified()
                self._pools[proxy, secure] = self._pool(context, None if proxy is None else self._connected(proxy))
            return proxy, self._pools[proxy, secure]

    def _connected(self, proxy: Proxy) -> httpcore.Proxy:
        url = httpcore.URL(scheme=proxy.scheme, host=proxy.host, port=proxy.port, target="/")
        return httpcore.Proxy(
            url, auth=proxy.auth, ssl_context=self._trust_of_proxies() if proxy.scheme == "https" else None
        )


def client(*, timeout: float, trust: Trust = trusted) -> httpx.Client:
    """A client that follows no redirects. `timeout` in seconds, for each wait."""
    return httpx.Client(
        transport=Routes(trust=trust),
        trust_env=False,  # what of the environment counts, the transport reads
        timeout=timeout,
        follow_redirects=False,
    )


class _SocksTrace:
    """Closes the connection to a SOCKS proxy that refuses: httpcore leaves it open."""

    def __init__(self, further: Callable[[str, Mapping[str, object]], None] | None) -> None:
        self._further = further
        self._stream: object = None

    def __call__(self, event: str, info: Mapping[str, object]) -> None:
        """Note an event of httpcore."""
        if event == "socks.connect_tcp.complete":
            self._stream = info["return_value"]
        elif event == "socks.setup_socks5_connection.failed" and isinstance(self._stream, httpcore.NetworkStream):
            self._stream.close()
        if self._further is not None:
            self._further(event, info)


class _Body(httpx.SyncByteStream):
    """The body of an answer that comes through a proxy."""

    def __init__(self, stream: httpx.SyncByteStream, proxy: Proxy, request: httpx.Request) -> None:
        self._stream, self._proxy, self._request = stream, proxy, request

    def __iter__(self) -> Iterator[bytes]:
        with _naming(self._proxy, self._request):
            yield from self._stream

    def close(self) -> None:
        """Close it."""
        self._stream.close()


@contextmanager
def _naming(proxy: Proxy, request: httpx.Request) -> Iterator[None]:
    """Add the proxy to the text of each error on the way."""
    try:
        yield
    except httpx.TransportError as problem:
        raise type(problem)(f"{problem} {proxy}".lstrip(), request=request) from problem
    except (SOCKSError, AssertionError) as problem:  # httpcore asserts what a SOCKS proxy answers
        raise httpx.ProxyError(f"no answer as a SOCKS proxy gives it {proxy}", request=request) from problem
