"""Faults about scopes: one that opens another's operations, or cannot be granted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.mutant import mutant
from conformance.selftest.tools.permissions import Write, account_of, acts_as_owner, change_permissions, permissions_of
from reference_node.chain.account_config import Permissions
from reference_node.node import Node


def _held(given: Permissions) -> int:
    """How many of the six management scopes."""
    return sum(map(bool, given.arguments()[:6]))


@mutant("SCOPE-010", "SCOPE-090")
def pkp_create_cannot_be_granted(node: Node) -> None:
    """`can_create_pkps` is accepted and dropped."""
    change_permissions(node, lambda _, given: replace(given, can_create_pkps=False))


@mutant("SCOPE-010", "SCOPE-090")
def group_remove_pkp_cannot_be_granted(node: Node) -> None:
    """`remove_pkp_from_groups` is accepted and dropped."""
    change_permissions(node, lambda _, given: replace(given, remove_pkp_from_groups=[]))


@mutant("SCOPE-010")
def one_scope_a_key(node: Node) -> None:
    """Of several bools the first one is granted, and the others are dropped."""

    def change(_: int, given: Permissions) -> Permissions:
        if given.can_create_groups:
            return replace(given, can_delete_groups=False, can_create_pkps=False)
        return replace(given, can_create_pkps=given.can_create_pkps and not given.can_delete_groups)

    change_permissions(node, change)


@mutant("SCOPE-010")
def execute_is_not_recorded(node: Node) -> None:
    """`execute_in_groups` does not reach the contract."""
    change_permissions(node, lambda _, given: replace(given, execute_in_groups=[]))


@mutant("SCOPE-090")
def create_implies_delete(node: Node) -> None:
    """`group:create` lets a key delete groups."""
    acts_as_owner(node, "remove_group", lambda given: given.can_create_groups)


@mutant("SCOPE-090")
def delete_implies_create(node: Node) -> None:
    """`group:delete` lets a key create groups."""
    acts_as_owner(node, "add_group", lambda given: given.can_delete_groups)


@mutant("SCOPE-090")
def group_create_implies_pkp_create(node: Node) -> None:
    """`group:create` lets a key create PKPs."""
    acts_as_owner(node, "create_wallet", lambda given: given.can_create_groups)


@mutant("SCOPE-090")
def add_pkp_implies_remove_pkp(node: Node) -> None:
    """`group:addPkp` lets a key remove PKPs."""
    acts_as_owner(node, "remove_pkp_from_group", lambda given: bool(given.add_pkp_to_groups))


@mutant("SCOPE-090")
def remove_pkp_implies_add_pkp(node: Node) -> None:
    """`group:removePkp` lets a key add PKPs."""
    acts_as_owner(node, "add_pkp_to_group", lambda given: bool(given.remove_pkp_from_groups))


@mutant("SCOPE-090")
def manage_actions_implies_add_pkp(node: Node) -> None:
    """`group:manageActions` lets a key add PKPs."""
    acts_as_owner(node, "add_pkp_to_group", lambda given: bool(given.manage_ipfs_ids_in_groups))


@mutant("SCOPE-090")
def pkp_create_implies_remove_pkp(node: Node) -> None:
    """`pkp:create` lets a key remove PKPs."""
    acts_as_owner(node, "remove_pkp_from_group", lambda given: given.can_create_pkps)


@mutant("SCOPE-090")
def execute_implies_manage_actions(node: Node) -> None:
    """`execute` lets a key add actions."""
    acts_as_owner(node, "add_action_to_group", lambda given: bool(given.execute_in_groups))


@mutant("SCOPE-090")
def execute_implies_removing_actions(node: Node) -> None:
    """`execute` lets a key remove actions."""
    acts_as_owner(node, "remove_action_from_group", lambda given: bool(given.execute_in_groups))


@mutant("SCOPE-090")
def no_scope_at_all_is_read_as_the_owner(node: Node) -> None:
    """A key without any scope may delete groups."""
    acts_as_owner(node, "remove_group", lambda given: not _held(given) and not given.execute_in_groups)


@mutant("SCOPE-090")
def nearly_all_scopes_are_all(node: Node) -> None:
    """A key that holds five of the six management scopes may remove actions."""
    acts_as_owner(node, "remove_action_from_group", lambda given: _held(given) == 5)


@mutant("SCOPE-120")
def creators_manage_their_groups(node: Node) -> None:
    """The id of a group is added to all arrays of the usage key that creates it."""

    def create(write: Write, acting_key: int, *arguments: object) -> object:
        created = write(acting_key, *arguments)
        given = permissions_of(node, acting_key)
        if given is not None:
            account = node.accounts.key_info(acting_key).account_hash
            key = node.accounts.usage_key(account, acting_key)
            group = int(str(created))
            more = replace(
                given,
                manage_ipfs_ids_in_groups=[*given.manage_ipfs_ids_in_groups, group],
                add_pkp_to_groups=[*given.add_pkp_to_groups, group],
                remove_pkp_from_groups=[*given.remove_pkp_from_groups, group],
            )
            node.accounts.update_usage_key(account, acting_key, key.name, key.description, more)
        return created

    wrap(node.accounts, "add_group", create)


@mutant("SCOPE-120")
def creators_may_take_from_their_groups(node: Node) -> None:
    """A usage key may remove PKPs from the groups that it created."""
    created: set[tuple[int, int]] = set()

    def create(write: Write, acting_key: int, *arguments: object) -> object:
        group = write(acting_key, *arguments)
        created.add((acting_key, int(str(group))))
        return group

    def remove(write: Write, acting_key: int, group_id: int, *arguments: object) -> None:
        owner = node.accounts.key_info(acting_key).account_hash
        write(owner if (acting_key, group_id) in created else acting_key, group_id, *arguments)

    wrap(node.accounts, "add_group", create)
    wrap(node.accounts, "remove_pkp_from_group", remove)


@mutant("SCOPE-120", "UKEY-070")
def creators_delete_their_groups(node: Node) -> None:
    """A usage key may remove the groups that it created."""
    created: set[tuple[int, int]] = set()

    def add(write: Callable[..., int], acting_key: int, *arguments: object) -> int:
        group = write(acting_key, *arguments)
        created.add((acting_key, group))
        return group

    def remove(write: Write, acting_key: int, group: int) -> None:
        write(account_of(node, acting_key) if (acting_key, group) in created else acting_key, group)

    wrap(node.accounts, "add_group", add)
    wrap(node.accounts, "remove_group", remove)


@mutant("SCOPE-120")
def creators_execute_in_their_groups(node: Node) -> None:
    """A group that a usage key creates is added to its `execute_in_groups`."""

    def add(write: Callable[..., int], acting_key: int, *arguments: object) -> int:
        group = write(acting_key, *arguments)
        before = permissions_of(node, acting_key)
        if before is not None:
            account = account_of(node, acting_key)
            key = node.accounts.usage_key(account, acting_key)
            wider = replace(before, execute_in_groups=[*before.execute_in_groups, group])
            node.accounts.update_usage_key(account, acting_key, key.name, key.description, wider)
        return group

    wrap(node.accounts, "add_group", add)
