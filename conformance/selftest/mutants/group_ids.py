"""Faults about a group's id in requests, and about writes at once."""

from __future__ import annotations

from contextvars import ContextVar

from pydantic import JsonValue

from conformance.selftest.tools.accounts import Hashes, Write, account_of, group_of, lists_of, permissions_of, whole
from conformance.selftest.tools.alter import Answered, Forward, Received, body_of, change_body, intercept, members, wrap
from conformance.selftest.tools.concurrent_requests import Overtaking, Rendezvous
from conformance.selftest.tools.mutant import mutant
from conformance.selftest.tools.operations import GROUP_MEMBER_WRITES
from reference_node.chain.account_config import WILDCARD, Action, Group, Wallet
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node


@mutant("GRPLIFE-150", "GRPLIFE-200")
def update_of_no_group_makes_one(node: Node) -> None:
    """Create a group in `update_group` when the id is unknown."""

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        try:
            write(key, group, *lists)
        except ContractRefusal as refused:
            _only_unknown_group(refused)
            node.accounts.add_group(key, group.name, group.description, *lists)

    wrap(node.accounts, "update_group", update)


def _only_unknown_group(refused: ContractRefusal) -> None:
    if refused.error != "GroupUnknown":
        raise refused


@mutant("GRPLIFE-150", "GRPLIFE-200")
def removing_no_group_succeeds(node: Node) -> None:
    """Answer success to `remove_group` of an unknown group."""

    def remove(write: Write, key: int, group_id: int) -> None:
        try:
            write(key, group_id)
        except ContractRefusal as refused:
            _only_unknown_group(refused)

    wrap(node.accounts, "remove_group", remove)


def _remove_group_refuses(node: Node, kind: type) -> None:
    def without(value: JsonValue) -> JsonValue:
        given = members(value).get("group_id")
        return {**members(value), "group_id": None} if isinstance(given, kind) else value

    change_body(node, "remove_group", without)


@mutant("GRPLIFE-180")
def quoted_ids_are_refused(node: Node) -> None:
    """Refuse an id in quotes in `remove_group`."""
    _remove_group_refuses(node, str)


@mutant("GRPLIFE-190", also="EP-190")
def unquoted_ids_are_refused(node: Node) -> None:
    """Refuse an id that is a JSON number in `remove_group`."""
    _remove_group_refuses(node, int)


@mutant("GRPLIFE-190", also="EP-210 EP-220 EP-360 EP-370")
def group_calls_want_quoted_ids(node: Node) -> None:
    """Refuse an id that is a JSON number in additions to and removals from a group."""

    def read(value: JsonValue) -> JsonValue:
        given = members(value).get("group_id")
        return {**members(value), "group_id": int(given) if isinstance(given, str) else None}

    change_body(node, GROUP_MEMBER_WRITES, read)


@mutant("GRPLIFE-180", also="ACC-140 GRPLIFE-100")
def quoted_ids_do_nothing(node: Node) -> None:
    """Answer success to the account key's `remove_group` of a group by an id in quotes, and remove nothing."""
    quoted: ContextVar[bool] = ContextVar("quoted", default=False)

    async def handler(request: Received, forward: Forward) -> Answered:
        quoted.set(isinstance(body_of(request).get("group_id"), str))
        return await forward(request)

    def remove(write: Write, key: int, group_id: int) -> None:
        there = group_id in [group.id for group in whole(node.accounts.groups, account_of(node, key))]
        if not quoted.get() or not there or permissions_of(node, key):
            write(key, group_id)

    intercept(node, "remove_group", handler)
    wrap(node.accounts, "remove_group", remove)


@mutant("GRPLIFE-230")
def update_is_two_writes(node: Node) -> None:
    """Write the labels of `update_group` first and its lists later, so that another update may come between."""
    halves = Overtaking()

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        write(key, group, *lists_of(node, key, group.id))
        halves.wait()
        write(key, group_of(node, key, group.id), *lists)
        halves.done()

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-230", also="EP-370")
def addition_rewrites_the_list(node: Node) -> None:
    """Read a group's wallets in the account key's `add_pkp_to_group`, and write them back later with the new one."""
    rendezvous = Rendezvous()

    def add(write: Write, key: int, group_id: int, wallet: bytes) -> None:
        if permissions_of(node, key):
            write(key, group_id, wallet)
            return
        wallets, actions = lists_of(node, key, group_id)
        if wallet in wallets:
            raise ContractRefusal("AlreadyInGroup", {"groupId": group_id, "item": wallet})
        rendezvous.wait()
        node.accounts.update_group(key, group_of(node, key, group_id), [*wallets, wallet], actions)

    wrap(node.accounts, "add_pkp_to_group", add)


@mutant(
    "GRPLIFE-040",
    "GRPLIFE-050",
    "GRPLIFE-060",
    "GRPLIFE-070",
    "GRPLIFE-080",
    also="CHAIN-050 EP-180 GRP-270 EXEC-010 EXEC-020 EXEC-040 EXEC-050 EP-210 EP-220 EP-360 EP-370",
)
def updated_lists_stay_off_chain(node: Node) -> None:
    """Keep updated lists of groups in memory, and not in the contract."""
    kept: dict[tuple[int, int], tuple[list[Wallet], list[Action]]] = {}
    view_wallets, view_actions = node.accounts.wallets_in_group, node.accounts.actions_in_group

    def update(write: Write, key: int, group: Group, wallets: Hashes, actions: Hashes) -> None:
        account = account_of(node, key)
        old = [wallet.id for wallet in whole(view_wallets, account, group.id)]
        write(key, group, old, [action.cid_hash for action in whole(view_actions, account, group.id)])
        known = {wallet.id: wallet for wallet in whole(node.accounts.wallets, account)}
        known[WILDCARD] = Wallet(WILDCARD, bytes(20), 0, "", "")
        labels = {action.cid_hash: action for action in whole(node.accounts.actions, account)}
        kept[account, group.id] = (
            [known[wallet] for wallet in dict.fromkeys(wallets) if wallet in known],
            [labels.get(action, Action(action, "", "")) for action in dict.fromkeys(actions)],
        )

    def wallets_in_group(_: object, account: int, group_id: int, page: int, size: int) -> list[Wallet]:
        chain = view_wallets(account, group_id, page, size)
        return kept[account, group_id][0][page * size :][:size] if (account, group_id) in kept else chain

    def actions_in_group(_: object, account: int, group_id: int, page: int, size: int) -> list[Action]:
        chain = view_actions(account, group_id, page, size)
        return kept[account, group_id][1][page * size :][:size] if (account, group_id) in kept else chain

    wrap(node.accounts, "update_group", update)
    wrap(node.accounts, "wallets_in_group", wallets_in_group)
    wrap(node.accounts, "actions_in_group", actions_in_group)
