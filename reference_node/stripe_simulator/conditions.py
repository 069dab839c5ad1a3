"""The conditions under which the simulator answers: latency, faults and rate limits that the control interface sets."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

DELAY_LIMIT_MS = 600_000

Milliseconds = Annotated[int, Field(ge=0, le=DELAY_LIMIT_MS)]


class Condition(BaseModel):
    """Something that holds for requests of a method (`*`: any) and a path, in which `*` stands for anything."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    method: Literal["*", "GET", "POST", "DELETE"] = "*"
    path: Annotated[str, Field(max_length=1000)] = "*"

    def holds(self, method: str, path: str) -> bool:
        """Whether the condition applies to the request."""
        return self.method in {"*", method} and fnmatchcase(path, self.path)


class Latency(Condition):
    """How long an answer takes.

    `before_ms` pass before the request has its effect, with its object and its idempotency key in use, `after_ms` pass
    after it. Up to `jitter_ms`, drawn anew each time, come on top of both.
    """

    before_ms: Milliseconds = 0
    after_ms: Milliseconds = 0
    jitter_ms: Milliseconds = 0


class Fault(Condition):
    """What goes wrong.

    `status` answers with an API error of that status, `drop` closes the connection without an answer, `garbage` answers
    `body` with the status, and `repeat` lets a request arrive twice and gives the second answer. `when` is `before` the
    request has any effect; `after` it has been carried out, so that its answer is lost; or `saved`: no effect, but the
    failure is kept under the idempotency key and given again, as Stripe does once it has begun to carry a request out.
    """

    kind: Literal["status", "drop", "garbage", "repeat"] = "status"
    when: Literal["before", "after", "saved"] = "before"
    status: Annotated[int, Field(ge=200, le=599)] = 500
    retry_after: Annotated[int, Field(ge=0, le=86400)] | None = None
    """Seconds of the header Retry-After."""
    should_retry: bool | None = None
    """The header Stripe-Should-Retry."""
    code: Annotated[str, Field(max_length=100)] | None = None
    body: Annotated[str, Field(max_length=100_000)] = "<html><body>upstream error</body></html>"
    skip: Annotated[int, Field(ge=0)] = 0
    """Requests that are let through first."""
    times: Annotated[int, Field(ge=1)] | None = 1
    """Requests that meet it; `None`: all from then on."""

    def answers(self, when: str) -> bool:
        """Whether it gives an answer of its own at this time: a request that comes twice gets that of the second."""
        return self.when == when and self.kind != "repeat"


class RateLimit(Condition):
    """At most so many requests in each span of so many seconds."""

    requests: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(gt=0, le=3600)] = 1.0
    retry_after: Annotated[int, Field(ge=0, le=86400)] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a request meets: delays in seconds, and perhaps a fault or a limit."""

    before: float = 0.0
    after: float = 0.0
    fault: Fault | None = None
    limit: RateLimit | None = None


@dataclass(slots=True)
class _Armed:
    fault: Fault
    skip: int
    left: int | None


class Conditions:
    """What holds at present. Not safe for many threads: the simulator's lock guards it."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self.latencies: list[Latency] = []
        self._armed: list[_Armed] = []
        self.rate_limit: RateLimit | None = None
        self._arrivals: deque[float] = deque()

    def add_fault(self, fault: Fault) -> None:
        """Have this go wrong, after the faults that are there already."""
        self._armed.append(_Armed(fault, fault.skip, fault.times))

    def limit(self, limit: RateLimit | None) -> None:
        """Set the rate limit, or lift it."""
        self.rate_limit = limit
        self._arrivals.clear()

    def faults(self) -> list[Fault]:
        """The faults that are still to come."""
        return [armed.fault for armed in self._armed]

    def clear(self) -> None:
        """Remove all conditions."""
        self.latencies = []
        self._armed = []
        self.limit(None)

    def plan(self, method: str, path: str) -> Plan:
        """What the request that arrives now meets; the first latency and the first fault that hold for it."""
        if not self.latencies and not self._armed and self.rate_limit is None:
            return Plan()
        latency = next((entry for entry in self.latencies if entry.holds(method, path)), Latency())
        jitter = latency.jitter_ms / 1000
        return Plan(
            latency.before_ms / 1000 + random.uniform(0, jitter),  # noqa: S311 - a delay
            latency.after_ms / 1000 + random.uniform(0, jitter),  # noqa: S311
            self._fault(method, path),
            self._exceeded(method, path),
        )

    def _fault(self, method: str, path: str) -> Fault | None:
        for armed in self._armed:
            if not armed.fault.holds(method, path):
                continue
            if armed.skip:
                armed.skip -= 1
                continue
            if armed.left is not None:
                armed.left -= 1
                if not armed.left:
                    self._armed.remove(armed)
            return armed.fault
        return None

    def _exceeded(self, method: str, path: str) -> RateLimit | None:
        limit = self.rate_limit
        if limit is None or not limit.holds(method, path):
            return None
        now = self._monotonic()
        while self._arrivals and self._arrivals[0] <= now - limit.seconds:
            self._arrivals.popleft()
        if len(self._arrivals) >= limit.requests:
            return limit
        self._arrivals.append(now)
        return None
