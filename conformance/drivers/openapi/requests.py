"""Reads what an OpenAPI description says of requests: method, path, and the members with their types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from conformance.drivers.openapi.description import Described, Description
from conformance.problems import Mismatch
from conformance.values.json_values import MISSING, member, printed

Schema = Mapping[str, object]
DEEPEST = 20
"""How far schemas that refer to each other are followed."""
MOST_PARTS = 1_000
"""Schemas that are merged into one."""


@dataclass(frozen=True)
class DescribedRequest:
    """The request of one operation, as the node describes it."""

    method: str
    path: str
    """Under the node's address."""
    name: str
    """Its `operationId`; empty where it has none."""
    query: Mapping[str, Schema]
    """The schemas of its query parameters."""
    body: Mapping[str, Schema]
    """The schemas of the members of its JSON object."""
    required: frozenset[str] = field(default=frozenset())
    """The names, of either, without which it is refused."""

    def types(self, name: str) -> frozenset[str]:
        """The JSON types that a member may have, `integer` and `number` apart; empty where anything is described."""
        return _types(self.body.get(name) or self.query.get(name) or {})


def described_requests(description: Description) -> Iterator[DescribedRequest]:
    """The requests of all operations of a description. What cannot be read is left out."""
    for (method, path), operation in description.operations.items():
        try:
            yield _request(description, method, path, operation)
        except (Mismatch, RecursionError):
            continue


def _request(description: Description, method: str, path: str, operation: Described) -> DescribedRequest:
    query = dict(description.query_parameters(operation))
    needed = {name for name, parameter in query.items() if parameter.get("required") is True}
    pointer = description.body_schema(operation)
    body = {} if pointer is None else _whole(description, {"$ref": f"#{pointer}"})
    required = body.get("required")
    properties = body.get("properties")
    return DescribedRequest(
        method,
        path,
        printed(operation.value.get("operationId", "")),
        {name: _whole(description, member(parameter, "schema")) for name, parameter in query.items()},
        {name: _whole(description, schema) for name, schema in properties.items()}
        if isinstance(properties, dict)
        else {},
        frozenset(needed | {*map(str, required if isinstance(required, list) else [])}),
    )


def _whole(
    description: Description, schema: object, depth: int = 0, parts_left: Iterator[int] | None = None
) -> dict[str, object]:
    """A schema without references at its top: what they name, and the parts of `allOf`, merged into it."""
    left = iter(range(MOST_PARTS)) if parts_left is None else parts_left
    if not isinstance(schema, dict) or depth > DEEPEST or next(left, None) is None:
        return {}
    whole: dict[str, object] = {name: value for name, value in schema.items() if name not in {"$ref", "allOf"}}
    parts = schema.get("allOf")
    found = list(parts) if isinstance(parts, list) else []
    if isinstance(reference := schema.get("$ref"), str) and (named := description.at(reference)) is not MISSING:
        found.append(named)
    for part in found:
        for name, value in _whole(description, part, depth + 1, left).items():
            before = whole.get(name)
            if isinstance(before, dict) and isinstance(value, dict):
                whole[name] = {**value, **before}
            elif isinstance(before, list) and isinstance(value, list) and name == "required":
                whole[name] = [*before, *value]
            else:
                whole.setdefault(name, value)
    for name in ("anyOf", "oneOf"):
        if isinstance(choices := whole.get(name), list):
            whole[name] = [_whole(description, choice, depth + 1, left) for choice in choices]
    return whole


def _types(schema: Schema) -> frozenset[str]:
    stated = schema.get("type")
    if isinstance(stated, str):
        return frozenset({stated})
    if isinstance(stated, list):
        return frozenset(map(str, stated))
    for name in ("anyOf", "oneOf"):
        if isinstance(choices := schema.get(name), list):
            each = [_types(choice) for choice in choices if isinstance(choice, dict)]
            return frozenset().union(*each) if all(each) else frozenset()
    return frozenset()
