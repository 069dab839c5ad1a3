"""Variants: correct nodes that chose otherwise where the specification is silent, each with the profile that says so.

The suite has to be green against each of them. A case that fails there takes a choice of the reference node for a
requirement.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from pydantic import JsonValue

from conformance.selftest.alter import (
    Answered,
    Forward,
    Handler,
    Received,
    answer,
    change_answer,
    change_body,
    change_items,
    intercept,
    refusal,
    wrap,
)
from conformance.selftest.permissions import Write
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.keys import key_hash
from reference_node.node import Node

ARRAYS = ("manage_ipfs_ids_in_groups", "add_pkp_to_groups", "remove_pkp_from_groups", "execute_in_groups")
PERMISSIONS = ("can_create_groups", "can_delete_groups", "can_create_pkps", *ARRAYS)
GROUP_LISTS = ("pkp_ids_permitted", "cid_hashes_permitted")
LISTS = ("list_groups", "list_api_keys", "list_wallets", "list_wallets_in_group", "list_actions")
ON_GROUPS = ("add_action_to_group", "remove_action_from_group", "add_pkp_to_group", "remove_pkp_from_group")
SILENT_WRITES = (
    *ON_GROUPS,
    "remove_usage_api_key",
    "update_usage_api_key",
    "update_usage_api_key_metadata",
    "add_group",
    "update_group",
    "remove_group",
    "add_action",
    "delete_action",
    "update_action_metadata",
)
"""The writes for whose answers the specification shows nothing."""
WRITES = (*SILENT_WRITES, "new_account", "add_usage_api_key", "create_wallet")
EVERYTHING = (*LISTS, *WRITES, "account_exists")
PAGE_SIZE = 3
IDS_PER_ACCOUNT = 100_000

Members = dict[str, JsonValue]


@dataclass(frozen=True)
class Variant:
    """A correct node unlike the reference node."""

    name: str
    choices: str
    """What it does otherwise, the function's docstring."""
    profile: Members
    """What it says of itself, beside what the reference node says."""
    alter: Callable[[Node], None]


VARIANTS: dict[str, Variant] = {}


def variant(profile: Members) -> Callable[[Callable[[Node], None]], Variant]:
    """Enter the decorated function, which turns a freshly built node into one that chose otherwise."""

    def enter(alter: Callable[[Node], None]) -> Variant:
        name = alter.__name__.replace("_", "-")
        VARIANTS[name] = Variant(name, " ".join((alter.__doc__ or "").split()), profile, alter)
        return VARIANTS[name]

    return enter


def _each(change: Callable[[Members], Members]) -> Callable[[list[JsonValue]], JsonValue]:
    return lambda items: [change(item) if isinstance(item, dict) else item for item in items]


def _of(change: Callable[[Members], JsonValue]) -> Callable[[JsonValue], JsonValue]:
    return lambda value: change(value) if isinstance(value, dict) else value


# ---------------------------------------------------------------------------------------------------------- terse


@variant(
    {
        # Not `openapi`: the description would still be the reference node's.
        "capabilities": ["managed_accounts", "chain_rpc", "clock_control"],
        "wire": {
            "mutating_responses": None,
            "paging": {"first_page_number": 1, "container": {"form": "object", "items_member": "page"}},
            "list_groups": {"id_form": "decimal_string"},
            "add_usage_api_key": {"missing_fields": {"permissions": "refused"}},
            "update_usage_api_key": {"missing_fields": {"permissions": "refused"}},
            "update_group": {"missing_fields": {"lists": "refused"}},
        },
        "semantics": {"list_order_other": "newest_first"},
        "limits": {"page_size_max": PAGE_SIZE, "page_size_default": PAGE_SIZE},
        "errors": {"status_codes": None, "body_shape": None},
        "auth": {"usage_key_permission": {"lists": "account_key"}},
    }
)
def terse(node: Node) -> None:
    """Says and takes as little as it may.

    It answers no member that the specification does not show, refuses everything with 400, lists the newest first on
    pages of three that are objects and begin with 1, for account keys alone, with group ids as texts and hex in
    capitals, and needs every field of a body.
    """
    for view in ("wallets", "actions", "usage_keys", "wallets_in_group", "actions_in_group"):
        wrap(node.accounts, view, _newest_first)
    change_items(node, LISTS, _each(_in_capitals))
    change_items(node, "list_groups", _each(lambda item: {**item, "id": str(item["id"])}))
    change_body(node, (*ON_GROUPS, "update_group"), _of(_with_group_number))
    change_answer(node, "create_wallet", _of(_in_capitals))
    change_answer(node, "add_usage_api_key", _of(lambda value: {"usage_api_key": value["usage_api_key"]}))
    change_answer(node, LISTS[1:], lambda items: {"page": items})
    intercept(node, LISTS, _small_pages)
    intercept(node, LISTS, _for_account_keys(node))
    intercept(node, ("add_usage_api_key", "update_usage_api_key"), _needs(PERMISSIONS))
    intercept(node, ("add_group", "update_group"), _needs(GROUP_LISTS))
    intercept(node, SILENT_WRITES, _empty_201)
    intercept(node, EVERYTHING, _all_400)


