"""Faults about a group's id in requests, and about writes at once."""

from __future__ import annotations

import json
from dataclasses import replace

from conformance.selftest.tools.accounts import Hashes, Write, account_of, group_of, lists_of
from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, members, refusal, wrap
from conformance.selftest.tools.concurrent_requests import Overtaking, Rendezvous
from conformance.selftest.tools.mutant import mutant
from conformance.selftest.tools.operations import GROUP_MEMBER_WRITES
from reference_node.chain.account_config import Action, Group, Wallet
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node


@mutant("GRPLIFE-150", "GRPLIFE-200")
def update_of_no_group_makes_one(node: Node) -> None:
    """Create a group in `update_group` when the id is unknown."""

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        if group in [group_of(node, key, group.id)] or group.id in _ids(node, key):
            write(key, group, *lists)
        else:
            node.accounts.add_group(key, group.name, group.description, *lists)

    wrap(node.accounts, "update_group", update)


def _ids(node: Node, key: int) -> list[int]:
    return [group.id for group in node.accounts.groups(account_of(node, key), 0, 100)]


@mutant("GRPLIFE-150", "GRPLIFE-200")
def removing_no_group_succeeds(node: Node) -> None:
    """Answer success to `remove_group` of an unknown group."""

    def remove(write: Write, key: int, group_id: int) -> None:
        if group_id in _ids(node, key):
            write(key, group_id)

    wrap(node.accounts, "remove_group", remove)


@mutant("GRPLIFE-150", "GRPLIFE-200")
def filling_no_group_succeeds(node: Node) -> None:
    """Answer success to additions to and removals from an unknown group."""
    for name in GROUP_MEMBER_WRITES:

        def forgiving(write: Write, key: int, group_id: int, item: bytes) -> None:
            if group_id in _ids(node, key):
                write(key, group_id, item)

        wrap(node.accounts, name, forgiving)


@mutant("GRPLIFE-200", also="GRPLIFE-150 EP-360 EP-370")
def unknown_group_falls_to_the_newest(node: Node) -> None:
    """Add to the account's newest group when the group is unknown."""

    def add(write: Write, key: int, group_id: int, item: bytes) -> None:
        ids = _ids(node, key)
        write(key, group_id if group_id in ids else ids[-1], item)

    wrap(node.accounts, "add_pkp_to_group", add)
    wrap(node.accounts, "add_action_to_group", add)


def _remove_group_takes(node: Node, kind: type) -> None:
    async def handler(request: Received, forward: Forward) -> Answered:
        given = members(json.loads(request.body)).get("group_id")
        return await forward(request) if isinstance(given, kind) else refusal(422)

    intercept(node, "remove_group", handler)


@mutant("GRPLIFE-180")
def quoted_ids_are_refused(node: Node) -> None:
    """Refuse an id in quotes in `remove_group`."""
    _remove_group_takes(node, int)


@mutant("GRPLIFE-190", also="EP-190")
def unquoted_ids_are_refused(node: Node) -> None:
    """Refuse an id that is a JSON number in `remove_group`."""
    _remove_group_takes(node, str)


@mutant("GRPLIFE-190", also="EP-210 EP-220 EP-360 EP-370")
def group_calls_want_quoted_ids(node: Node) -> None:
    """Refuse an id that is a JSON number in additions to and removals from a group."""

    async def handler(request: Received, forward: Forward) -> Answered:
        body = members(json.loads(request.body))
        given = body.get("group_id")
        if not isinstance(given, str):
            return refusal(422)
        return await forward(replace(request, body=json.dumps({**body, "group_id": int(given)}).encode()))

    intercept(node, GROUP_MEMBER_WRITES, handler)


@mutant("GRPLIFE-180", also="GRPLIFE-100")
def quoted_ids_do_nothing(node: Node) -> None:
    """Answer success to `remove_group` with an id in quotes, and remove nothing."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = members(json.loads(request.body)).get("group_id")
        return answer(200, {"success": True}) if isinstance(given, str) else await forward(request)

    intercept(node, "remove_group", handler)


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


@mutant("GRPLIFE-230", also="EP-370 SCOPE-070 UKEY-180")
def addition_rewrites_the_list(node: Node) -> None:
    """Read a group's wallets in `add_pkp_to_group`, and write them back later with the new one."""
    rendezvous = Rendezvous()

    def add(_: Write, key: int, group_id: int, wallet: bytes) -> None:
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
    also="CHAIN-050 EP-180 GRP-270 EXEC-010 EXEC-020 EXEC-040 EXEC-050 EP-210 EP-220 EP-360 EP-370 LIST-040 LIST-060",
)
def updated_lists_stay_off_chain(node: Node) -> None:
    """Keep updated lists of groups in memory, and not in the contract."""
    kept: dict[tuple[int, int], tuple[list[Wallet], list[Action]]] = {}
    view_wallets, view_actions = node.accounts.wallets_in_group, node.accounts.actions_in_group

    def update(write: Write, key: int, group: Group, wallets: Hashes, actions: Hashes) -> None:
        account = account_of(node, key)
        old = [wallet.id for wallet in view_wallets(account, group.id, 0, 100)]
        write(key, group, old, [action.cid_hash for action in view_actions(account, group.id, 0, 100)])
        known = [wallet for wallet in node.accounts.wallets(account, 0, 100) if wallet.id in wallets]
        kept[account, group.id] = known, [Action(action, "", "") for action in actions]

    def wallets_in_group(_: object, account: int, group_id: int, *page: int) -> list[Wallet]:
        return kept[account, group_id][0] if (account, group_id) in kept else view_wallets(account, group_id, *page)

    def actions_in_group(_: object, account: int, group_id: int, *page: int) -> list[Action]:
        return kept[account, group_id][1] if (account, group_id) in kept else view_actions(account, group_id, *page)

    wrap(node.accounts, "update_group", update)
    wrap(node.accounts, "wallets_in_group", wallets_in_group)
    wrap(node.accounts, "actions_in_group", actions_in_group)
