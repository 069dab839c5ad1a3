"""Faults that show on one rare value or one combination of members: nobody writes a case for each of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from urllib.parse import parse_qs

from pydantic import JsonValue

from conformance.drivers.fuzz.values import LABELS
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.selftest.tools.accounts import Write, account_of
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    answer_instead,
    body_of,
    change_body,
    intercept,
    members,
    wrap,
)
from conformance.selftest.tools.mutant import mutant, row
from conformance.service.sizes import U64
from reference_node.chain.account_config import Group
from reference_node.node import Node

Body = dict[str, JsonValue]


def _text(body: Body, name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""


def _ids(body: Body) -> list[JsonValue]:
    arrays = (body.get(name) for name in PERMISSION_ARRAYS)
    return [number for array in arrays if isinstance(array, list) for number in array]


def _well_formed(body: Body) -> bool:
    """Whether texts, switches and arrays are of their types: a fault about another body is one about its shape."""
    return (
        all(isinstance(body[name], str) for name in {*LABELS, "usage_api_key"} & body.keys())
        and all(isinstance(body[name], bool) for name in body.keys() & PERMISSION_FLAGS)
        and all(isinstance(body[name], list) for name in body.keys() & PERMISSION_ARRAYS)
        and all(isinstance(number, int) and not isinstance(number, bool) for number in _ids(body))
        and all(0 <= number < U64 for number in _ids(body) if isinstance(number, int))
    )


def _is_one(value: JsonValue, number: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == number


FAILS: dict[str, tuple[str, Callable[[Body], bool]]] = {
    "letter-beyond-16-bits": (
        "add_group",
        lambda body: any(ord(letter) > 0xFFFF for letter in _text(body, "group_name")),
    ),
    "description-over-4096-bytes": ("update_group", lambda body: len(_text(body, "description").encode()) > 4096),
    "name-of-64-bytes": ("update_group", lambda body: len(_text(body, "name").encode()) == 64),
    "largest-group-id": ("add_usage_api_key", lambda body: 2**64 - 2**10 in _ids(body)),
    "deletes-and-runs-anywhere-but-creates-nothing": (
        "update_usage_api_key",
        lambda body: (
            body.get("can_delete_groups") is True
            and body.get("can_create_groups") is False
            and body.get("execute_in_groups") == [0]
            and _well_formed(body)
        ),
    ),
    "line-separator": ("add_action", lambda body: "\u2028" in _text(body, "name")),
    "no-description-and-any-wallet-but-no-action": (
        "add_group",
        lambda body: (
            body.get("group_description") == ""
            and body.get("cid_hashes_permitted") == []
            and body.get("pkp_ids_permitted") == [f"0x{'0' * 64}"]
            and _well_formed(body)
        ),
    ),
    "email-without-description": (
        "new_account",
        lambda body: bool(_text(body, "email")) and body.get("account_description") == "" and _well_formed(body),
    ),
    "escape-character": ("update_action_metadata", lambda body: "\x1b" in _text(body, "description")),
    "object-as-switch": ("add_usage_api_key", lambda body: body.get("can_create_pkps") == {}),
    "huge-float-as-group": ("update_group", lambda body: _is_one(body.get("group_id"), 1e300)),
    "array-of-nothing-as-name": ("add_action", lambda body: body.get("name") == [None]),
    "65536-cents": ("create_payment_intent", lambda body: _is_one(body.get("amount_cents"), 2**16)),
}
"""Operation, and the bodies on which it fails."""
PATHS = {"create_payment_intent": "billing/create_payment_intent"}
"""Of operations whose path is not their name."""


@mutant(
    each=[
        row("letter-beyond-16-bits", breaks="EP-160", also="ERR-140"),
        row("description-over-4096-bytes", breaks="EP-180"),
        row("name-of-64-bytes", breaks="EP-180", also="GRPLIFE-020"),
        row("largest-group-id", breaks="EP-110", also="UKEY-460"),
        row("deletes-and-runs-anywhere-but-creates-nothing", breaks="EP-130", also="ERR-140 KEYLIFE-020 KEYLIFE-040"),
        row("line-separator", breaks="EP-280"),
        row("no-description-and-any-wallet-but-no-action", breaks="EP-160"),
        row("email-without-description", breaks="EP-040"),
        row("escape-character", breaks="EP-300"),
        row("object-as-switch", breaks="EP-030", also="ERR-140"),
        row("huge-float-as-group", breaks="EP-030", also="ERR-140"),
        row("array-of-nothing-as-name", breaks="EP-030", also="ERR-140"),
        row("65536-cents", breaks="BILL-030"),
    ],
    server_fault=True,
)
def fails_on_a_rare_body(node: Node, which: str) -> None:
    """Answer 500 on {which}."""
    operation, strikes = FAILS[which]

    async def handler(request: Received, forward: Forward) -> Answered:
        return answer(500, {"title": "error"}) if strikes(body_of(request)) else await forward(request)

    intercept(node, PATHS.get(operation, operation), handler)


@mutant("EP-320", server_fault=True)
def fails_on_code_with_a_carriage_return(node: Node) -> None:
    """Answer 500 where code with both kinds of line end is asked for its CID."""
    answer_instead(
        node, "get_service_action_ipfs_id", answer(500, {"title": "error"}), lambda request: b"\\r\\n" in request.body
    )


@mutant(
    each=[
        row("list-groups", "list_groups", 62, breaks="LIST-100"),
        row("list-actions", "list_actions", 52, breaks="LIST-100"),
    ],
    server_fault=True,
)
def fails_on_far_pages(node: Node, operation: str, power: int) -> None:
    """Answer 500 on pages of `{operation}` whose number is just above two to the power of {power}."""

    async def handler(request: Received, forward: Forward) -> Answered:
        number = parse_qs(request.query).get("page_number", ["0"])[0]
        strikes = number.isdecimal() and int(number) == 2**power + 1
        return answer(500, {"title": "error"}) if strikes else await forward(request)

    intercept(node, operation, handler)


def _change_text(node: Node, operation: str, name: str, change: Callable[[str], str]) -> None:
    def changed(value: JsonValue) -> JsonValue:
        body = members(value)
        return body | {name: change(_text(body, name))} if isinstance(body.get(name), str) else value

    change_body(node, operation, changed)


@mutant("GRP-020", also="EP-160 LIST-170")
def group_names_are_normalised(node: Node) -> None:
    """Keep the name of a new group in Unicode's composed form."""
    _change_text(node, "add_group", "group_name", lambda text: unicodedata.normalize("NFC", text))


