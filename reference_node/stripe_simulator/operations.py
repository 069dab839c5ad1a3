"""The served operations: method, path, parameters, permitted callers, and handler."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from reference_node.stripe_simulator.errors import StripeError
from reference_node.stripe_simulator.paging import PAGING, Page, page
from reference_node.stripe_simulator.parameters import Kind, Texts, Values
from reference_node.stripe_simulator.payments import Payments
from reference_node.stripe_simulator.store import R, Resource, Store

EXPAND: Mapping[str, Kind] = {"expand": Texts()}


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

    def page_of(self, resources: Iterator[R]) -> Page:
        """The page of a list that the parameters ask for."""
        return page(self.store, resources, self.values, self.path)

    def belonging(self, kind: type[R], *owners: str) -> Iterator[R]:
        """The objects of a kind that belong to every owner in the parameters, newest first."""
        named = [(name, owner) for name in owners if (owner := self.values.text(name)) is not None]
        found = self.store.newest_first(kind, named[0][1] if named else None)
        return (resource for resource in found if all(getattr(resource, name) == owner for name, owner in named))


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


def listing(path: str, handle: Handler, **filters: Kind) -> Operation:
    """An operation that lists objects, newest first."""
    return Operation("GET", path, handle, {**PAGING, **filters})


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
