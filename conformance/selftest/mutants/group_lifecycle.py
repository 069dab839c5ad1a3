"""Faults about the life of a group: creation, replacement, removal, and what removal leaves behind."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from conformance.selftest.alter import Answered, Forward, Received, answer, intercept, members, refusal, silence, wrap
from conformance.selftest.mutant import mutant
from conformance.selftest.permissions import account_of, lists_of
from reference_node.chain.account_config import Action, Group, UsageKey, Wallet
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node

IN_A_GROUP = ("add_pkp_to_group", "remove_pkp_from_group", "add_action_to_group", "remove_action_from_group")
NAMING_A_GROUP = ("update_group", "remove_group", *IN_A_GROUP)
PAUSE_SECONDS = 0.03
"""Between the two halves of a write that is not one."""

Write = Callable[..., object]
Hashes = Sequence[bytes]


def _group(node: Node, key: int, group_id: int) -> Group:
    found = [group for group in node.accounts.groups(account_of(node, key), 0, 100) if group.id == group_id]
    return found[0] if found else Group(group_id, "", "")


@mutant("GRPLIFE-010")
def group_is_promised_and_not_made(node: Node) -> None:
    """`add_group` reports success with the id that is next and makes nothing."""
    wrap(node.accounts, "add_group", lambda _, key, *__: len(node.accounts.groups(account_of(node, key), 0, 100)) + 1)


@mutant("GRPLIFE-010", "GRPLIFE-220")
def groups_come_in_pairs(node: Node) -> None:
    """`add_group` makes two groups, as after a retry of a transaction that had landed."""

    def add(write: Callable[..., int], *arguments: object) -> int:
        write(*arguments)
        return write(*arguments)

    wrap(node.accounts, "add_group", add)


@mutant("GRPLIFE-010")
def group_is_made_for_everybody(node: Node) -> None:
    """A new group is listed in every account."""
    made: list[Group] = []

    def add(write: Callable[..., int], key: int, name: str, description: str, *lists: Hashes) -> int:
        group_id = write(key, name, description, *lists)
        made.append(Group(group_id, name, description))
        return group_id

    wrap(node.accounts, "add_group", add)
    wrap(node.accounts, "groups", lambda view, *arguments: view(*arguments) or made)


@mutant("GRPLIFE-020")
def update_keeps_the_name(node: Node) -> None:
    """`update_group` does not change the name."""
    wrap(
        node.accounts,
        "update_group",
        lambda write, key, group, *lists: write(key, group._replace(name=_group(node, key, group.id).name), *lists),
    )


@mutant("GRPLIFE-030")
def update_keeps_the_description(node: Node) -> None:
    """`update_group` does not change the description."""

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        write(key, group._replace(description=_group(node, key, group.id).description), *lists)

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-020", "GRPLIFE-030")
def updated_labels_stay_off_chain(node: Node) -> None:
    """`update_group` keeps the new labels in the node's memory; the contract has the old ones."""
    kept: dict[tuple[int, int], Group] = {}
    chain_groups = node.accounts.groups

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        account = account_of(node, key)
        on_chain = [found for found in chain_groups(account, 0, 100) if found.id == group.id]
        write(key, on_chain[0] if on_chain else group, *lists)
        kept[account, group.id] = group

    def groups(_: object, account: int, *page: int) -> list[Group]:
        return [kept.get((account, group.id), group) for group in chain_groups(account, *page)]

    wrap(node.accounts, "update_group", update)
    wrap(node.accounts, "groups", groups)