@mutant("GRPLIFE-020", also="EP-180 LIST-170")
def group_names_lose_a_dot(node: Node) -> None:
    """Keep the name of an updated group with a plain I for the dotted capital one."""
    _change_text(node, "update_group", "name", lambda text: text.replace("\u0130", "I"))


@mutant("KEYLIFE-060", also="EP-140 LIST-170")
def labels_that_look_like_constants_are_lost(node: Node) -> None:
    """Take `null` and `undefined` as the name of a usage key for none."""
    emptied = {"null": "", "undefined": ""}
    _change_text(node, "update_usage_api_key_metadata", "name", lambda text: emptied.get(text, text))


@mutant("ACT-060", also="EP-280 LIST-170")
def escapes_in_descriptions_are_decoded(node: Node) -> None:
    """Keep a backslash and an n in the description of a new action as a line break."""
    _change_text(node, "add_action", "description", lambda text: text.replace("\\n", "\n"))


@mutant("EXEC-160")
def parameters_of_64_bits_wrap(node: Node) -> None:
    """Hand whole numbers from 2 to the power of 32 on to actions modulo this."""

    def change(value: JsonValue) -> JsonValue:
        body = members(value)
        return body | {"jsParams": _wrapped(body["jsParams"])} if "jsParams" in body else value

    change_body(node, "service_action", change)


def _wrapped(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _wrapped(entry) for name, entry in value.items()}
    if isinstance(value, int) and not isinstance(value, bool) and value == 2**32:
        return 0
    return value


@mutant("ERR-160", also="AKEY-050 EP-280 UKEY-360 VER-050")
def refusals_of_bells_quote_the_key(node: Node) -> None:
    """Answer 422 to a description of an action with a control character, and quote the request's key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if "\x01" not in _text(body_of(request), "description"):
            return await forward(request)
        return answer(422, {"title": "refused", "detail": f"by {request.key}"})

    intercept(node, "add_action", handler)


@mutant("GRPLIFE-100", also="GRPLIFE-130 GRPLIFE-170")
def removing_a_long_described_group_takes_another(node: Node) -> None:
    """Remove the account's oldest group, too, with a group whose description was changed to over 1,000 bytes."""
    long: set[int] = set()

    def update(write: Write, acting_key: int, group: Group, *lists: Sequence[bytes]) -> None:
        write(acting_key, group, *lists)
        (long.add if len(group.description.encode()) > 1000 else long.discard)(group.id)

    def remove(write: Write, acting_key: int, group_id: int) -> None:
        write(acting_key, group_id)
        groups = node.accounts.groups(account_of(node, acting_key), 0, 1)
        if group_id in long and groups:
            write(acting_key, groups[0].id)

    wrap(node.accounts, "update_group", update)
    wrap(node.accounts, "remove_group", remove)


@mutant("KEYLIFE-090", also="EP-120 EXEC-260 KEYLIFE-080")
def key_with_a_hidden_letter_stays(node: Node) -> None:
    """Accept the removal of a usage key whose name was changed to one with a zero-width letter, and keep the key."""
    hidden: set[int] = set()

    def rename(write: Write, acting_key: int, key: int, name: str, description: str) -> None:
        write(acting_key, key, name, description)
        (hidden.add if "\u200b" in name else hidden.discard)(key)

    def remove(write: Write, acting_key: int, key: int) -> None:
        if key not in hidden:
            write(acting_key, key)

    wrap(node.accounts, "update_usage_key_metadata", rename)
    wrap(node.accounts, "remove_usage_key", remove)
