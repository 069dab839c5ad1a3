"""The served operations: method, path, parameters, permitted callers, and handler."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from reference_node.stripe_simulator.errors import StripeError
from reference_node.stripe_simulator.paging import PAGING, Page, page
from reference_node.stripe_simulator.parameters import Kind, Text, Texts, Values
from reference_node.stripe_simulator.payments import Payments
from reference_node.stripe_simulator.store import Resource, Store

EXPAND: Mapping[str, Kind] = {"expand": Texts()}

ID = Text(unsets=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A request with its key and parameters read."""

    store: Store
    payments: Payments
    values: Values
    path: str
    target: str
    """The id in the path; empty where there is none."""
    publishable: bool
    """Whether the caller holds a publishable key only."""


Handler = Callable[[Call], Resource | Page]


@dataclass(frozen=True)
class Operation:
    """An operation. `{}` in the path is an id. `parameters` leaves out `expand`, which every operation takes."""

    method: str
    path: str
    handle: Handler
    parameters: Mapping[str, Kind] = field(default_factory=dict)
    required: Sequence[str] = ()
    publishable: bool = False

    @property
    def known(self) -> dict[str, Kind]:
        """All parameters, with `expand`."""
        return {**EXPAND, **self.parameters} if self.method != "DELETE" else dict(self.parameters)


def listing(path: str, kind: type[Resource], *filters: str) -> Operation:
    """An operation that lists the objects of a kind, newest first; the filters are members that name other objects."""

    def listed(call: Call) -> Page:
        wanted = {name: value for name in filters if (value := call.values.text(name)) is not None}
        found = (
            resource
            for resource in call.store.newest_first(kind)
            if all(getattr(resource, name) == value for name, value in wanted.items())
        )
        return page(call.store, found, call.values, call.path)

    return Operation("GET", path, listed, {**PAGING, **dict.fromkeys(filters, ID)})


def retrieval(path: str, kind: type[Resource]) -> Operation:
    """An operation that shows one object of a kind."""
    return Operation("GET", path, lambda call: call.store.get(kind, call.target, kind.name))


class Routes:
    """Finds the operation of a request."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations
        self._exact = {(entry.method, entry.path): entry for entry in operations if "{}" not in entry.path}
        self._patterns = [
            (entry.method, re.compile(re.escape(entry.path).replace(r"\{\}", "([^/]+)")), entry)
            for entry in operations
            if "{}" in entry.path
        ]

    def find(self, method: str, path: str) -> tuple[Operation, str]:
        """The operation and the id in the path. An encoded slash belongs to the id. Raises `StripeError`."""
        exact = self._exact.get((method, path))
        if exact is not None:
            return exact, ""
        for served, pattern, operation in self._patterns:
            if served == method and (matched := pattern.fullmatch(path)):
                return operation, unquote(matched[1])
        raise StripeError(
            404,
            f"Unrecognized request URL ({method}: {path}). The simulator serves the part of Stripe's API that "
            "docs/stripe-simulator.md lists.",
        )
