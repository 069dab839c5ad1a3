"""Faults about what the endpoints of groups do."""

from __future__ import annotations

from collections.abc import Callable

from conformance.selftest.tools.accounts import Write, account_of, lists_of, whole
from conformance.selftest.tools.alter import change_items, each, wrap
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node


@mutant("EP-160", also="ACC-070 GRPLIFE-010")
def group_is_not_made(node: Node) -> None:
    """Remove a group as soon as `add_group` has made it."""

    def add(write: Callable[..., int], key: int, *arguments: object) -> int:
        group_id = write(key, *arguments)
        node.accounts.remove_group(account_of(node, key), group_id)
        return group_id

    wrap(node.accounts, "add_group", add)


@mutant("EP-190", also="GRPLIFE-100 GRPLIFE-110 GRPLIFE-130 GRPLIFE-160")
def newest_group_is_removed(node: Node) -> None:
    """Remove the newest group, whichever of the account's `remove_group` names."""

    def remove(write: Write, key: int, named: int) -> None:
        ids = [group.id for group in whole(node.accounts.groups, account_of(node, key))]
        write(key, ids[-1] if named in ids else named)

    wrap(node.accounts, "remove_group", remove)


@mutant("EP-200", also="GRP-010 VER-050")
def group_items_have_no_id(node: Node) -> None:
    """Rename `id` in the items of `list_groups`."""
    change_items(node, "list_groups", each(lambda item: {"group_id" if k == "id" else k: item[k] for k in item}))


@mutant("EP-200", also="VER-050")
def groups_come_in_an_object(node: Node) -> None:
    """Answer `list_groups` with an object around the array."""
    change_items(node, "list_groups", lambda items: {"groups": items})


@mutant("EP-220", also="GRP-200")
def every_wallet_leaves(node: Node) -> None:
    """Empty the group of its wallets in `remove_pkp_from_group`."""

    def remove(write: Write, key: int, group_id: int, pkp_id: bytes) -> None:
        write(key, group_id, pkp_id)
        account = account_of(node, key)
        for wallet in whole(node.accounts.wallets_in_group, account, group_id):
            write(account, group_id, wallet.id)

    wrap(node.accounts, "remove_pkp_from_group", remove)


@mutant("EP-360", also="GRP-270")
def action_joins_every_group(node: Node) -> None:
    """Add the action to all groups in `add_action_to_group`."""

    def add(write: Write, key: int, named: int, cid_hash: bytes) -> None:
        write(key, named, cid_hash)
        account = account_of(node, key)
        for group in whole(node.accounts.groups, account):
            if cid_hash not in lists_of(node, account, group.id)[1]:
                write(account, group.id, cid_hash)

    wrap(node.accounts, "add_action_to_group", add)
