"""Lists with cursors, and expansion of ids into the objects that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from reference_node.stripe_simulator.errors import Object, StripeError, missing_object
from reference_node.stripe_simulator.parameters import Integer, Kind, Text, Values
from reference_node.stripe_simulator.store import R, Resource, Store

LIMIT = 100
DEFAULT_LIMIT = 10
EXPANSION_DEPTH = 4

PAGING: Mapping[str, Kind] = {
    "ending_before": Text(unsets=False),
    "limit": Integer(1, LIMIT),
    "starting_after": Text(unsets=False),
}


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list."""

    resources: Sequence[Resource]
    has_more: bool
    url: str


def page(store: Store, resources: Iterator[R], values: Values, url: str) -> Page:
    """The part of a list, newest first, that the parameters of `PAGING` ask for. Raises `StripeError`."""
    limit = values.integer("limit") or DEFAULT_LIMIT
    after, before = values.text("starting_after"), values.text("ending_before")
    if after and before:
        raise StripeError(400, "You may only provide one of starting_after or ending_before.", param="ending_before")
    if before:
        newer = _sequence(store, before, "ending_before")
        candidates = [resource for resource in resources if resource.sequence > newer]
        return Page(candidates[-limit:], len(candidates) > limit, url)
    if after:
        older = _sequence(store, after, "starting_after")
        resources = (resource for resource in resources if resource.sequence < older)
    taken = list(islice(resources, limit + 1))
    return Page(taken[:limit], len(taken) > limit, url)


def _sequence(store: Store, cursor: str, param: str) -> int:
    found = store.find(cursor)
    if found is None:
        raise missing_object("object", cursor, param, 400)
    return found.sequence


def page_view(store: Store, shown: Page, expansions: Sequence[str]) -> Object:
    """A page as the API shows it. Raises `StripeError` for what can't be expanded."""
    inner = []
    for path in expansions:
        if not path.startswith("data."):
            raise _not_expandable(path)
        inner.append(path.removeprefix("data."))
    return {
        "object": "list",
        "data": [expanded(store, resource, resource.view(), inner) for resource in shown.resources],
        "has_more": shown.has_more,
        "url": shown.url,
    }


def expanded(store: Store, resource: Resource, view: Object, expansions: Sequence[str]) -> Object:
    """The view with the objects that these paths name in the place of their ids. Raises `StripeError`."""
    for path in expansions:
        keys = path.split(".")
        if len(keys) > EXPANSION_DEPTH:
            raise StripeError(
                400, f"You cannot expand more than {EXPANSION_DEPTH} levels of a property ({path}).", param="expand"
            )
        _expand(store, resource, view, keys, path)
    return view


def _expand(store: Store, resource: Resource, view: Object, keys: Sequence[str], path: str) -> None:
    name, rest = keys[0], keys[1:]
    if name not in resource.expandable:
        raise _not_expandable(path)
    value = view.get(name)
    object_id = value.get("id") if isinstance(value, dict) else value
    target = store.find(object_id) if isinstance(object_id, str) else None
    if target is None:
        return
    inner = value if isinstance(value, dict) else target.view()
    if rest:
        _expand(store, target, inner, rest, path)
    view[name] = inner


def _not_expandable(path: str) -> StripeError:
    return StripeError(400, f"This property cannot be expanded ({path}).", param="expand")
