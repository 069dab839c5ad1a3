"""Tools by which mutants alter whose word a write is taken for and what a usage key is given, and read an account."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from conformance.selftest.tools.alter import wrap
from reference_node.chain.account_config import Permissions, UsageKey
from reference_node.node import Node
from reference_node.problems import Forbidden

Write = Callable[..., object]
ARRAYS = ("manage_ipfs_ids_in_groups", "add_pkp_to_groups", "remove_pkp_from_groups", "execute_in_groups")
"""The permissions of a usage key that are lists of groups."""
NOTHING = Permissions(False, False, False, [], [], [], [])


def does_nothing(node: Node, method: str) -> None:
    """The gateway's method returns at once; the node answers success."""
    wrap(node.accounts, method, lambda *_: None)


def account_of(node: Node, key_hash: int) -> int:
    """The hash of the account that a key belongs to."""
    return node.accounts.key_info(key_hash).account_hash


def lists_of(node: Node, key_hash: int, group_id: int) -> tuple[list[bytes], list[bytes]]:
    """The ids of the wallets and the hashes of the actions that a group of the key's account lists."""
    account = account_of(node, key_hash)
    wallets = node.accounts.wallets_in_group(account, group_id, 0, 100)
    actions = node.accounts.actions_in_group(account, group_id, 0, 100)
    return [wallet.id for wallet in wallets], [action.cid_hash for action in actions]


def permissions_of(node: Node, key_hash: int) -> Permissions | None:
    """What a usage key may do; None for an account key."""
    info = node.accounts.key_info(key_hash)
    if info.is_account_key:
        return None
    return node.accounts.usage_key(info.account_hash, key_hash).permissions


def acts_as_owner(node: Node, method: str, when: Callable[[Permissions], bool] = lambda _: True) -> None:
    """A usage key with such permissions does this write as if it were the account key."""

    def write_for(write: Write, acting_key: int, *arguments: object) -> object:
        permissions = permissions_of(node, acting_key)
        trusted = permissions is not None and when(permissions)
        return write(account_of(node, acting_key) if trusted else acting_key, *arguments)

    wrap(node.accounts, method, write_for)


def refused_to_usage_keys(node: Node, method: str, when: Callable[[Permissions], bool] = lambda _: True) -> None:
    """A usage key with such permissions may not do this write, whatever it holds."""

    def write_for(write: Write, acting_key: int, *arguments: object) -> object:
        permissions = permissions_of(node, acting_key)
        if permissions is not None and when(permissions):
            raise Forbidden("scope-missing", "this usage key lacks the scope")
        return write(acting_key, *arguments)

    wrap(node.accounts, method, write_for)


def change_permissions(node: Node, change: Callable[[int, Permissions], Permissions]) -> None:
    """Usage keys are created with other permissions than asked for. `change` also gets the account's hash."""

    def create(write: Write, acting_key: int, key: UsageKey) -> object:
        return write(acting_key, replace(key, permissions=change(account_of(node, acting_key), key.permissions)))

    wrap(node.accounts, "set_usage_key", create)


def change_arrays(node: Node, change: Callable[[Sequence[int]], Sequence[int]]) -> None:
    """Usage keys are created with other group ids in their four arrays than asked for."""
    change_permissions(
        node,
        lambda _, given: replace(
            given,
            manage_ipfs_ids_in_groups=change(given.manage_ipfs_ids_in_groups),
            add_pkp_to_groups=change(given.add_pkp_to_groups),
            remove_pkp_from_groups=change(given.remove_pkp_from_groups),
            execute_in_groups=change(given.execute_in_groups),
        ),
    )


def accounts_made(node: Node) -> list[int]:
    """The hashes of the accounts that are created from now on; the list grows with them."""
    made: list[int] = []

    def create(write: Write, account_hash: int, *arguments: object) -> None:
        write(account_hash, *arguments)
        made.append(account_hash)

    wrap(node.accounts, "new_account", create)
    return made


def updated_to(node: Node, change: Callable[[Permissions, Permissions], Permissions]) -> None:
    """An update stores what `change` makes of the permissions that the key has and those that were sent."""

    def update(write: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> None:
        before = permissions_of(node, key) or NOTHING
        write(acting_key, key, name, description, change(before, sent))

    wrap(node.accounts, "update_usage_key", update)
