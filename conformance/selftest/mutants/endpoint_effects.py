"""Faults about what the endpoints of groups do."""

from __future__ import annotations

from itertools import count

from conformance.selftest.tools.alter import change_items, change_query, each, silence, wrap
from conformance.selftest.tools.mutant import mutant
from conformance.selftest.tools.permissions import Write
from reference_node.chain.account_config import Group
from reference_node.node import Node


@mutant("EP-160")
def lists_of_a_new_group_are_ignored(node: Node) -> None:
    """`add_group` makes every group empty."""
    wrap(node.accounts, "add_group", lambda write, key, name, description, *_: write(key, name, description, [], []))


@mutant("EP-160")
def group_is_not_made(node: Node) -> None:
    """`add_group` answers an id and makes nothing."""
    ids = count(1000)
    wrap(node.accounts, "add_group", lambda *_: next(ids))


@mutant("EP-180")
def lists_of_an_updated_group_stay(node: Node) -> None:
    """`update_group` changes the texts and leaves the lists."""

    def update(write: Write, key: int, group: Group, *_: object) -> object:
        wallets = [wallet.id for wallet in node.accounts.wallets_in_group(key, group.id, 0, 100)]
        actions = [action.cid_hash for action in node.accounts.actions_in_group(key, group.id, 0, 100)]
        return write(key, group, wallets, actions)

    wrap(node.accounts, "update_group", update)


@mutant("EP-180")
def texts_of_an_updated_group_stay(node: Node) -> None:
    """`update_group` changes the lists and leaves the description."""

    def update(write: Write, key: int, group: Group, *lists: object) -> object:
        held = next(held for held in node.accounts.groups(key, 0, 100) if held.id == group.id)
        return write(key, group._replace(description=held.description), *lists)

    wrap(node.accounts, "update_group", update)


@mutant("EP-190")
def group_is_not_removed(node: Node) -> None:
    """`remove_group` says yes and removes nothing."""
    silence(node.accounts, "remove_group")


@mutant("EP-190")
def newest_group_is_removed(node: Node) -> None:
    """`remove_group` removes the newest group, whichever it names."""
    wrap(node.accounts, "remove_group", lambda write, key, _: write(key, node.accounts.groups(key, 0, 100)[-1].id))


@mutant("EP-200")
def group_pages_are_all_the_first(node: Node) -> None:
    """`list_groups` ignores `page_number`."""
    change_query(node, "list_groups", lambda query: {**query, "page_number": "0"})


@mutant("EP-200")
def group_items_have_no_id(node: Node) -> None:
    """Items of `list_groups` call their id otherwise."""
    change_items(node, "list_groups", each(lambda item: {"group_id" if k == "id" else k: item[k] for k in item}))


@mutant("EP-200")
def groups_come_in_an_object(node: Node) -> None:
    """`list_groups` answers an object around its array."""
    change_items(node, "list_groups", lambda items: {"groups": items})


@mutant("EP-210")
def action_leaves_every_group(node: Node) -> None:
    """`remove_action_from_group` takes the action out of all groups."""

    def remove(write: Write, key: int, _: int, cid_hash: bytes) -> None:
        for group in node.accounts.groups(key, 0, 100):
            if any(found.cid_hash == cid_hash for found in node.accounts.actions_in_group(key, group.id, 0, 100)):
                write(key, group.id, cid_hash)

    wrap(node.accounts, "remove_action_from_group", remove)


@mutant("EP-210")
def action_does_not_leave(node: Node) -> None:
    """`remove_action_from_group` says yes and removes nothing."""
    silence(node.accounts, "remove_action_from_group")


@mutant("EP-220")
def wallet_does_not_leave(node: Node) -> None:
    """`remove_pkp_from_group` says yes and removes nothing."""
    silence(node.accounts, "remove_pkp_from_group")


@mutant("EP-220")
def every_wallet_leaves(node: Node) -> None:
    """`remove_pkp_from_group` empties the group of its wallets."""

    def remove(write: Write, key: int, group_id: int, _: bytes) -> None:
        for wallet in node.accounts.wallets_in_group(key, group_id, 0, 100):
            write(key, group_id, wallet.id)

    wrap(node.accounts, "remove_pkp_from_group", remove)


@mutant("EP-360")
def action_does_not_join(node: Node) -> None:
    """`add_action_to_group` says yes and adds nothing."""
    silence(node.accounts, "add_action_to_group")


@mutant("EP-360")
def action_joins_every_group(node: Node) -> None:
    """`add_action_to_group` adds the action to all groups."""

    def add(write: Write, key: int, _: int, cid_hash: bytes) -> None:
        for group in node.accounts.groups(key, 0, 100):
            write(key, group.id, cid_hash)

    wrap(node.accounts, "add_action_to_group", add)


@mutant("EP-370")
def wallet_does_not_join(node: Node) -> None:
    """`add_pkp_to_group` says yes and adds nothing."""
    silence(node.accounts, "add_pkp_to_group")


@mutant("EP-370")
def joining_wallet_takes_the_place_of_the_others(node: Node) -> None:
    """`add_pkp_to_group` removes the wallets that were in the group."""

    def add(write: Write, key: int, group_id: int, pkp_id: bytes) -> None:
        for wallet in node.accounts.wallets_in_group(key, group_id, 0, 100):
            node.accounts.remove_pkp_from_group(key, group_id, wallet.id)
        write(key, group_id, pkp_id)

    wrap(node.accounts, "add_pkp_to_group", add)
