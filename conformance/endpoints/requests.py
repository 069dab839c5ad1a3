"""Writes a request in wire form: names and places of members, and the credential."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self
from urllib.parse import quote, urlencode

from conformance.endpoints.messages import AskedAt, Message
from conformance.profile import Operation, Place
from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.values.addresses import CORE
from conformance.values.json_text import written
from conformance.values.json_values import printed, whole_number

JSON_TYPE = "application/json"
GROUP_IDS = frozenset({"group_id", *PERMISSION_ARRAYS})
"""Request members that are a u64 group id, or an array of them."""


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request by canonical names."""

    operation: Operation
    credential: str | None = None
    via: str = "x-api-key"
    members: dict[str, object] = field(default_factory=dict)
    body: str | None = None
    """An exact body instead of the members."""
    headers: dict[str, str | None] = field(default_factory=dict)
    """Further headers; None removes one. Names that differ in capitals alone are sent as one header several times.

    `Transfer-Encoding: chunked` sends the body in chunks.
    """
    method: str | None = None
    """A method other than the operation's. With GET the members go into the query."""
    path: str | None = None
    """A path other than the operation's."""
    target: str | None = None
    """What the request line has in place of the path, which may be no path at all."""

    @property
    def asked_at(self) -> AskedAt:
        """Whether its URL is the operation's endpoint, another under the API's prefix, or outside the API."""
        if self.target is not None:
            return AskedAt.OUTSIDE
        if self.path is not None:
            return AskedAt.NO_ENDPOINT if self.path.startswith(f"{CORE}/") else AskedAt.OUTSIDE
        return AskedAt.ENDPOINT if self.method in (None, self.operation.method) else AskedAt.NO_ENDPOINT

    def changed(self, **members: object) -> Self:
        """The same request with these members in place of its own."""
        return replace(self, members={**self.members, **members})


def message(request: OutgoingRequest, *, ids_listed_as_text: bool = False) -> Message:
    """The request as it goes over the wire.

    Where the profile says that lists show group ids as texts, they are sent in the form that requests take.
    """
    operation = request.operation
    members = {
        operation.request.get(name, name): value for name, value in _as_specified(request, ids_listed_as_text).items()
    }
    headers = dict(request.headers)
    if request.credential is not None:
        _put_credential(request.credential, request.via, operation, members, headers)
    path = operation.path if request.path is None else request.path
    for name in [name for name in members if f"{{{name}}}" in path]:
        path = path.replace(f"{{{name}}}", quote(printed(members.pop(name)), safe="", errors="surrogatepass"))
    body = request.body
    if body is None and (_in_query(operation) or request.method == "GET"):
        path += _query(members, "&" if "?" in path else "?")
    elif body is None:
        body = _body(operation, members)
    sent = {"Content-Type": JSON_TYPE} if body is not None else {}
    return Message(request.method or operation.method, path, _merged(sent, headers), body, request.target)


def _as_specified(request: OutgoingRequest, ids_listed_as_text: bool) -> dict[str, object]:
    """The members with group ids in the form that the operation takes."""
    members = request.members
    if request.operation.name == "remove_group" and "group_id" in members:  # "a quoted value in the shown body"
        return {**members, "group_id": printed(members["group_id"])}
    if ids_listed_as_text:
        members = {name: _as_integers(value) if name in GROUP_IDS else value for name, value in members.items()}
    group = members.get("group_id")
    if request.operation.group_id_sent == "decimal_string" and isinstance(group, int) and not isinstance(group, bool):
        return {**members, "group_id": str(group)}
    return members


def _as_integers(value: object) -> object:
    if isinstance(value, list):
        return [_as_integers(item) for item in value]
    number = whole_number(value) if isinstance(value, str) else None
    return value if number is None else number


def _query(members: dict[str, object], joint: str) -> str:
    return (
        joint + urlencode({name: printed(value) for name, value in members.items()}, errors="surrogatepass")
        if members
        else ""
    )


def _in_query(operation: Operation) -> bool:
    return operation.place is Place.QUERY or (operation.place is Place.NOWHERE and operation.method == "GET")


def _body(operation: Operation, members: dict[str, object]) -> str | None:
    if operation.place is Place.STRING:
        return written(members.get("code"))
    if operation.place is Place.NOWHERE and not members:
        return None
    return written(members)


def _put_credential(
    key: str, via: str, operation: Operation, members: dict[str, object], headers: dict[str, str | None]
) -> None:
    """Put the credential into the header, or for `account_exists` into the member that the profile states."""
    if "api_key" in operation.request:
        members.setdefault(operation.request["api_key"], key)
        return
    name, value = ("Authorization", f"Bearer {key}") if via == "bearer" else ("X-Api-Key", key)
    if name.lower() not in {header.lower() for header in headers}:
        headers[name] = value


def _merged(sent: dict[str, str], more: dict[str, str | None]) -> dict[str, str]:
    overridden = {name.lower() for name in more}
    kept = {name: value for name, value in sent.items() if name.lower() not in overridden}
    return kept | {name: value for name, value in more.items() if value is not None}
