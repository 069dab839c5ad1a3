"""Faults about what the endpoints of groups do."""

from __future__ import annotations

from itertools import count

from conformance.selftest.tools.accounts import Write
from conformance.selftest.tools.alter import change_items, each, wrap
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node


@mutant("EP-160", also="ACC-070 ACC-140 EP-200 GRPLIFE-010")
def group_is_not_made(node: Node) -> None:
    """Answer a fresh id from `add_group`, and create nothing."""
    ids = count(1000)
    wrap(node.accounts, "add_group", lambda *_: next(ids))


@mutant(
    "EP-190",
    also="AUTH-150 AUTH-160 GRPLIFE-100 GRPLIFE-110 GRPLIFE-130 GRPLIFE-150 GRPLIFE-160 GRPLIFE-200 UKEY-060",
)
def newest_group_is_removed(node: Node) -> None:
    """Remove the newest group, whichever `remove_group` names."""
    wrap(node.accounts, "remove_group", lambda write, key, _: write(key, node.accounts.groups(key, 0, 100)[-1].id))


@mutant("EP-200", also="GRP-010 VER-050")
def group_items_have_no_id(node: Node) -> None:
    """Rename `id` in the items of `list_groups`."""
    change_items(node, "list_groups", each(lambda item: {"group_id" if k == "id" else k: item[k] for k in item}))


@mutant("EP-200", also="VER-050")
def groups_come_in_an_object(node: Node) -> None:
    """Answer `list_groups` with an object around the array."""
    change_items(node, "list_groups", lambda items: {"groups": items})


@mutant("EP-220", also="AUTH-150 GRP-200 UKEY-220 UKEY-240")
def every_wallet_leaves(node: Node) -> None:
    """Empty the group of its wallets in `remove_pkp_from_group`."""

    def remove(write: Write, key: int, group_id: int, _: bytes) -> None:
        for wallet in node.accounts.wallets_in_group(key, group_id, 0, 100):
            write(key, group_id, wallet.id)

    wrap(node.accounts, "remove_pkp_from_group", remove)


@mutant("EP-360", also="AUTH-150 GRP-270 GRPLIFE-150 GRPLIFE-200 UKEY-100 UKEY-120")
def action_joins_every_group(node: Node) -> None:
    """Add the action to all groups in `add_action_to_group`."""

    def add(write: Write, key: int, _: int, cid_hash: bytes) -> None:
        for group in node.accounts.groups(key, 0, 100):
            write(key, group.id, cid_hash)

    wrap(node.accounts, "add_action_to_group", add)
