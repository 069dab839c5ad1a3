"""One HTTP client for all of a service's evidence: one pool, bounded sizes and times, certificates kept.

The certificate of each answer is taken from the very connection that brought it. No CA is asked whether it is valid:
that the evidence binds it is what rules 3, 4 and 7 show.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Protocol, runtime_checkable
from urllib.parse import urljoin, urlsplit

import httpx

from conformance.transport import Pool, Routes, unverified
from conformance.values.addresses import read_address
from conformance.verify.evidence import MOST_BYTES

SECONDS = 30.0
"""For one answer, from its first byte sent to its last received."""
MOST_REDIRECTS = 3
BUSY = frozenset({429, 503})
"""Statuses that tell nothing of what is served."""


class FetchError(Exception):
    """Something that is needed to judge a service cannot be fetched. The text says what, where and why."""


@dataclass(frozen=True)
class Answer:
    """An answer and the certificate of its connection."""

    status: int
    body: bytes
    certificate: bytes | None
    """DER; None over plain HTTP."""
    headers: Mapping[str, str]
    """By name in lower case."""


class Witness:
    """Is told of every request of the service and of the chain. This one does nothing of it; derive from it."""

    def before(self) -> None:
        """A request is about to be sent; may wait."""

    def after(self, request: Asked, answer: Answer | None, seconds: float) -> None:
        """It was answered; None: not, or not in a way that can be used."""


@dataclass(frozen=True)
class Asked:
    """A request."""

    method: str
    url: str
    body: str | None = None


@runtime_checkable
class _Peer(Protocol):
    """A TLS connection, of whichever class of `ssl` or `_ssl` the HTTP library hands out."""

    def getpeercert(self, binary_form: bool, /) -> bytes | None:
        """The peer's certificate in DER."""


class Transport:
    """A client of one origin. Use it in `with`."""

    def __init__(self, base_url: str, seconds: float = SECONDS, witness: Witness | None = None) -> None:
        self.base_url = read_address(base_url)
        self._seconds = seconds
        self._witness = witness or Witness()
        self._client = httpx.Client(
            # TLS ends at the service, also through a proxy, which only tunnels it
            transport=Routes(partial(Pool, most=1), trust=unverified),
            trust_env=False,
            timeout=seconds,
            follow_redirects=False,
            headers={"Accept-Encoding": "identity", "User-Agent": "service-conformance"},
        )

    def __enter__(self) -> Transport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, path: str) -> Answer:
        """GET a path under the base URL. FetchError: no answer, or it is too long, too slow or leads elsewhere."""
        url = f"{self.base_url}{path}"
        for _ in range(MOST_REDIRECTS + 1):
            answer, location = self._one(url)
            if location is None:
                return answer
            target = urljoin(url, location)
            if _origin(target) != _origin(url):
                raise FetchError(
                    f"{url} redirects to another origin, {target[:200]!r}: its evidence would be another's"
                )
            url = target
        raise FetchError(f"{url} redirects more than {MOST_REDIRECTS} times")

    def _one(self, url: str) -> tuple[Answer, str | None]:
        self._witness.before()
        began, answer = time.monotonic(), None
        try:
            answer, location = self._ask(url, began + self._seconds)
        finally:
            self._witness.after(Asked("GET", url), answer, time.monotonic() - began)
        return answer, location

    def _ask(self, url: str, end: float) -> tuple[Answer, str | None]:
        try:
            with self._client.stream("GET", url) as response:
                encoding = response.headers.get("Content-Encoding", "identity")
                if encoding != "identity":
                    raise FetchError(f"{url} answers with Content-Encoding {encoding[:40]!r}; identity was asked for")
                location = response.headers.get("Location") if response.is_redirect else None
                headers = {name.lower(): value for name, value in response.headers.items()}
                if response.status_code in BUSY:
                    raise FetchError(f"{url} answers with status {response.status_code}: ask again later")
                certificate = _certificate(response)
                return Answer(response.status_code, _body(response, url, end), certificate, headers), location
        except httpx.TimeoutException as problem:
            raise FetchError(f"{url} did not answer within {self._seconds:g} s: {reason(problem)}") from problem
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:
            raise FetchError(f"{url} cannot be fetched: {reason(problem)}") from problem


def _body(response: httpx.Response, url: str, end: float) -> bytes:
    chunks: list[bytes] = []
    size = 0
    for chunk in response.iter_raw():
        size += len(chunk)
        if size > MOST_BYTES:
            raise FetchError(f"{url} answers with more than {MOST_BYTES} bytes")
        if time.monotonic() > end:
            raise FetchError(f"{url} takes too long to send its answer")
        chunks.append(chunk)
    return b"".join(chunks)


def _certificate(response: httpx.Response) -> bytes | None:
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("ssl_object") if stream is not None else None
    return connection.getpeercert(True) if isinstance(connection, _Peer) else None


def reason(problem: Exception) -> str:
    """Why a request failed, for people."""
    return str(problem) or type(problem).__name__


def _origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        origin = parts.scheme, parts.hostname, parts.port
    except ValueError:
        origin = "", None, None
    return origin
