"""Requests, answers, and requests in progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reference_node.stripe_simulator import access
from reference_node.stripe_simulator.conditions import Plan
from reference_node.stripe_simulator.operations import Call, Operation


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request as received: the path is still encoded, header names are in lower case."""

    method: str
    path: str
    query: bytes
    headers: Mapping[str, str]
    body: bytes


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