@mutant("GRPLIFE-040", "GRPLIFE-060", "GRPLIFE-080")
def update_adds_wallets(node: Node) -> None:
    """`update_group` adds the wallets it is given to those that are there."""

    def update(write: Write, key: int, group: Group, wallets: Hashes, actions: Hashes) -> None:
        write(key, group, [*lists_of(node, key, group.id)[0], *wallets], actions)

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-050", "GRPLIFE-060", "GRPLIFE-080")
def update_adds_actions(node: Node) -> None:
    """`update_group` adds the action hashes it is given to those that are there."""

    def update(write: Write, key: int, group: Group, wallets: Hashes, actions: Hashes) -> None:
        write(key, group, wallets, [*lists_of(node, key, group.id)[1], *actions])

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-060")
def update_takes_empty_lists_as_absent(node: Node) -> None:
    """An empty list in `update_group` leaves the group's list as it is."""

    def update(write: Write, key: int, group: Group, wallets: Hashes, actions: Hashes) -> None:
        old_wallets, old_actions = lists_of(node, key, group.id)
        write(key, group, wallets or old_wallets, actions or old_actions)

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-080")
def update_keeps_what_was_added(node: Node) -> None:
    """`update_group` replaces what `add_group` and itself listed, not what was added item by item."""
    added_wallets: dict[int, list[bytes]] = {}
    added_actions: dict[int, list[bytes]] = {}

    def add_wallet(write: Write, key: int, group_id: int, wallet: bytes) -> None:
        write(key, group_id, wallet)
        added_wallets.setdefault(group_id, []).append(wallet)

    def add_action(write: Write, key: int, group_id: int, action: bytes) -> None:
        write(key, group_id, action)
        added_actions.setdefault(group_id, []).append(action)

    def update(write: Write, key: int, group: Group, wallets: Hashes, actions: Hashes) -> None:
        kept_wallets, kept_actions = added_wallets.get(group.id, []), added_actions.get(group.id, [])
        write(key, group, [*wallets, *kept_wallets], [*actions, *kept_actions])

    wrap(node.accounts, "add_pkp_to_group", add_wallet)
    wrap(node.accounts, "add_action_to_group", add_action)
    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-090", "LIST-030")
def update_moves_the_group_to_the_end(node: Node) -> None:
    """An updated group is listed last."""
    updated: list[int] = []

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        write(key, group, *lists)
        updated.append(group.id)

    def groups(view: Callable[..., list[Group]], *arguments: int) -> list[Group]:
        found = view(*arguments)
        return sorted(found, key=lambda group: updated.index(group.id) if group.id in updated else -1)

    wrap(node.accounts, "update_group", update)
    wrap(node.accounts, "groups", groups)


@mutant("GRPLIFE-090")
def update_makes_a_new_group(node: Node) -> None:
    """`update_group` removes the group and makes one with the new values, so that its id changes."""

    def update(_: Write, key: int, group: Group, *lists: Hashes) -> None:
        node.accounts.remove_group(key, group.id)
        node.accounts.add_group(key, group.name, group.description, *lists)

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-090")
def update_fills_every_group(node: Node) -> None:
    """`update_group` replaces the lists of all groups of the account."""

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        write(key, group, *lists)
        for other in node.accounts.groups(account_of(node, key), 0, 100):
            write(key, other, *lists)

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-100", "GRPLIFE-150")
def removed_group_stays(node: Node) -> None:
    """`remove_group` reports success and does nothing."""
    silence(node.accounts, "remove_group")


@mutant("GRPLIFE-100")
def removal_takes_the_later_groups_too(node: Node) -> None:
    """`remove_group` removes the group and all that were made after it."""

    def remove(write: Write, key: int, group_id: int) -> None:
        for group in node.accounts.groups(account_of(node, key), 0, 100):
            if group.id >= group_id:
                write(key, group.id)

    wrap(node.accounts, "remove_group", remove)


def _hide_removed(node: Node) -> set[tuple[int, int]]:
    """Let `remove_group` only hide the group from `list_groups`; account and id of what is hidden."""
    hidden: set[tuple[int, int]] = set()

    def remove(_: Write, key: int, group_id: int) -> None:
        hidden.add((account_of(node, key), group_id))

    def groups(view: Callable[..., list[Group]], account: int, *page: int) -> list[Group]:
        return [group for group in view(account, *page) if (account, group.id) not in hidden]

    wrap(node.accounts, "remove_group", remove)
    wrap(node.accounts, "groups", groups)
    return hidden


@mutant("GRPLIFE-110", "GRPLIFE-150")
def removed_groups_are_only_hidden(node: Node) -> None:
    """`remove_group` takes the group out of the list, and out of nothing else."""
    _hide_removed(node)


