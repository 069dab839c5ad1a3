"""Alters whose word a write is taken for, and what usage keys are permitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from conformance.selftest.tools.accounts import Write, account_of, permissions_of
from conformance.selftest.tools.alter import wrap
from reference_node.chain.account_config import Permissions, UsageKey
from reference_node.node import Node
from reference_node.problems import Forbidden


def acts_as_owner(node: Node, method: str, when: Callable[[Permissions], bool] = lambda _: True) -> None:
    """Do this write of a usage key with such permissions as if the account key had asked for it."""

    def write_for(write: Write, acting_key: int, *arguments: object) -> object:
        permissions = permissions_of(node, acting_key)
        trusted = permissions is not None and when(permissions)
        return write(account_of(node, acting_key) if trusted else acting_key, *arguments)

    wrap(node.accounts, method, write_for)


def refused_to_usage_keys(node: Node, method: str) -> None:
    """Refuse this write to usage keys, whatever they hold."""

    def write_for(write: Write, acting_key: int, *arguments: object) -> object:
        if permissions_of(node, acting_key) is not None:
            raise Forbidden("scope-missing", "this usage key lacks the scope")
        return write(acting_key, *arguments)

    wrap(node.accounts, method, write_for)


def change_permissions(node: Node, change: Callable[[int, Permissions], Permissions]) -> None:
    """Create usage keys with other permissions than asked for; `change` also gets the account's hash."""

    def create(write: Write, acting_key: int, key: UsageKey) -> object:
        return write(acting_key, replace(key, permissions=change(account_of(node, acting_key), key.permissions)))

    wrap(node.accounts, "set_usage_key", create)


def change_arrays(node: Node, change: Callable[[Sequence[int]], Sequence[int]]) -> None:
    """Create usage keys with other group ids in their four arrays than asked for."""
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