def _newest_first(view: Callable[..., list[object]], *arguments: int) -> list[object]:
    *whose, page, size = arguments
    items: list[object] = []
    while len(items) % 100 == 0:
        more = view(*whose, len(items) // 100, 100)
        items += more
        if not more:
            break
    items.reverse()
    return items[page * size : (page + 1) * size]


def _in_capitals(item: Members) -> Members:
    return {name: _capital(value) for name, value in item.items()}


def _capital(value: JsonValue) -> JsonValue:
    return f"0x{value[2:].upper()}" if isinstance(value, str) and value.startswith("0x") else value


def _with_group_number(body: Members) -> Members:
    group = body.get("group_id")
    return {**body, "group_id": int(group)} if isinstance(group, str) and group.isdecimal() else body


async def _small_pages(request: Received, forward: Forward) -> Answered:
    query = {"page_number": "1", "page_size": str(PAGE_SIZE), **dict(parse_qsl(request.query, keep_blank_values=True))}
    number, size = query["page_number"], query["page_size"]
    if not number.isdecimal() or not size.isdecimal() or int(number) < 1 or int(size) > PAGE_SIZE:
        return refusal(422)
    query["page_number"] = str(int(number) - 1)
    return await forward(replace(request, query=urlencode(query)))


def _for_account_keys(node: Node) -> Handler:
    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        presented = _presented(request)
        if given.accepted and presented and not node.accounts.key_info(key_hash(presented)).is_account_key:
            return refusal(403)
        return given

    return handler


def _presented(request: Received) -> bytes | None:
    """The secret bytes of the key in either header."""
    headers = dict(request.headers)
    text = headers.get(b"x-api-key") or headers.get(b"authorization", b"").removeprefix(b"Bearer ")
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None


def _needs(members: tuple[str, ...]) -> Handler:
    async def handler(request: Received, forward: Forward) -> Answered:
        try:
            body = json.loads(request.body)
        except (ValueError, RecursionError):
            return await forward(request)
        if isinstance(body, dict) and not set(members) <= body.keys():
            return refusal(422)
        return await forward(request)

    return handler


async def _empty_201(request: Received, forward: Forward) -> Answered:
    given = await forward(request)
    return Answered(201, (), b"") if given.accepted else given


async def _all_400(request: Received, forward: Forward) -> Answered:
    given = await forward(request)
    return refusal(400) if 400 <= given.status < 500 else given


# ------------------------------------------------------------------------------------------------------- generous


@variant(
    {
        "capabilities": ["managed_accounts", "chain_rpc", "clock_control"],
        "wire": {"account_exists": {"request_response": {"unknown_key": "unauthenticated"}}},
        "semantics": {
            "account_wallet_listed": True,
            "add_action_duplicate": "overwrites",
            "group_membership_idempotence": {"add_present": "accepted", "remove_absent": "accepted"},
            "list_unknown_group": "empty",
            "update_usage_key_labels": "kept",
        },
    }
)
def generous(node: Node) -> None:
    """Gives more than was asked for, and forgives.

    Every answer has further members, the account's own wallet is one of its PKPs, a second `add_action` overwrites, to
    add what is there and to remove what is not succeeds, a group that does not exist is empty, an update of a usage
    key keeps its labels, and `account_exists` is for keys that somebody holds.
    """
    wrap(node.accounts, "new_account", _registers_own_wallet(node))
    wrap(node.accounts, "update_usage_key", _keeps_labels(node))
    wrap(node.accounts, "add_action", _overwrites(node))
    for method in ON_GROUPS:
        wrap(node.accounts, method, _forgiving)
    for view in ("wallets_in_group", "actions_in_group"):
        wrap(node.accounts, view, _empty_if_unknown)
    more: Members = {"request": "c0ffee", "took_ms": 3}
    change_answer(node, WRITES, _of(lambda value: {**value, **more}))
    change_items(node, LISTS, _each(lambda item: {**item, "created": 1_700_000_000}))
    intercept(node, "account_exists", _for_known_keys)


def _registers_own_wallet(node: Node) -> Callable[..., None]:
    def create(write: Write, account: int, wallet: bytes, *labels: str) -> None:
        write(account, wallet, *labels)
        node.accounts.create_wallet(account, wallet, 1, "own", "")

    return create


def _overwrites(node: Node) -> Callable[..., None]:
    def add(write: Write, acting_key: int, cid_hash: bytes, name: str, description: str) -> None:
        try:
            write(acting_key, cid_hash, name, description)
        except ContractRefusal as refused:
            if refused.error != "ActionExists":
                raise
            node.accounts.update_action_metadata(acting_key, cid_hash, name, description)

    return add


def _forgiving(write: Write, *arguments: object) -> None:
    try:
        write(*arguments)
    except ContractRefusal as refused:
        if refused.error not in {"AlreadyInGroup", "NotInGroup"}:
            raise


def _empty_if_unknown(view: Callable[..., list[object]], *arguments: int) -> list[object]:
    try:
        return view(*arguments)
    except ContractRefusal as refused:
        if refused.error != "GroupUnknown":
            raise
        return []


async def _for_known_keys(request: Received, forward: Forward) -> Answered:
    given = await forward(request)
    return refusal(401) if given.accepted and not json.loads(given.body) else given


def _keeps_labels(node: Node) -> Callable[..., None]:
    def update(write: Write, acting_key: int, key: int, _name: str, _description: str, sent: object) -> None:
        before = node.accounts.usage_key(node.accounts.key_info(acting_key).account_hash, key)
        write(acting_key, key, before.name, before.description, sent)

    return update


# ----------------------------------------------------------------------------------------------------- global ids


@variant(
    {
        "capabilities": ["managed_accounts"],
        "semantics": {"group_id_scope": "global"},
        "wire": {
            "list_groups": {"item_fields": None},
            "list_items": {
                "fields": {
                    "action": {"name": None, "description": None},
                    "usage_key": dict.fromkeys(("name", "description", "expiration", "balance", *PERMISSIONS)),
                }
            },
        },
    }
)
def secretive(node: Node) -> None:
    """Shows as little as it may.

    It numbers groups over all accounts, lists nothing of an item but what tells it from the others, and lets nobody
    see its chain.
    """
    intercept(node, (*LISTS, *SILENT_WRITES, "add_usage_api_key"), _with_global_ids(node))
    change_items(node, "list_groups", _each(lambda item: {"id": item["id"]}))
    change_items(node, "list_actions", _each(lambda item: {"hashed_cid": item["hashed_cid"]}))
    change_items(node, "list_api_keys", _each(lambda item: {"api_key_hash": item["api_key_hash"]}))


def _with_global_ids(node: Node) -> Handler:
    numbers: dict[int, int] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        presented = _presented(request)
        account = node.accounts.key_info(key_hash(presented)).account_hash if presented else 0
        if not account:
            return await forward(request)
        first = numbers.setdefault(account, len(numbers)) * IDS_PER_ACCOUNT
        given = await forward(_own_ids(request, first))
        if not given.accepted:
            return given
        value = json.loads(given.body)
        for item in value if request.operation == "list_groups" else []:
            item["id"] += first
        if request.operation == "add_group":
            value["group_id"] += first
        return answer(given.status, value)

    return handler


def _own_ids(request: Received, first: int) -> Received:
    """The request with the ids that the account's groups have on the node."""
    query = {
        name: str(_own_id(int(value), first)) if name == "group_id" and value.isdecimal() else value
        for name, value in parse_qsl(request.query, keep_blank_values=True)
    }
    request = replace(request, query=urlencode(query))
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        return request
    return replace(request, body=json.dumps(_with_own_ids(body, first) if isinstance(body, dict) else body).encode())


def _with_own_ids(body: Members, first: int) -> Members:
    changed = dict(body)
    group = body.get("group_id")
    if isinstance(group, str) and group.isdecimal():
        changed["group_id"] = str(_own_id(int(group), first))
    elif type(group) is int:
        changed["group_id"] = _own_id(group, first)
    for name in ARRAYS:
        ids = body.get(name)
        if isinstance(ids, list):
            changed[name] = [_own_id(group, first) if type(group) is int else group for group in ids]
    return changed


def _own_id(group: int, first: int) -> int:
    if group <= 0 or group >= 2**64:
        return group
    return group - first if 0 < group - first < IDS_PER_ACCOUNT else 2**63
