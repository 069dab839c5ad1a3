"""Holds the requests that the profile says against those that the node's OpenAPI description demands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.doctor.finding import Finding, State
from conformance.drivers.openapi.bounds import check_size
from conformance.drivers.openapi.description import Description
from conformance.drivers.openapi.requests import DescribedRequest, described_requests
from conformance.endpoints.messages import Message
from conformance.problems import BeyondLimits, ProfileSilent
from conformance.profile import OPERATIONS, Operation, Place
from conformance.profile.operations import GROUP_LISTS, PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.service.envelopes import typed_data_forms
from conformance.service.session import Session
from conformance.values.addresses import CORE
from conformance.values.json_values import member

CHECK = "description"
MOST_SHOWN = 5
TYPES: Mapping[str, str] = {
    **dict.fromkeys(PERMISSION_FLAGS, "boolean"),
    **dict.fromkeys((*PERMISSION_ARRAYS, *GROUP_LISTS, "add", "remove"), "array"),
    "jsParams": "object",
    "amount_cents": "integer",
}
"""The JSON types of request members that are no texts."""
LEFT_OUT = frozenset({"email", "jsParams", "group_id"})
"""Members that requests may leave out: the suite sends them where the node takes them."""


def fits_description(session: Session) -> Finding | None:
    """Name the members that the profile has otherwise than the description. None where there is none to read."""
    answer = session.target.exchange(Message("GET", f"{CORE}/openapi.json", {}, None), session.log)
    document = answer.value if answer.accepted and answer.readable else None
    if not isinstance(document, dict) or not isinstance(member(document, "paths"), dict):
        return None
    try:
        check_size(document)
    except BeyondLimits as problem:
        return Finding(
            CHECK, State.DOUBTFUL, f"openapi.json is not read: {problem.got}", "make the description smaller"
        )
    url = f"{session.target.base_url}{CORE}/openapi.json"
    described = {(one.method, one.path): one for one in described_requests(Description(document, url))}
    faults = list(_faults(session, described))
    if not faults:
        return Finding(CHECK, State.WELL, "the profile's requests fit openapi.json")
    shown = "; ".join(faults[:MOST_SHOWN]) + (f"; and {len(faults) - MOST_SHOWN} more" if faults[MOST_SHOWN:] else "")
    mend = "state in the profile what your node takes (`init --try` reads it), or mend the description"
    return Finding(CHECK, State.DOUBTFUL, f"the profile does not fit openapi.json: {shown}", mend, tells_run=True)


def _faults(session: Session, described: Mapping[tuple[str, str], DescribedRequest]) -> Iterator[str]:
    for name in OPERATIONS:
        try:
            operation = session.target.operation(name)
        except ProfileSilent:
            continue
        request = described.get((operation.method, operation.path))
        others = [method for method, path in described if path == operation.path]
        if request is not None:
            yield from _members(session, operation, request)
        elif others:
            yield f"{name} is {operation.method} in the profile and {' or '.join(others)} in the description"


def _members(session: Session, operation: Operation, request: DescribedRequest) -> Iterator[str]:
    """What the description says otherwise of the members that the suite sends."""
    if operation.place not in {Place.BODY, Place.QUERY}:
        return
    sent = set(operation.request.values())
    taken = request.query if operation.place is Place.QUERY else request.body
    if missing := sorted((request.required & taken.keys()) - sent):
        yield f"{operation.name} needs {', '.join(missing)}, which the profile does not know"
    for canonical, wire in operation.request.items():
        types = request.types(wire)
        kind = _type(session, operation, canonical)
        if taken and wire not in taken and canonical not in LEFT_OUT:
            yield f"{operation.name} has no member {wire}"
        elif operation.place is Place.BODY and types and not types & {kind, "number" if kind == "integer" else kind}:
            yield f"{operation.name} takes {wire} as {' or '.join(sorted(types))}, and the suite sends {kind}"


def _type(session: Session, operation: Operation, canonical: str) -> str:
    """The JSON type in which the suite sends a member."""
    if canonical == "group_id":
        is_text = operation.name == "remove_group" or operation.group_id_sent == "decimal_string"
        return "string" if is_text else "integer"
    if canonical == "typed_data":
        return typed_data_forms(session.profile)[0]
    return TYPES.get(canonical, "string")
