"""Faults about bodies: what is no JSON in an answer, and what is no right JSON in a request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer_instead,
    body_of,
    change_accepted,
    change_body,
    change_refused,
    intercept,
    members,
    refusal,
)
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import SERVED
from reference_node.node import Node

GROUP_WRITES = ("update_group", "remove_group", "add_action_to_group", "remove_action_from_group")


def _text(status: int, body: str) -> Answered:
    return Answered(status, ((b"content-type", b"text/plain"),), body.encode())


# ------------------------------------------------------------------------------------------------- bodies are JSON


@mutant("EP-010", also="VER-050")
def writes_answer_ok(node: Node) -> None:
    """Answer accepted writes with the bare word OK."""
    change_accepted(
        node, ("update_group", "delete_action", "update_usage_api_key_metadata"), lambda _, __: _text(200, "OK")
    )


@mutant("EP-010", also="VER-050")
def refusals_call_text_json(node: Node) -> None:
    """Answer refusals with a line of text, in the name of the JSON that it replaces."""
    change_refused(node, SERVED, lambda _, given: replace(given, body=b"Error: refused"))


@mutant("EP-010", also="EP-320 VER-050")
def cid_is_a_bare_word(node: Node) -> None:
    """Answer the CID from `get_service_action_ipfs_id` without the quotes of a JSON string."""
    change_accepted(node, "get_service_action_ipfs_id", lambda _, given: _text(200, json.loads(given.body)))


@mutant("EP-010", also="AKEY-080 EP-050 EP-430 VER-050")
def json_is_written_with_members_twice(node: Node) -> None:
    """Write `wallet_address` twice into the answer of `new_account`."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        doubled = given.body[:-1] + b',"wallet_address":""}'
        return replace(given, body=doubled) if given.accepted else given

    intercept(node, "new_account", handler)


@mutant("EP-010", also="VER-050")
def refusals_are_cut_inside_a_letter(node: Node) -> None:
    """End the text of refusals with two of the three bytes of an ellipsis: the body is no UTF-8, and so no JSON."""

    def changed(_request: Received, given: Answered) -> Answered:
        told = {**given.told, "detail": "This was refused because\u2026"}
        return replace(given, body=json.dumps(told, ensure_ascii=False).encode().replace(b"\xe2\x80\xa6", b"\xe2\x80"))

    change_refused(node, SERVED, changed)


# ------------------------------------------------------------------------------------------------- malformed bodies


@mutant("EP-030", server_fault=True, also="EP-010 ERR-140")
def deep_json_breaks_the_node(node: Node) -> None:
    """Answer thousands of brackets in one another with status 500."""
    answer_instead(node, "new_account", _text(500, "stack overflow"), lambda request: b"[" * 3000 in request.body)


@mutant("EP-030", server_fault=True, also="EP-010 ERR-140")
def bytes_that_are_no_text_break_the_node(node: Node) -> None:
    """Answer a body that is not UTF-8 with status 500."""

    async def handler(request: Received, forward: Forward) -> Answered:
        try:
            request.body.decode()
        except UnicodeDecodeError:
            return _text(500, "Internal Server Error")
        return await forward(request)

    intercept(node, "add_usage_api_key", handler)


@mutant("EP-030", also="ERR-140")
def unclosed_json_is_closed(node: Node) -> None:
    """Add the last quote to a JSON string that lacks it."""

    async def handler(request: Received, forward: Forward) -> Answered:
        unclosed = request.body.startswith(b'"') and request.body.count(b'"') == 1
        return await forward(replace(request, body=request.body + b'"') if unclosed else request)

    intercept(node, "get_service_action_ipfs_id", handler)


@mutant(
    "EP-030",
    each=[
        row("remove_group", "remove_group", "group_id"),
        row("update_usage_api_key_metadata", "update_usage_api_key_metadata", "usage_api_key", "name", "description"),
        row("delete_action", "delete_action", "hashed_cid"),
    ],
)
def array_passes_for_a_body(node: Node, operation: str, *names: str) -> None:
    """Take an array for the body of `{operation}`: the values of its members in their order."""

    def changed(value: JsonValue) -> JsonValue:
        fits = isinstance(value, list) and len(value) == len(names)
        return dict(zip(names, value, strict=True)) if fits and isinstance(value, list) else value

    change_body(node, operation, changed)


def _to_text(value: JsonValue) -> JsonValue:
    return value if isinstance(value, str) else json.dumps(value)


def _texts(value: JsonValue) -> JsonValue:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else value


@mutant(
    "EP-030",
    each=[
        row(
            "fraction-as-1",
            GROUP_WRITES,
            "group_id",
            lambda value: int(value) if isinstance(value, float) and abs(value) < 2**64 else value,
        ),
        row("array-as-1", "add_pkp_to_group", "group_id", lambda value: value[0] if isinstance(value, list) else value),
        row("key-name-as-text", "add_usage_api_key", "name", _to_text),
        row("account-name-as-text", "new_account", "account_name", _to_text),
        row("entries-left-out", "add_group", "pkp_ids_permitted", _texts),
    ],
)
def member_of_the_wrong_type_is_converted(
    node: Node, operations: str | tuple[str, ...], member: str, change: Callable[[JsonValue], JsonValue]
) -> None:
    """Take a `{member}` of the wrong type, converted to the right one; the label says how."""

    def changed(value: JsonValue) -> JsonValue:
        found = members(value)
        return {**found, member: change(found[member])} if member in found else value

    change_body(node, operations, changed)


def _do_refused_with_blank(node: Node, operations: str | Iterable[str], member: str) -> None:
    """Answer a malformed request with its refusal, and carry it out with an empty text as this member."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status == 422 and body_of(request):
            await forward(request.having({**body_of(request), member: ""}))
        return given

    intercept(node, operations, handler)


@mutant("EP-030", also="BILL-210 ERR-150 LIST-170")
def refused_group_is_made(node: Node) -> None:
    """Refuse a group with a malformed description, and create it without one."""
    _do_refused_with_blank(node, "add_group", "group_description")


@mutant("EP-030", also="AKEY-070 EP-280")
def node_refuses_all_after_a_malformed_body(node: Node) -> None:
    """Refuse every `add_action` after a malformed body."""
    broken: list[bool] = []

    async def handler(request: Received, forward: Forward) -> Answered:
        given = refusal(400) if broken else await forward(request)
        if given.status == 400:
            broken.append(True)
        return given

    intercept(node, "add_action", handler)
