"""A correct node that answers as little as the specification lets it, and takes no field as optional."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from pydantic import JsonValue

from conformance.profile.operations import PERMISSIONS
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Handler,
    Received,
    change_answer,
    change_body,
    change_items,
    intercept,
    refusal,
    wrap,
)
from conformance.selftest.variants.variant import (
    EVERYTHING,
    GROUP_LISTS,
    LISTS,
    ON_GROUPS,
    SILENT_WRITES,
    Members,
    choices,
    each,
    members_of,
    newest_first,
    presented,
)
from reference_node.node import Node
from reference_node.permission.keys import key_hash

PAGE_SIZE = 3


@choices(
    {
        # Not `openapi`: the description would still be the reference node's.
        "capabilities": [
            "managed_accounts",
            "wallet_signed",
            "chain_rpc",
            "clock_control",
            "funded_wallet",
            "billing",
            "attestation",
            "app_authorisation_contract",
            "tls",
            "caa_dns",
        ],
        "wire": {
            "mutating_responses": None,
            "paging": {"first_page_number": 1, "container": {"form": "object", "items_member": "page"}},
            "list_groups": {"id_form": "decimal_string"},
            "add_usage_api_key": {"missing_fields": {"permissions": "refused"}},
            "update_usage_api_key": {"missing_fields": {"permissions": "refused"}},
            "update_group": {"missing_fields": {"lists": "refused"}},
        },
        "semantics": {"list_order_other": "newest_first", "list_order_in_group": "newest_first"},
        "limits": {"page_size_max": PAGE_SIZE, "page_size_default": PAGE_SIZE},
        "errors": {"status_codes": None, "body_shape": None},
        "auth": {"usage_key_permission": {"lists": "account_key", "list_api_keys": "account_key"}},
    }
)
def minimal_answers(node: Node) -> None:
    """Answer as little as the specification lets a node, and require every field of a body.

    Answers have no member that the specification does not show. Every refusal has status 400 and a line of text. Lists
    are for account keys; they show the newest first, on pages of three that are objects and count from 1, with ids of
    groups as texts and hex in capitals.
    """
    for view in ("wallets", "actions", "usage_keys", "wallets_in_group", "actions_in_group"):
        wrap(node.accounts, view, newest_first)
    change_items(node, LISTS, each(_in_capitals))
    change_items(node, "list_groups", each(lambda item: {**item, "id": str(item["id"])}))
    change_body(node, (*ON_GROUPS, "update_group"), members_of(_with_group_number))
    change_answer(node, "create_wallet", members_of(_in_capitals))
    change_answer(node, "add_usage_api_key", members_of(lambda value: {"usage_api_key": value["usage_api_key"]}))
    change_answer(node, LISTS[1:], lambda items: {"page": items})
    intercept(node, LISTS, _small_pages)
    intercept(node, LISTS, _for_account_keys(node))
    intercept(node, ("add_usage_api_key", "update_usage_api_key"), _needs(PERMISSIONS))
    intercept(node, ("add_group", "update_group"), _needs(GROUP_LISTS))
    intercept(node, SILENT_WRITES, _empty_201)
    intercept(node, EVERYTHING, _all_400)


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
        secret = presented(request)
        if given.accepted and secret and not node.accounts.key_info(key_hash(secret)).is_account_key:
            return refusal(403)
        return given

    return handler


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
    if not 400 <= given.status < 500:
        return given
    return Answered(400, ((b"content-type", b"text/plain"),), b"Refused.\n")
