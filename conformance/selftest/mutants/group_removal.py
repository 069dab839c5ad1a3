"""Faults about groups that are removed, and about what goes with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.selftest.tools.accounts import Hashes, Write, account_of, change_list, lists_of, permissions_of, whole
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Group, UsageKey
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node
from reference_node.problems import Conflict


@mutant("GRPLIFE-100", also="EP-190 GRPLIFE-110")
def groups_that_keys_name_stay(node: Node) -> None:
    """Refuse with 409 to remove a group as long as a usage key names it."""

    def remove(write: Write, key: int, group_id: int) -> None:
        for named in whole(node.accounts.usage_keys, account_of(node, key)):
            arrays = named.permissions.arguments()[3:]
            if any(group_id in array for array in arrays if isinstance(array, Sequence)):
                raise Conflict("group-in-use", f"the usage key {named.name} names the group: update it first")
        write(key, group_id)

    wrap(node.accounts, "remove_group", remove)


def _hide_removed(node: Node) -> set[tuple[int, int]]:
    """Only hide removed groups from `list_groups`; return account and id of each."""
    hidden: set[tuple[int, int]] = set()

    def remove(write: Write, key: int, group_id: int) -> None:
        account, given = account_of(node, key), permissions_of(node, key)
        ids = {group.id for group in whole(node.accounts.groups, account)}
        ids |= {found for owner, found in hidden if owner == account}
        if group_id not in ids or (given is not None and not given.can_delete_groups):
            write(key, group_id)
        else:
            hidden.add((account, group_id))

    wrap(node.accounts, "remove_group", remove)
    change_list(node, "groups", lambda account, found: [one for one in found if (account, one.id) not in hidden])
    return hidden


@mutant(
    "GRPLIFE-110",
    "GRPLIFE-150",
    "CHAIN-050",
    also="ACC-140 ERR-100 ERR-140 EXEC-120 EXEC-230 GRPLIFE-100 GRPLIFE-160",
)
def removed_groups_are_only_hidden(node: Node) -> None:
    """Remove a group from the list only."""
    _hide_removed(node)


@mutant("GRPLIFE-120", also="ACC-140 CHAIN-050 ERR-100 GRPLIFE-110 GRPLIFE-150 GRPLIFE-160 LIST-010 LIST-020")
def removed_ids_are_used_again(node: Node) -> None:
    """Give a new group the id of a removed one, which keys may still name."""
    hidden = _hide_removed(node)

    def add(write: Callable[..., int], key: int, name: str, description: str, *lists: Hashes) -> int:
        owner = account_of(node, key)
        again = sorted(group_id for account, group_id in hidden if account == owner)
        if not again or ((permissions := permissions_of(node, key)) and not permissions.can_create_groups):
            return write(key, name, description, *lists)
        hidden.discard((owner, again[0]))
        node.accounts.update_group(owner, Group(again[0], name, description), *lists)
        return again[0]

    wrap(node.accounts, "add_group", add)


@mutant("GRPLIFE-130", "GRPLIFE-170")
def keys_of_a_removed_group_lose_all_groups(node: Node) -> None:
    """Empty the arrays of every key that named a removed group."""

    def remove(write: Write, key: int, group_id: int) -> None:
        account = account_of(node, key)
        named = [found for found in whole(node.accounts.usage_keys, account) if group_id in _arrays(found)]
        write(key, group_id)
        for found in named:
            _empty(node, account, found)

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
    """Delete from the account the actions that a removed group listed."""

    def remove(write: Write, key: int, group_id: int) -> None:
        account = account_of(node, key)
        listed = lists_of(node, key, group_id)[1]
        write(key, group_id)
        for action in whole(node.accounts.actions, account):
            if action.cid_hash in listed:
                node.accounts.delete_action(account, action.cid_hash)

    wrap(node.accounts, "remove_group", remove)


@mutant("GRPLIFE-140", also="LIST-170")
def removal_hides_the_groups_wallets(node: Node) -> None:
    """Hide from the account's list the wallets that a removed group listed."""
    hidden: set[bytes] = set()

    def remove(write: Write, key: int, group_id: int) -> None:
        listed = lists_of(node, key, group_id)[0]
        write(key, group_id)
        hidden.update(listed)

    wrap(node.accounts, "remove_group", remove)
    change_list(node, "wallets", lambda _, found: [wallet for wallet in found if wallet.id not in hidden])


@mutant("GRPLIFE-140", also="GRPLIFE-130 GRPLIFE-170")
def removal_removes_the_groups_keys(node: Node) -> None:
    """Remove the usage keys that named a removed group."""

    def remove(write: Write, key: int, group_id: int) -> None:
        account = account_of(node, key)
        named = [found for found in whole(node.accounts.usage_keys, account) if group_id in _arrays(found)]
        write(key, group_id)
        for found in named:
            node.accounts.remove_usage_key(account, found.key_hash)

    wrap(node.accounts, "remove_group", remove)


@mutant(
    each=[
        row("wallets", "remove_pkp_from_group", breaks="EXEC-110", also="ERR-150 GRP-110"),
        row("actions", "remove_action_from_group", breaks="EXEC-100", also="ERR-150 GRP-110"),
    ]
)
def removal_of_what_is_not_listed_takes_the_wildcard(node: Node, method: str) -> None:
    """Take the wildcard out of a group in `{method}` of what the group does not list by name, and refuse that."""

    def remove(write: Write, key: int, group_id: int, entry: bytes) -> None:
        try:
            write(key, group_id, entry)
        except ContractRefusal as refused:
            if refused.error == "NotInGroup":
                with suppress(ContractRefusal):
                    write(key, group_id, bytes(32))
            raise

    wrap(node.accounts, method, remove)


@mutant("GRPLIFE-130", also="GRPLIFE-110")
def removal_takes_out_by_the_place_in_one_array(node: Node) -> None:
    """Take out of all arrays of a usage key the entry at the place that a removed group has in `execute_in_groups`."""

    def remove(write: Write, key: int, group_id: int) -> None:
        account = account_of(node, key)
        named = [one for one in whole(node.accounts.usage_keys, account) if group_id in _executes_in(one)]
        write(key, group_id)
        for one in named:
            place = _executes_in(one).index(group_id)
            arrays = {array: _left(getattr(one.permissions, array), place, group_id) for array in PERMISSION_ARRAYS}
            changed = replace(one.permissions, **arrays)  # type: ignore[arg-type]  # they are arrays of ids
            node.accounts.update_usage_key(account, one.key_hash, one.name, one.description, changed)

    wrap(node.accounts, "remove_group", remove)


def _executes_in(key: UsageKey) -> Sequence[int]:
    return key.permissions.execute_in_groups


def _left(named: Sequence[int], place: int, gone: int) -> list[int]:
    """Return an array without the entry at this place; nothing else may name what is gone."""
    return [one for one in (*named[:place], *named[place + 1 :]) if one != gone]
