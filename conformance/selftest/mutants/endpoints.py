"""Faults about what the endpoints of accounts and usage keys take and answer."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    answer_instead,
    body_of,
    change_accepted,
    change_answer,
    change_body,
    change_items,
    intercept,
    members,
    refusal,
    wrap,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import Permissions
from reference_node.node import Node
from reference_node.permission.cid import is_cid
from reference_node.permission.keys import key_hash

Write = Callable[..., object]


@mutant("EP-040", also="EP-050")
def new_account_takes_another_name_for_the_name(node: Node) -> None:
    """Expect other member names in the body of `new_account`."""
    change_body(node, "new_account", lambda value: {"name": members(value).get("account_name")})


@mutant("EP-060", also="VER-050")
def new_account_needs_a_key(node: Node) -> None:
    """Refuse `new_account` without a key."""
    answer_instead(node, "new_account", refusal(401), lambda request: not presented(request))


@mutant("EP-070", also="EP-040")
def email_is_required(node: Node) -> None:
    """Refuse `new_account` without an email."""
    answer_instead(node, "new_account", refusal(422), lambda request: "email" not in body_of(request))


@mutant("EP-100", also="EP-030")
def account_name_is_optional(node: Node) -> None:
    """Accept `new_account` without a name."""
    change_body(node, "new_account", lambda value: {"account_name": "", **members(value)})


@mutant("EP-100", also="EP-030 ERR-140 ERR-150 ERR-160 VER-050")
def nameless_account_is_refused_with_its_key(node: Node) -> None:
    """Refuse `new_account` without a name, and create the account and answer its key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if "account_name" in body_of(request):
            return await forward(request)
        named = request.having({**body_of(request), "account_name": ""})
        return replace(await forward(named), status=422)

    intercept(node, "new_account", handler)


@mutant("EP-110", also="KEYLIFE-010 UKEY-360 UKEY-420")
def usage_key_is_always_the_same(node: Node) -> None:
    """Answer every `add_usage_api_key` with the value of the account's first key."""
    first: dict[str, JsonValue] = {}

    def changed(request: Received, given: Answered) -> Answered:
        told = given.told
        kept = first.setdefault(presented(request), told["usage_api_key"])
        return answer(given.status, {**told, "usage_api_key": kept})

    change_accepted(node, "add_usage_api_key", changed)


@mutant("KEYLIFE-030", also="EP-130 KEYLIFE-150 UKEY-050")
def usage_key_update_only_adds(node: Node) -> None:
    """Keep `can_create_groups` in `update_usage_api_key`, where the key had it."""

    def update(write: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> object:
        held = node.accounts.usage_key(acting_key, key).permissions
        kept = replace(sent, can_create_groups=held.can_create_groups or sent.can_create_groups)
        return write(acting_key, key, name, description, kept)

    wrap(node.accounts, "update_usage_key", update)


@mutant("EP-150", also="ACC-110 UKEY-360 UKEY-370 VER-050")
def usage_key_values_are_listed(node: Node) -> None:
    """Show the values of keys in `list_api_keys`."""
    values: dict[str, str] = {}

    def keep(value: JsonValue) -> JsonValue:
        key = str(members(value)["usage_api_key"])
        values[f"{key_hash(base64.b64decode(key)):#066x}"] = key
        return value

    def told(item: JsonValue) -> JsonValue:
        return {**members(item), "usage_api_key": values.get(str(members(item)["api_key_hash"]))}

    change_answer(node, "add_usage_api_key", keep)
    change_items(node, "list_api_keys", lambda items: list(map(told, items)))


@mutant("EP-030", server_fault=True)
def cids_in_other_bases_are_server_faults(node: Node) -> None:
    """Answer an action's CID in hexadecimal, base36, base58 or base64 of version 1 with status 500."""

    async def handler(request: Received, forward: Forward) -> Answered:
        cid = str(members(body_of(request)).get("action_ipfs_cid"))
        return refusal(500) if cid.startswith(("f", "k", "z", "m")) and is_cid(cid) else await forward(request)

    intercept(node, "add_action", handler)
