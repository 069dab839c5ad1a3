"""A correct node whose lists show nothing but what identifies an item."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSIONS
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Handler,
    Received,
    answer,
    change_items,
    intercept,
    lasting,
    refusal,
)
from conformance.selftest.variants.variant import (
    LISTS,
    SILENT_WRITES,
    Members,
    choices,
    each,
    presented,
)
from reference_node.node import Node
from reference_node.permission.keys import key_hash

IDS_PER_ACCOUNT = 100_000
WALLET_SIGNED = (
    "create_wallet_with_signature",
    "convert_to_chain_secured_account",
    "add_usage_api_key_with_signature",
)


@choices(
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
def bare_lists(node: Node) -> None:
    """List nothing but ids and hashes, offer no chain, and number groups across all accounts.

    Accounts are used by API key alone: the wallet-signed flows are absent.
    """
    intercept(node, WALLET_SIGNED, _absent)
    intercept(node, (*LISTS, *SILENT_WRITES, "add_usage_api_key"), _with_global_ids(node))
    change_items(node, "list_groups", each(lambda item: {"id": item["id"]}))
    change_items(node, "list_actions", each(lambda item: {"hashed_cid": item["hashed_cid"]}))
    change_items(node, "list_api_keys", each(lambda item: {"api_key_hash": item["api_key_hash"]}))


def _with_global_ids(node: Node) -> Handler:
    numbers: dict[int, int] = lasting(node, "numbers of accounts", {})

    async def handler(request: Received, forward: Forward) -> Answered:
        secret = presented(request)
        account = node.accounts.key_info(key_hash(secret)).account_hash if secret else 0
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
    """Return the request with the ids that the account's groups have on the node."""
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
    for name in PERMISSION_ARRAYS:
        ids = body.get(name)
        if isinstance(ids, list):
            changed[name] = [_own_id(group, first) if type(group) is int else group for group in ids]
    return changed


def _own_id(group: int, first: int) -> int:
    if group <= 0 or group >= 2**64:
        return group
    return group - first if 0 < group - first < IDS_PER_ACCOUNT else 2**63


async def _absent(_request: Received, _forward: Forward) -> Answered:
    return refusal(404)
