"""Faults about what the endpoints of wallets, actions and accounts do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count

from eth_utils.address import to_checksum_address
from pydantic import JsonValue

from conformance.selftest.tools.accounts import Write
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    change_answer,
    change_body,
    change_items,
    change_query,
    each,
    intercept,
    members,
    wrap,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node


@mutant("EP-230")
def only_the_newest_wallet_is_listed(node: Node) -> None:
    """`list_wallets` shows the last wallet alone."""
    wrap(node.accounts, "wallets", lambda view, key, *_: view(key, 0, 100)[-1:])


@mutant("EP-240")
def wallets_of_a_group_are_all_wallets(node: Node) -> None:
    """`list_wallets_in_group` shows every wallet of the account."""
    wrap(node.accounts, "wallets_in_group", lambda _, key, __, page, size: node.accounts.wallets(key, page, size))


@mutant("EP-250")
def group_of_actions_is_ignored(node: Node) -> None:
    """`list_actions` ignores `group_id`."""
    change_query(node, "list_actions", lambda query: {name: query[name] for name in query if name != "group_id"})


@mutant("EP-260")
def actions_of_the_account_are_those_in_groups(node: Node) -> None:
    """`list_actions` without a group shows only actions that are in one."""

    def listed(view: Callable[..., list[object]], key: int, page: int, size: int) -> list[object]:
        groups = node.accounts.groups(key, 0, 100)
        inside = {found.cid_hash for group in groups for found in node.accounts.actions_in_group(key, group.id, 0, 100)}
        return [action for action in view(key, page, size) if getattr(action, "cid_hash", None) in inside]

    wrap(node.accounts, "actions", listed)


@mutant("EP-270")
def listed_hashes_are_reversed(node: Node) -> None:
    """`hashed_cid` of `list_actions` has its bytes the other way round."""

    def reversed_hash(item: dict[str, JsonValue]) -> dict[str, JsonValue]:
        return {**item, "hashed_cid": f"0x{bytes.fromhex(str(item['hashed_cid'])[2:])[::-1].hex()}"}

    change_items(node, "list_actions", each(reversed_hash))


@mutant("EP-290")
def deleted_metadata_come_back(node: Node) -> None:
    """An action that is registered again has the texts that it had before it was deleted."""
    buried: dict[tuple[int, bytes], tuple[str, str]] = {}

    def delete(write: Write, key: int, cid_hash: bytes) -> None:
        found = next((found for found in node.accounts.actions(key, 0, 100) if found.cid_hash == cid_hash), None)
        write(key, cid_hash)
        if found is not None:
            buried[key, cid_hash] = (found.name, found.description)

    def add(write: Write, key: int, cid_hash: bytes, *texts: str) -> object:
        return write(key, cid_hash, *buried.get((key, cid_hash), texts))

    wrap(node.accounts, "delete_action", delete)
    wrap(node.accounts, "add_action", add)


@mutant("EP-310")
def unregistered_action_is_registered_by_its_update(node: Node) -> None:
    """`update_action_metadata` of a hash that is not registered registers it."""

    def update(write: Write, key: int, cid_hash: bytes, name: str, description: str) -> None:
        if any(found.cid_hash == cid_hash for found in node.accounts.actions(key, 0, 100)):
            write(key, cid_hash, name, description)
        else:
            node.accounts.add_action(key, cid_hash, name, description)

    wrap(node.accounts, "update_action_metadata", update)


@mutant("EP-310")
def unregistered_action_is_deleted(node: Node) -> None:
    """`delete_action` of a hash that is not registered says yes."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return answer(200, {"success": True}) if given.status == 404 else given

    intercept(node, "delete_action", handler)


CID = "get_service_action_ipfs_id"


@mutant(
    each=[
        row("one-cid", CID, lambda _: "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG", breaks="EP-320"),
        row("cid-in-hex", CID, lambda cid: f"0x{str(cid).encode().hex()}", breaks="EP-320"),
        row("every-account-exists", "account_exists", lambda _: True, breaks="EP-340"),
        row("no-account-exists", "account_exists", lambda _: False, breaks="EP-340"),
    ]
)
def answer_is_wrong(node: Node, operation: str, change: Callable[[JsonValue], JsonValue]) -> None:
    """Answer something wrong from `{operation}`; the label says what."""
    change_answer(node, operation, change)


@mutant("EP-320")
def cid_is_new_each_time(node: Node) -> None:
    """`get_service_action_ipfs_id` of one code is another each time."""
    times = count()
    change_body(
        node, "get_service_action_ipfs_id", lambda code: f"{code}{next(times)}" if isinstance(code, str) else code
    )


@mutant("EP-330")
def cid_is_of_the_body_as_sent(node: Node) -> None:
    """The CID is computed over the JSON text."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(replace(request, body=json.dumps(request.body.decode()).encode()))

    intercept(node, "get_service_action_ipfs_id", handler)


@mutant("EP-330")
def surrogate_pairs_are_two_characters(node: Node) -> None:
    r"""A character beyond the basic plane that comes as two \u escapes is read as two question marks."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(replace(request, body=request.body.replace(rb"\ud83d\ude00", b"??")))

    intercept(node, "get_service_action_ipfs_id", handler)


@mutant("EP-350")
def wallet_is_answered_as_another(node: Node) -> None:
    """`create_wallet` answers an address that is not the registered one."""
    other = to_checksum_address(bytes(range(20)))
    change_answer(node, "create_wallet", lambda value: {**members(value), "wallet_address": other})
