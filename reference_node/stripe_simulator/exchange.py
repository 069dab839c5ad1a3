"""Requests, answers, and a request on its way from one to the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reference_node.stripe_simulator import access
from reference_node.stripe_simulator.conditions import Plan
from reference_node.stripe_simulator.operations import Call, Operation


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request as it came: the path still encoded, header names in small letters."""

    method: str
    path: str
    query: bytes
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; `None` instead of one is a connection that is closed without any."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A request that was answered, or was to be."""

    request_id: str
    method: str
    path: str
    idempotency_key: str | None
    status: int | None
    """`None`: the connection was closed instead."""
    replayed: bool


@dataclass(slots=True)
class Exchange:
    """A request on its way through the simulator."""

    request: ApiRequest
    request_id: str
    plan: Plan
    version: str = access.VERSION
    call: Call | None = None
    operation: Operation | None = None
    key: str | None = None
    """The idempotency key that it has in use."""
    target: str | None = None
    """The object that it has in use."""
    answer: Answer | None = None
    answered: bool = False
    """Whether there is nothing left to carry out."""
    replayed: bool = False
