"""Faults about scopes: one that opens another's operations, or cannot be granted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.selftest.tools.accounts import Write, account_of, permissions_of
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_permissions import acts_as_owner, change_permissions
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Permissions
from reference_node.node import Node


def _held(given: Permissions) -> int:
    """Return how many of the six management scopes a key holds."""
    return sum(map(bool, given.arguments()[:6]))


@mutant("SCOPE-010", "SCOPE-090", also="AUTH-150 AUTH-160 EP-110 LIST-170 SCOPE-030 UKEY-010 UKEY-080")
def new_keys_create_no_wallets(node: Node) -> None:
    """Create usage keys without `can_create_pkps`, whatever was sent."""
    change_permissions(node, lambda _, given: replace(given, can_create_pkps=False))


@mutant("SCOPE-010", also="AUTH-150 AUTH-160 EP-110 LIST-170 SCOPE-030 SCOPE-050 SCOPE-090 UKEY-010 UKEY-060 UKEY-080")
def one_scope_a_key(node: Node) -> None:
    """Grant the first of several bools, and drop the others."""

    def change(_: int, given: Permissions) -> Permissions:
        if given.can_create_groups:
            return replace(given, can_delete_groups=False, can_create_pkps=False)
        return replace(given, can_create_pkps=given.can_create_pkps and not given.can_delete_groups)

    change_permissions(node, change)


@mutant("UKEY-110", "UKEY-290", also="AUTH-080 AUTH-090 SCOPE-060")
def actions_are_added_to_every_group(node: Node) -> None:
    """Let a usage key that holds `manage_ipfs_ids_in_groups`, for any group, add actions to every group."""
    acts_as_owner(node, "add_action_to_group", lambda given: bool(given.manage_ipfs_ids_in_groups))


@mutant(
    "SCOPE-090",
    each=[
        row("manage-actions-as-add-pkp", "manage_ipfs_ids_in_groups", "add_pkp_to_group"),
        row("add-pkp-as-remove-action", "add_pkp_to_groups", "remove_action_from_group"),
        row("execute-as-add-action", "execute_in_groups", "add_action_to_group"),
    ],
    also="AUTH-080 AUTH-090 UKEY-110 UKEY-150 UKEY-190 UKEY-290 UKEY-300",
)
def named_groups_open_another_operation(node: Node, scope: str, method: str) -> None:
    """Let a usage key whose `{scope}` names groups, without the wildcard, do `{method}`."""
    acts_as_owner(node, method, lambda given: bool(groups := getattr(given, scope)) and 0 not in groups)


@mutant("UKEY-230", also="AUTH-080 AUTH-090 SCOPE-080 UKEY-290 UKEY-300")
def wallets_are_removed_by_who_may_add_them(node: Node) -> None:
    """Let a usage key remove wallets from the groups that it may add wallets to."""

    def remove(write: Write, acting_key: int, group_id: int, pkp_id: bytes) -> object:
        info = node.accounts.key_info(acting_key)
        is_usage_key = bool(info.account_hash) and not info.is_account_key
        given = node.accounts.usage_key(info.account_hash, acting_key).permissions if is_usage_key else None
        may_add = given is not None and not {0, group_id}.isdisjoint(given.add_pkp_to_groups)
        return write(info.account_hash if may_add else acting_key, group_id, pkp_id)

    wrap(node.accounts, "remove_pkp_from_group", remove)


@mutant("SCOPE-090", also="AUTH-080 AUTH-090 UKEY-070 UKEY-440")
def no_scope_at_all_is_read_as_the_owner(node: Node) -> None:
    """Let a key without any scope remove groups."""
    acts_as_owner(node, "remove_group", lambda given: not _held(given) and not given.execute_in_groups)


@mutant("SCOPE-090", also="AUTH-080 AUTH-090 UKEY-150 UKEY-300")
def nearly_all_scopes_are_all(node: Node) -> None:
    """Let a key with five of the six management scopes remove actions."""
    acts_as_owner(node, "remove_action_from_group", lambda given: _held(given) == 5)


@mutant("SCOPE-120", "AUTH-210", also="AUTH-080 AUTH-090 UKEY-110 UKEY-150 UKEY-190 UKEY-230 UKEY-300")
def creators_manage_their_groups(node: Node) -> None:
    """Add the id of a new group to the arrays of the usage key that creates it."""

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


def _let_creators(node: Node, method: str) -> None:
    """Let a usage key do this in groups that it created."""
    created: set[tuple[int, int]] = set()

    def create(write: Callable[..., int], acting_key: int, *arguments: object) -> int:
        group = write(acting_key, *arguments)
        created.add((acting_key, group))
        return group

    def write_for(write: Write, acting_key: int, group: int, *arguments: object) -> None:
        write(account_of(node, acting_key) if (acting_key, group) in created else acting_key, group, *arguments)

    wrap(node.accounts, "add_group", create)
    wrap(node.accounts, method, write_for)


@mutant("SCOPE-120", also="AUTH-080 AUTH-090 AUTH-210 SCOPE-090 UKEY-230 UKEY-300")
def creators_may_take_from_their_groups(node: Node) -> None:
    """Let a usage key remove PKPs from groups that it created."""
    _let_creators(node, "remove_pkp_from_group")


@mutant("UKEY-070", also="AUTH-080 AUTH-090 AUTH-210 SCOPE-090")
def creators_delete_their_groups(node: Node) -> None:
    """Let a usage key remove groups that it created."""
    _let_creators(node, "remove_group")


@mutant(
    each=[
        row("add_pkp_to_group", breaks="UKEY-190", also="SCOPE-070"),
        row("remove_pkp_from_group", breaks="UKEY-230", also="SCOPE-080"),
        row("remove_action_from_group", breaks="UKEY-150", also="SCOPE-060"),
    ],
    also="AUTH-120 AUTH-160 SCOPE-090",
)
def wildcards_need_no_scope(node: Node, method: str) -> None:
    """Let any usage key do `{method}` with the wildcard."""

    def write_for(write: Write, acting_key: int, group_id: int, entry: bytes) -> object:
        return write(acting_key if any(entry) else account_of(node, acting_key), group_id, entry)

    wrap(node.accounts, method, write_for)
