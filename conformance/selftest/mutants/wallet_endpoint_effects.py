"""Faults about what the endpoints of wallets, actions and accounts do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from eth_utils.address import to_checksum_address
from pydantic import JsonValue

from conformance.selftest.tools.accounts import Write, whole
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    change_accepted,
    change_answer,
    change_body,
    change_items,
    change_query,
    each,
    intercept,
    members,
    refusal,
    wrap,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Action
from reference_node.node import Node


@mutant("EP-230", also="ACC-080 LIST-050 LIST-170")
def only_the_newest_wallet_is_listed(node: Node) -> None:
    """Show only the last wallet in `list_wallets`."""
    wrap(node.accounts, "wallets", lambda view, key, page, _: [] if page else whole(view, key)[-1:])


@mutant("EP-240", also="GRP-220 LIST-160 LIST-170")
def wallets_of_a_group_are_all_wallets(node: Node) -> None:
    """Show every wallet of the account in `list_wallets_in_group`."""
    wrap(node.accounts, "wallets_in_group", lambda _, key, __, page, size: node.accounts.wallets(key, page, size))


@mutant("EP-250", also="GRP-220 LIST-160 LIST-170")
def group_of_actions_is_ignored(node: Node) -> None:
    """Ignore `group_id` in `list_actions`."""
    change_query(node, "list_actions", lambda query: {name: query[name] for name in query if name != "group_id"})


@mutant("EP-260", also="ACC-090 ACT-060 ACT-220 EP-280 LIST-170")
def actions_of_the_account_are_those_in_groups(node: Node) -> None:
    """Show only actions of groups in `list_actions` without a group."""

    def listed(view: Callable[..., list[object]], key: int, page: int, size: int) -> list[object]:
        groups = whole(node.accounts.groups, key)
        inside = {found.cid_hash for group in groups for found in whole(node.accounts.actions_in_group, key, group.id)}
        return [action for action in view(key, page, size) if getattr(action, "cid_hash", None) in inside]

    wrap(node.accounts, "actions", listed)


@mutant("EP-270", also="ACT-040 ACT-100")
def listed_hashes_are_reversed(node: Node) -> None:
    """Reverse the bytes of `hashed_cid` in `list_actions`."""

    def reversed_hash(item: dict[str, JsonValue]) -> dict[str, JsonValue]:
        return {**item, "hashed_cid": f"0x{bytes.fromhex(str(item['hashed_cid'])[2:])[::-1].hex()}"}

    change_items(node, "list_actions", each(reversed_hash))


@mutant("EP-290", also="ACT-060 EP-280 LIST-170")
def deleted_descriptions_come_back(node: Node) -> None:
    """Restore the description of a deleted action when it is registered again without one."""
    buried: dict[tuple[int, bytes], str] = {}

    def delete(write: Write, key: int, cid_hash: bytes) -> None:
        found = next((found for found in whole(node.accounts.actions, key) if found.cid_hash == cid_hash), None)
        write(key, cid_hash)
        if found is not None:
            buried[key, cid_hash] = found.description

    def add(write: Write, key: int, cid_hash: bytes, name: str, description: str) -> object:
        return write(key, cid_hash, name, description or buried.get((key, cid_hash), ""))

    wrap(node.accounts, "delete_action", delete)
    wrap(node.accounts, "add_action", add)


@mutant("EP-290", also="ACT-190")
def groups_show_metadata_of_deleted_actions(node: Node) -> None:
    """Show in a group's list the labels that an action had before it was deleted."""
    seen: dict[tuple[int, bytes], Action] = {}

    def delete(write: Write, key: int, cid_hash: bytes) -> None:
        known = {(key, action.cid_hash): action for action in whole(node.accounts.actions, key)}
        write(key, cid_hash)
        seen.update(known)

    def in_group(view: Callable[..., list[Action]], account: int, *page: int) -> list[Action]:
        listed = view(account, *page)
        return [one if one.name else seen.get((account, one.cid_hash), one) for one in listed]

    wrap(node.accounts, "delete_action", delete)
    wrap(node.accounts, "actions_in_group", in_group)


@mutant("EP-310", also="EP-290")
def unregistered_action_is_registered_by_its_update(node: Node) -> None:
    """Register an unknown action in `update_action_metadata`."""

    def update(write: Write, key: int, cid_hash: bytes, name: str, description: str) -> None:
        if any(found.cid_hash == cid_hash for found in whole(node.accounts.actions, key)):
            write(key, cid_hash, name, description)
        else:
            node.accounts.add_action(key, cid_hash, name, description)

    wrap(node.accounts, "update_action_metadata", update)


@mutant("EP-310", also="ERR-140 ERR-170")
def unregistered_action_is_deleted(node: Node) -> None:
    """Answer success to `delete_action` of an unknown hash."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return answer(200, {"success": True}) if given.status == 404 else given

    intercept(node, "delete_action", handler)


CID = "get_service_action_ipfs_id"


@mutant(
    each=[
        row(
            "one-cid",
            CID,
            lambda _: "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG",
            breaks="EP-320",
            also="ACT-140 ACT-150 ACT-160 EP-330",
        ),
        row(
            "cid-in-hex",
            CID,
            lambda cid: f"0x{str(cid).encode().hex()}",
            breaks="EP-320",
            also="ACT-140 ACT-160 EP-330",
        ),
        row("every-account-exists", "account_exists", lambda _: True, breaks="EP-340", also="EP-400"),
    ]
)
def answer_is_wrong(node: Node, operation: str, change: Callable[[JsonValue], JsonValue]) -> None:
    """Answer something wrong from `{operation}`; the label says what."""
    change_answer(node, operation, change)


@mutant("EP-400")
def account_exists_refuses_unknown_keys(node: Node) -> None:
    """Refuse a key that nobody owns in `account_exists`, though the profile states that it answers false."""
    change_accepted(node, "account_exists", lambda _, given: refusal(401) if given.body == b"false" else given)


@mutant("EP-320", also="ACT-140 ACT-160 EP-330")
def cid_is_new_each_time(node: Node) -> None:
    """Answer another CID for the same code each time."""
    times = count()
    change_body(
        node, "get_service_action_ipfs_id", lambda code: f"{code}{next(times)}" if isinstance(code, str) else code
    )


@mutant("EP-330", also="ACT-140 ACT-150 ACT-160 EP-320")
def surrogate_pairs_are_two_characters(node: Node) -> None:
    r"""Read a character that comes as two \u escapes as two question marks."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(replace(request, body=request.body.replace(rb"\ud83d\ude00", b"??")))

    intercept(node, "get_service_action_ipfs_id", handler)


@mutant("EP-350", also="PKP-030 PKP-110 PKP-170")
def wallet_is_answered_as_another(node: Node) -> None:
    """Answer another address from `create_wallet` than is registered."""
    other = to_checksum_address(bytes(range(20)))
    change_answer(node, "create_wallet", lambda value: {**members(value), "wallet_address": other})
