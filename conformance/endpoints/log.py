"""The exchanges of one case, kept unredacted in memory and redacted when read."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from conformance.endpoints.bodies import MOST_OF_A_CASE, SMALL_ANSWER, TooLargeError
from conformance.endpoints.pace import Spending
from conformance.endpoints.redaction import Secrets, as_curl
from conformance.values.ids import Address, PkpId
from conformance.verdict import Exchange

LONGEST_KEPT = 300_000
"""Characters of a body that are kept while a case runs; an answer may have a hundred times as many."""
SHORTEST_TELLING = 8
"""Characters of a text that tells which answer it came with."""
LONGEST_BODY = 4_000
"""Characters of a body that a report shows."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The duration of an exchange, without its contents."""

    operation: str
    """The operation; for other requests the first part of the path: `/rpc`."""
    method: str
    status: int | None
    """None when no answer came."""
    seconds: float
    size: int
    """Characters of the answer's body."""


@dataclass(frozen=True, slots=True)
class RawExchange:
    """An unredacted request and its answer. It is written only after redaction."""

    method: str
    url: str
    request_headers: dict[str, str]
    request_body: str | None
    status: int | None
    response_headers: dict[str, str]
    response_body: str
    seconds: float
    operation: str = ""
    """The operation that was called; empty for the chain and for files."""
    cut: int = 0
    """Characters of the answer's body that are not kept."""
    began: float = 0.0
    """Seconds on the clock of `time.perf_counter` when it was sent; 0 where nobody looked."""
    restarted: bool = False
    """Whether the node was restarted between the exchange before it and this one."""
    cut_off: bool = False
    """Whether it has no answer because the case restarted the node meanwhile."""

    def is_beside(self, other: RawExchange) -> bool:
        """Whether one of the two was sent before the other one was answered."""
        timed = self.began > 0 and other.began > 0
        return timed and self.began < other.began + other.seconds and other.began < self.began + self.seconds

    @property
    def timing(self) -> Timing:
        """The duration, which needs no redaction."""
        called = self.operation or f"/{urlsplit(self.url).path[1:].partition('/')[0]}"
        return Timing(called, self.method, self.status, self.seconds, len(self.response_body))


@dataclass(frozen=True, slots=True)
class ComputedIds:
    """Ids of wallets that a case computed and did not read from the list of wallets."""

    number: int
    """Of the exchange that follows."""
    reads: RawExchange
    """The request that would have given them, without an answer: it was not sent."""
    ids: Mapping[Address, PkpId]
    """By the addresses of the wallets."""
    member: str
    """What an item of the list calls the id."""


class ExchangeLog:
    """The exchanges of a case in order. Several threads may write."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._exchanges: list[RawExchange] = []
        self._forgotten = 0
        self._borrowed = 0
        self.computed: list[ComputedIds] = []
        self._weight = 0
        """What the long answers that the case may hold take in memory."""
        self.spending = Spending()
        """What the case has spent by these exchanges."""
        self._restarted = False
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._forgotten + len(self._exchanges)

    @property
    def sent(self) -> int:
        """How many requests the case has sent itself."""
        return len(self) - self._borrowed

    def forget(self, before: int | None = None) -> None:
        """Drop the exchanges so far, or those before a number. Their numbers are not used again."""
        with self._lock:
            dropped = len(self._exchanges) if before is None else before - self._forgotten
            del self._exchanges[:dropped]
            self._forgotten += dropped
            self._weight = 0

    def take(self, weight: int) -> None:
        """Count what an answer takes in memory. TooLargeError: all of the case take more than it may hold."""
        with self._lock:
            self._weight += max(0, weight - SMALL_ANSWER)
            if self._weight > MOST_OF_A_CASE:
                self._weight -= weight - SMALL_ANSWER  # it is not held
                raise TooLargeError(f"answers of one case that take more than {MOST_OF_A_CASE} bytes of memory")

    def note_cut_off(self, since: int) -> None:
        """Note that those of the exchanges from this number on to which the node gave no answer met its restart."""
        with self._lock:
            for place in range(since - self._forgotten, len(self._exchanges)):
                exchange = self._exchanges[place]
                if exchange.status is None or exchange.status >= 500:
                    self._exchanges[place] = replace(exchange, cut_off=True)

    def note_restart(self) -> None:
        """Keep with the exchange that comes next that the node was restarted before it."""
        self._restarted = True

    def add(self, exchange: RawExchange) -> int:
        """Add an exchange. Returns its number."""
        self._secrets.seen.note_addresses(exchange.response_body)
        if (cut := len(exchange.response_body) - LONGEST_KEPT) > 0:
            exchange = replace(exchange, response_body=exchange.response_body[:LONGEST_KEPT], cut=cut)
        with self._lock:
            if self._restarted:
                exchange, self._restarted = replace(exchange, restarted=True), False
            self._exchanges.append(exchange)
            return self._forgotten + len(self._exchanges) - 1

    def show(self, exchange: RawExchange) -> int:
        """Add an exchange of another case, so that a report can show it. Returns its number."""
        with self._lock:
            self._borrowed += 1
        return self.add(exchange)

    def operation(self, number: int | None) -> str:
        """The operation that an exchange called; empty where that is not known."""
        return "" if number is None else self._exchanges[number - self._forgotten].operation

    def status(self, number: int | None) -> int | None:
        """The status that an exchange was answered with; None where there is no answer or no such exchange."""
        return None if number is None else self._exchanges[number - self._forgotten].status

    def answered_with(self, texts: Sequence[str], since: int) -> int | None:
        """The newest exchange from this number on whose answer holds one of these texts; None where none does.

        Short texts are not searched for: they stand in answers by chance. Hex digits are found in any case.
        """
        searched = [text.lower().removeprefix("0x") for text in texts if len(text) >= SHORTEST_TELLING]
        for number in range(len(self) - 1, max(since, self._forgotten) - 1, -1):
            answer = self._exchanges[number - self._forgotten].response_body.lower()
            if any(text in answer for text in searched):
                return number
        return None

    @property
    def raw(self) -> tuple[RawExchange, ...]:
        """The exchanges that it holds, unredacted."""
        return tuple(self._exchanges)

    @property
    def forgotten(self) -> int:
        """How many exchanges it held before these."""
        return self._forgotten

    @property
    def operations(self) -> frozenset[str]:
        """The operations that the case has called."""
        return frozenset(exchange.operation for exchange in self._exchanges)

    def redacted(self, number: int) -> Exchange:
        """An exchange without credentials, as a report may show it."""
        raw = self._exchanges[number - self._forgotten]
        url, headers = self._secrets.hide(raw.url), self._secrets.hide_headers(raw.request_headers)
        body = None if raw.request_body is None else self._secrets.hide(raw.request_body)
        hide = self._secrets.hide_beginning
        return Exchange(
            method=raw.method,
            url=url,
            request_headers=headers,
            request_body=None if raw.request_body is None else hide(raw.request_body, LONGEST_BODY),
            status=raw.status,
            response_headers=self._secrets.hide_headers(raw.response_headers),
            response_body=hide(raw.response_body, LONGEST_BODY, raw.cut),
            seconds=raw.seconds,
            curl=as_curl(raw.method, url, headers, body),
        )
