"""Requests, answers, and requests in progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from reference_node.stripe_simulator import access
from reference_node.stripe_simulator.conditions import Plan
from reference_node.stripe_simulator.errors import StripeError
from reference_node.stripe_simulator.form import FormValue, parse_form
from reference_node.stripe_simulator.operations import Call, Operation

BODY_LIMIT = 1024 * 1024
"""Bytes of a request body."""

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class ApiRequest:
    """A request as received: the path is still encoded, header names are in lower case."""

    method: str
    path: str
    query: bytes
    headers: Mapping[str, str]
    body: bytes

    @cached_property
    def parameters(self) -> dict[str, FormValue] | StripeError:
        """The parameters of the query or the body, or why there are none."""
        try:
            return self._read()
        except StripeError as refusal:
            return refusal

    def _read(self) -> dict[str, FormValue]:
        if len(self.body) > BODY_LIMIT:
            raise StripeError(413, f"The request body is over {BODY_LIMIT} bytes.")
        if self.method == "GET" or not self.body:
            return parse_form(self.query)
        media_type = self.headers.get("content-type", FORM).partition(";")[0].strip().lower()
        if media_type != FORM:
            raise StripeError(400, f"Invalid request (check that your POST content type is {FORM}).")
        return parse_form(b"&".join(part for part in (self.query, self.body) if part))


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. `None` in its place means that the connection is closed without one."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A request in the log."""

    request_id: str
    method: str
    path: str
    idempotency_key: str | None
    status: int | None
    """The status; `None` where the connection was closed without an answer."""
    replayed: bool


@dataclass(slots=True)
class Exchange:
    """A request in progress."""

    request: ApiRequest
    request_id: str
    plan: Plan
    version: str = access.VERSION
    call: Call | None = None
    operation: Operation | None = None
    key: str | None = None
    """The idempotency key that it holds."""
    target: str | None = None
    """The object that it holds."""
    answer: Answer | None = None
    answered: bool = False
    """Whether it needs no further work."""
    replayed: bool = False