@mutant("GRPLIFE-100")
def removed_group_stays_on_chain(node: Node) -> None:
    """`remove_group` takes the group out of the node's lists and refuses it from then on; the contract keeps it."""
    hidden = _hide_removed(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        group_id = int(str(members(json.loads(request.body)).get("group_id")))
        return refusal(404) if group_id in {found for _, found in hidden} else await forward(request)

    intercept(node, NAMING_A_GROUP, handler)


@mutant("GRPLIFE-120")
def removed_ids_are_used_again(node: Node) -> None:
    """A new group gets the id of a removed one, and with it the keys that still name it."""
    hidden = _hide_removed(node)

    def add(write: Callable[..., int], key: int, name: str, description: str, *lists: Hashes) -> int:
        again = sorted(group_id for account, group_id in hidden if account == account_of(node, key))
        if not again:
            return write(key, name, description, *lists)
        hidden.discard((account_of(node, key), again[0]))
        node.accounts.update_group(key, Group(again[0], name, description), *lists)
        return again[0]

    wrap(node.accounts, "add_group", add)


@mutant("GRPLIFE-130")
def keys_of_a_removed_group_lose_all_groups(node: Node) -> None:
    """`remove_group` empties the arrays of every key that named the group."""

    def remove(write: Write, key: int, group_id: int) -> None:
        account = account_of(node, key)
        named = [found for found in node.accounts.usage_keys(account, 0, 100) if group_id in _arrays(found)]
        write(key, group_id)
        for found in named:
            _empty(node, key, found)

    wrap(node.accounts, "remove_group", remove)


@mutant("GRPLIFE-130")
def removal_ends_wildcards(node: Node) -> None:
    """`remove_group` empties the arrays that hold the wildcard."""

    def remove(write: Write, key: int, group_id: int) -> None:
        write(key, group_id)
        for found in node.accounts.usage_keys(account_of(node, key), 0, 100):
            if 0 in _arrays(found):
                _empty(node, key, found)

    wrap(node.accounts, "remove_group", remove)


def _arrays(key: UsageKey) -> set[int]:
    arrays = key.permissions.arguments()[3:]
    return {group_id for array in arrays if isinstance(array, list | tuple) for group_id in array}


def _empty(node: Node, owner: int, key: UsageKey) -> None:
    permissions = replace(
        key.permissions,
        manage_ipfs_ids_in_groups=[],
        add_pkp_to_groups=[],
        remove_pkp_from_groups=[],
        execute_in_groups=[],
    )
    node.accounts.update_usage_key(owner, key.key_hash, key.name, key.description, permissions)


@mutant("GRPLIFE-140")
def removal_deletes_the_groups_actions(node: Node) -> None:
    """`remove_group` deletes the actions that the group listed from the account."""

    def remove(write: Write, key: int, group_id: int) -> None:
        account = account_of(node, key)
        listed = lists_of(node, key, group_id)[1]
        write(key, group_id)
        for action in node.accounts.actions(account, 0, 100):
            if action.cid_hash in listed:
                node.accounts.delete_action(key, action.cid_hash)

    wrap(node.accounts, "remove_group", remove)


@mutant("GRPLIFE-140")
def removal_hides_the_groups_wallets(node: Node) -> None:
    """Wallets that a removed group listed are in no list any more."""
    hidden: set[bytes] = set()

    def remove(write: Write, key: int, group_id: int) -> None:
        hidden.update(lists_of(node, key, group_id)[0])
        write(key, group_id)

    def wallets(view: Callable[..., list[Wallet]], *arguments: int) -> list[Wallet]:
        return [wallet for wallet in view(*arguments) if wallet.id not in hidden]

    wrap(node.accounts, "remove_group", remove)
    wrap(node.accounts, "wallets", wallets)


@mutant("GRPLIFE-140")
def removal_removes_the_groups_keys(node: Node) -> None:
    """`remove_group` removes the usage keys that named the group."""

    def remove(write: Write, key: int, group_id: int) -> None:
        named = [
            found for found in node.accounts.usage_keys(account_of(node, key), 0, 100) if group_id in _arrays(found)
        ]
        write(key, group_id)
        for found in named:
            node.accounts.remove_usage_key(key, found.key_hash)

    wrap(node.accounts, "remove_group", remove)


@mutant("GRPLIFE-150", "GRPLIFE-200")
def update_of_no_group_makes_one(node: Node) -> None:
    """`update_group` with the id of no group makes a group."""

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        if group in [_group(node, key, group.id)] or group.id in _ids(node, key):
            write(key, group, *lists)
        else:
            node.accounts.add_group(key, group.name, group.description, *lists)

    wrap(node.accounts, "update_group", update)


def _ids(node: Node, key: int) -> list[int]:
    return [group.id for group in node.accounts.groups(account_of(node, key), 0, 100)]


@mutant("GRPLIFE-150", "GRPLIFE-200")
def removing_no_group_succeeds(node: Node) -> None:
    """`remove_group` of a group that is not there reports success."""

    def remove(write: Write, key: int, group_id: int) -> None:
        if group_id in _ids(node, key):
            write(key, group_id)

    wrap(node.accounts, "remove_group", remove)


@mutant("GRPLIFE-150", "GRPLIFE-200")
def filling_no_group_succeeds(node: Node) -> None:
    """Adding to and removing from a group that is not there report success."""
    for name in IN_A_GROUP:

        def forgiving(write: Write, key: int, group_id: int, item: bytes) -> None:
            if group_id in _ids(node, key):
                write(key, group_id, item)

        wrap(node.accounts, name, forgiving)


@mutant("GRPLIFE-200")
def unknown_group_falls_to_the_newest(node: Node) -> None:
    """Additions to a group that is not there go to the account's newest group."""

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
    """`remove_group` refuses an id in quotes."""
    _remove_group_takes(node, int)


@mutant("GRPLIFE-190")
def unquoted_ids_are_refused(node: Node) -> None:
    """`remove_group` refuses an id that is a JSON number."""
    _remove_group_takes(node, str)


@mutant("GRPLIFE-190")
def group_calls_want_quoted_ids(node: Node) -> None:
    """The calls that fill a group refuse the id as `list_groups` shows it and want it in quotes."""

    async def handler(request: Received, forward: Forward) -> Answered:
        body = members(json.loads(request.body))
        given = body.get("group_id")
        if not isinstance(given, str):
            return refusal(422)
        return await forward(replace(request, body=json.dumps({**body, "group_id": int(given)}).encode()))

    intercept(node, IN_A_GROUP, handler)


@mutant("GRPLIFE-180")
def quoted_ids_do_nothing(node: Node) -> None:
    """`remove_group` with an id in quotes reports success and removes nothing."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = members(json.loads(request.body)).get("group_id")
        return answer(200, {"success": True}) if isinstance(given, str) else await forward(request)

    intercept(node, "remove_group", handler)


@mutant("GRPLIFE-230")
def update_is_two_writes(node: Node) -> None:
    """`update_group` writes the labels first and the lists a moment later, now a longer one, now a shorter one."""
    pauses = itertools.cycle([2 * PAUSE_SECONDS, 0])

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        write(key, group, *lists_of(node, key, group.id))
        time.sleep(next(pauses))
        write(key, _group(node, key, group.id), *lists)

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-230")
def addition_rewrites_the_list(node: Node) -> None:
    """`add_pkp_to_group` reads the list, and a moment later writes it back with the new wallet."""

    def add(_: Write, key: int, group_id: int, wallet: bytes) -> None:
        wallets, actions = lists_of(node, key, group_id)
        if wallet in wallets:
            raise ContractRefusal("AlreadyInGroup", {"groupId": group_id, "item": wallet})
        time.sleep(PAUSE_SECONDS)
        node.accounts.update_group(key, _group(node, key, group_id), [*wallets, wallet], actions)

    wrap(node.accounts, "add_pkp_to_group", add)


@mutant("GRPLIFE-040", "GRPLIFE-050")
def updated_lists_stay_off_chain(node: Node) -> None:
    """`update_group` keeps the new lists in the node's memory; the contract has the old ones."""
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
