"""Looks into accounts, as the node's gateway to the contract shows them: whose a key is, and what the account holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from conformance.selftest.tools.alter import wrap
from reference_node.chain.account_config import Action, Group, Permissions
from reference_node.node import Node

Write = Callable[..., object]
"""A write of the gateway, as `wrap` hands it to a mutant."""
View = Callable[..., list[Group]]
"""The list of groups, as `wrap` hands it to a mutant."""
Hashes = Sequence[bytes]
"""Ids of wallets, or hashes of actions."""

PAGE = 100
"""Items of the largest page that the contract gives."""
T = TypeVar("T")

NOTHING = Permissions(False, False, False, [], [], [], [])
"""The permissions of a usage key that may do nothing."""


def whole(view: Callable[..., list[T]], *of: int) -> list[T]:
    """Return all items of a list of the contract, page by page."""
    items: list[T] = []
    while not len(items) % PAGE and (page := view(*of, len(items) // PAGE, PAGE)):
        items += page
    return items


def account_of(node: Node, key_hash: int) -> int:
    """Return the hash of the account that a key belongs to; 0 where nobody has the key."""
    return node.accounts.key_info(key_hash).account_hash


def permissions_of(node: Node, key_hash: int) -> Permissions | None:
    """Return what a usage key may do; None for an account key, and for a key that nobody holds."""
    info = node.accounts.key_info(key_hash)
    if info.is_account_key or not info.account_hash:
        return None
    return node.accounts.usage_key(info.account_hash, key_hash).permissions


def let_execute(node: Node, account: int, key_hash: int, group_id: int) -> None:
    """Add a group to those where a usage key may run actions."""
    key = node.accounts.usage_key(account, key_hash)
    gained = replace(key.permissions, execute_in_groups=(*key.permissions.execute_in_groups, group_id))
    node.accounts.update_usage_key(account, key_hash, key.name, key.description, gained)


def group_of(node: Node, key_hash: int, group_id: int) -> Group:
    """Return a group of the key's account; one without labels where there is none."""
    found = [group for group in whole(node.accounts.groups, account_of(node, key_hash)) if group.id == group_id]
    return found[0] if found else Group(group_id, "", "")


def lists_of(node: Node, key_hash: int, group_id: int) -> tuple[list[bytes], list[bytes]]:
    """Return the ids of the wallets and the hashes of the actions that a group of the key's account lists."""
    account = account_of(node, key_hash)
    wallets = whole(node.accounts.wallets_in_group, account, group_id)
    actions = whole(node.accounts.actions_in_group, account, group_id)
    return [wallet.id for wallet in wallets], [action.cid_hash for action in actions]


def groups_listing(node: Node, key_hash: int, cid_hash: bytes) -> list[int]:
    """Return the ids of the groups of the key's account that list an action."""
    groups = whole(node.accounts.groups, account_of(node, key_hash))
    return [group.id for group in groups if cid_hash in lists_of(node, key_hash, group.id)[1]]


def actions_of(node: Node, key_hash: int) -> list[Action]:
    """Return the actions registered to the account that a key belongs to."""
    return whole(node.accounts.actions, account_of(node, key_hash))


def change_list(node: Node, view: str, change: Callable[..., Sequence[object]]) -> None:
    """List what `change` makes of a whole list, page by page; it gets whose list it is, and its items."""

    def listed(read: Callable[..., list[object]], *asked: int) -> list[object]:
        *of, page, size = asked
        return list(change(*of, whole(read, *of)))[page * size : (page + 1) * size]

    wrap(node.accounts, view, listed)


def groups_of_usage_keys(node: Node) -> set[tuple[int, int]]:
    """Return account and id of the groups that usage keys create from now on; the set grows with them."""
    made: set[tuple[int, int]] = set()

    def add(write: Callable[..., int], key_hash: int, *arguments: object) -> int:
        group_id = write(key_hash, *arguments)
        if not node.accounts.key_info(key_hash).is_account_key:
            made.add((account_of(node, key_hash), group_id))
        return group_id

    wrap(node.accounts, "add_group", add)
    return made


def accounts_made(node: Node) -> list[int]:
    """Return the hashes of the accounts that are created from now on; the list grows with them."""
    made: list[int] = []

    def create(write: Write, account_hash: int, *arguments: object) -> None:
        write(account_hash, *arguments)
        made.append(account_hash)

    wrap(node.accounts, "new_account", create)
    return made
