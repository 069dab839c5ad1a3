"""One HTTP client for all of a service's evidence: one pool, bounded sizes and times, certificates kept.

The certificate of each answer is taken from the very connection that brought it. No CA is asked whether it is valid:
that the evidence binds it is what rules 3, 4 and 7 show.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Protocol, runtime_checkable
from urllib.parse import urljoin, urlsplit

import httpx

from conformance.transport import BoundedNetwork, Pool, Routes, unverified
from conformance.values.addresses import read_address
from conformance.verify.evidence import MOST_BYTES
from conformance.verify.strict import printable

MOST_REDIRECTS = 3
MOST_HEADER_BYTES = 100 * 1024
"""Of the headers of one answer, by httpcore."""
BUSY = frozenset({429, 503})
"""Statuses that tell nothing of what is served."""


class FetchError(Exception):
    """Something that is needed to judge a service cannot be fetched. The text, one line, says what, where and why."""

    def __init__(self, text: str) -> None:
        super().__init__(printable(text))


class ElsewhereError(FetchError):
    """A service redirects to another origin."""


@dataclass(frozen=True)
class Limits:
    """How much a verification takes from the network before it gives up with FetchError."""

    answer_seconds: float = 30.0
    """For one answer, from the look-up of the name to the last byte; also for all DNS questions of a look-up."""
    total_seconds: float = 300.0
    """For all of them together; time in which nobody is asked does not count."""
    answer_bytes: int = MOST_BYTES
    """Of one body."""
    total_bytes: int = 64 * 1024 * 1024
    """Of all answers together, with their headers."""


class Budget:
    """What is left of the limits of one verification. For one thread."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.seconds = self.limits.total_seconds
        self.bytes = self.limits.total_bytes

    @contextmanager
    def exchange(self) -> Iterator[float]:
        """Take what one exchange lasts from the budget. Gives the time of the monotonic clock when it must be over."""
        began = time.monotonic()
        try:
            yield began + min(self.limits.answer_seconds, self.seconds)
        finally:
            self.seconds -= time.monotonic() - began

    @property
    def bound(self) -> str:
        """The bound on the time of the next exchange, for people."""
        if self.seconds < self.limits.answer_seconds:
            return f"the {self.limits.total_seconds:g} s for all answers together"
        return f"{self.limits.answer_seconds:g} s"


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
    """A client of one origin. Use it in `with`. ValueError: its URL is none."""

    def __init__(
        self,
        base_url: str,
        budget: Budget | None = None,
        witness: Witness | None = None,
        trust: Callable[[], ssl.SSLContext] = unverified,
    ) -> None:
        self.base_url = read_address(base_url)
        self.budget = budget or Budget()
        self._witness = witness or Witness()
        self._network = BoundedNetwork()
        self._client = httpx.Client(
            # TLS ends at the service, also through a proxy, which only tunnels it
            transport=Routes(partial(Pool, most=1, network=self._network), trust=trust),
            trust_env=False,
            timeout=self.budget.limits.answer_seconds,
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
            answer, location = self._one(Asked("GET", url))
            if location is None:
                return answer
            target = _target(url, location)
            if _origin(target) != _origin(url):
                raise ElsewhereError(
                    f"{_short(url)} redirects to another origin, {target[:200]!r}: its evidence would be another's"
                )
            url = target
        raise FetchError(f"{_short(url)} redirects more than {MOST_REDIRECTS} times")

    def post(self, body: str) -> Answer:
        """POST JSON to the base URL. FetchError as for `get`, and for every status but 200."""
        answer, _ = self._one(Asked("POST", self.base_url, body))
        if answer.status != 200:
            raise FetchError(f"{self.base_url} answers with status {answer.status}")
        return answer

    def _one(self, asked: Asked) -> tuple[Answer, str | None]:
        self._witness.before()
        began, answer = time.monotonic(), None
        try:
            answer, location = self._ask(asked)
        finally:
            self._witness.after(asked, answer, time.monotonic() - began)
        return answer, location

    def _ask(self, asked: Asked) -> tuple[Answer, str | None]:
        url, bound = asked.url, self.budget.bound
        headers = {} if asked.body is None else {"Content-Type": "application/json"}
        try:
            with (
                self._within_budget(),
                self._client.stream(asked.method, url, content=asked.body, headers=headers) as response,
            ):
                return self._read(response, url)
        except httpx.TimeoutException as problem:
            raise FetchError(f"{_short(url)} did not answer within {bound}: {reason(problem)}") from problem
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:
            raise FetchError(f"{_short(url)} cannot be fetched: {reason(problem)}") from problem

    @contextmanager
    def _within_budget(self) -> Iterator[None]:
        most = 2 * self.budget.limits.answer_bytes + MOST_HEADER_BYTES
        with self.budget.exchange() as end:
            self._network.begin(end, min(most, self.budget.bytes))
            try:
                yield
            finally:
                self.budget.bytes -= self._network.received

    def _read(self, response: httpx.Response, url: str) -> tuple[Answer, str | None]:
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding != "identity":
            raise FetchError(f"{_short(url)} answers with Content-Encoding {encoding[:40]!r}; identity was asked for")
        if response.status_code in BUSY:
            raise FetchError(f"{_short(url)} answers with status {response.status_code}: ask again later")
        location = response.headers.get("Location") if response.is_redirect else None
        headers = {name.lower(): value for name, value in response.headers.items()}
        certificate, body = _certificate(response), bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > self.budget.limits.answer_bytes:
                raise FetchError(f"{_short(url)} answers with more than {self.budget.limits.answer_bytes} bytes")
        return Answer(response.status_code, bytes(body), certificate, headers), location


def _certificate(response: httpx.Response) -> bytes | None:
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("ssl_object") if stream is not None else None
    return connection.getpeercert(True) if isinstance(connection, _Peer) else None


def reason(problem: Exception) -> str:
    """Why a request failed, for people."""
    text = str(problem) or type(problem).__name__
    # the words of h11, which counts headers of 1xx and trailers, too
    return text.replace("Receive buffer too long", f"more than {MOST_HEADER_BYTES} bytes of headers")


def _short(url: str) -> str:
    """A URL for people; that of a redirect may be long."""
    return url if len(url) <= 200 else f"{url[:200]}…"


def _target(url: str, location: str) -> str:
    """Where a redirect leads."""
    try:
        return urljoin(url, location)
    except ValueError as problem:
        raise FetchError(f"{_short(url)} redirects to {location[:200]!r}, which is no URL") from problem


def _origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        origin = parts.scheme, parts.hostname, parts.port
    except ValueError:
        origin = "", None, None
    return origin
