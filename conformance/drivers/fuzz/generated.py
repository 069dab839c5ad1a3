"""Makes requests with schemathesis from the node's OpenAPI description, or from one written from the profile.

Specification, "Versioning": the description. Where its type of a member differs from the specification's, the judge
follows the specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from pydantic import JsonValue

from conformance.drivers.fuzz.examples import Example, Members, Sort
from conformance.drivers.fuzz.values import LABELS, REGISTERED_HASH
from conformance.problems import FuzzNotInstalled
from conformance.profile import Operation, Place
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.values.json_text import written

U64: JsonValue = {"type": "integer", "minimum": 0, "maximum": 2**64 - 1}
HASH: JsonValue = {"type": "string", "pattern": "^0x[0-9a-fA-F]{64}$"}
TYPES: dict[str, JsonValue] = {
    **{name: {"type": "string"} for name in (*LABELS, "code", "email", "action_ipfs_cid", "usage_api_key")},
    **{name: {"type": "boolean"} for name in PERMISSION_FLAGS},
    **{name: {"type": "array", "items": U64} for name in PERMISSION_ARRAYS},
    **{name: {"type": "array", "items": HASH} for name in ("pkp_ids_permitted", "cid_hashes_permitted")},
    **dict.fromkeys(("group_id", "page_number", "page_size"), U64),
    **dict.fromkeys(("pkp_id", "hashed_cid"), HASH),
    "jsParams": {"type": "object"},
    "amount_cents": {"type": "integer", "minimum": 500},
}
"""The members' types by the specification, for a node without a description."""
OWN: Members = {
    "group_id": "${group.id}",
    "usage_api_key": "${key}",
    "pkp_id": "${wallet.id}",
    "hashed_cid": REGISTERED_HASH,
}
"""Values that replace drawn ones, so that requests name objects of the account."""


class Drawn(Protocol):
    """The parts of a schemathesis case that are used."""

    @property
    def body(self) -> object:
        """Its body, before it is written."""

    @property
    def query(self) -> object:
        """The parameters of its query, by name."""


def generated(
    document: dict[str, JsonValue], operation: Operation, sort: Sort, count: int, source: str
) -> Iterator[Example]:
    """Requests of an operation by canonical names, valid or not; none where the document lacks the operation."""
    if not count:
        return
    try:
        import schemathesis  # noqa: PLC0415 - an extra, and slow to load
    except ModuleNotFoundError:
        raise FuzzNotInstalled("schemathesis, which makes requests of the description", "none installed") from None
    from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings  # noqa: PLC0415 - the same
    from hypothesis.errors import Unsatisfiable  # noqa: PLC0415
    from schemathesis.core.errors import LoaderError, OperationNotFound  # noqa: PLC0415

    from conformance.drivers.model.search import files_elsewhere  # noqa: PLC0415

    try:
        operation_schema = schemathesis.openapi.from_dict(document)[operation.path][operation.method]
    except (LoaderError, OperationNotFound, KeyError):
        return
    mode = schemathesis.GenerationMode.POSITIVE if sort is Sort.VALID else schemathesis.GenerationMode.NEGATIVE
    cases: list[Drawn] = []

    @seed(source)
    @settings(
        max_examples=count, deadline=None, database=None, phases=[Phase.generate], verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(operation_schema.as_strategy(generation_mode=mode))
    def draw(case: Drawn) -> None:
        cases.append(case)

    with files_elsewhere():
        try:
            draw()
        except Unsatisfiable:
            return
    for case in cases:
        members = _members(case, operation)
        if members is not None:
            yield Example(operation.name, sort, members)


def described(operations: list[Operation]) -> dict[str, JsonValue]:
    """A description with the request members of some operations, by the names and paths of the profile."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "by the profile", "version": "1"},
        "paths": {operation.path: {operation.method.lower(): _described(operation)} for operation in operations},
    }


def _described(operation: Operation) -> dict[str, JsonValue]:
    types = {wire: TYPES.get(name, {}) for name, wire in operation.request.items()}
    answers: dict[str, JsonValue] = {"responses": {"default": {"description": ""}}}
    if operation.method == "GET":
        return {**answers, "parameters": [{"name": n, "in": "query", "schema": t} for n, t in types.items()]}
    body: JsonValue = {"type": "object", "properties": types, "required": [*types]}
    if operation.place is Place.STRING:
        body = {"type": "string"}
    return {**answers, "requestBody": {"required": True, "content": {"application/json": {"schema": body}}}}


def _members(case: Drawn, operation: Operation) -> Members | None:
    """The members by canonical names; None for a body that is no JSON object, or that differs only in its headers."""
    canonical = {wire: name for name, wire in operation.request.items()}
    if operation.place is Place.STRING:
        return {"code": _escaped(case.body)} if isinstance(case.body, str) else None
    given_ = case.query if operation.method == "GET" else case.body
    if not isinstance(given_, dict):
        return None
    members = {canonical.get(str(wire), str(wire)): _escaped(value) for wire, value in given_.items()}
    try:
        written(members)
    except TypeError:  # what is sent as a file, for example
        return None
    return members | {name: value for name, value in OWN.items() if name in members}


def _escaped(value: JsonValue) -> JsonValue:
    """Escape `${`, which begins a variable in packs."""
    if isinstance(value, dict):
        return {name: _escaped(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_escaped(entry) for entry in value]
    return value.replace("${", "$${") if isinstance(value, str) else value
