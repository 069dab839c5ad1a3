"""Faults about usage keys: what is stored and listed of them, and what they may do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.selftest.tools.alter import change_items, each, wrap
from conformance.selftest.tools.alter_usage_keys import new_keys
from conformance.selftest.tools.mutant import mutant
from conformance.selftest.tools.permissions import (
    Write,
    change_arrays,
    change_permissions,
    permissions_of,
    refused_to_usage_keys,
)
from reference_node.chain.account_config import Permissions
from reference_node.node import Node


@mutant("UKEY-010")
def execute_permission_is_not_stored(node: Node) -> None:
    """`execute_in_groups` is accepted and dropped."""
    new_keys(node, lambda body: {**body, "execute_in_groups": []})


@mutant("UKEY-010")
def pkp_arrays_are_listed_for_each_other(node: Node) -> None:
    """`list_api_keys` shows the groups to add PKPs to where those to remove them from belong, and the reverse."""
    change_items(
        node,
        "list_api_keys",
        each(
            lambda item: {
                **item,
                "add_pkp_to_groups": item["remove_pkp_from_groups"],
                "remove_pkp_from_groups": item["add_pkp_to_groups"],
            }
        ),
    )


@mutant("UKEY-010")
def newest_usage_key_is_not_listed(node: Node) -> None:
    """`list_api_keys` leaves out the last key."""
    change_items(node, "list_api_keys", lambda items: list(items[:-1]))


@mutant("UKEY-020")
def usage_key_names_lose_foreign_letters(node: Node) -> None:
    """Names are stored in ASCII."""
    new_keys(node, lambda body: {**body, "name": str(body["name"]).encode("ascii", "replace").decode()})


@mutant("UKEY-030")
def usage_key_descriptions_are_escaped(node: Node) -> None:
    """Descriptions are stored with < and & escaped for HTML."""
    new_keys(
        node, lambda body: {**body, "description": str(body["description"]).replace("&", "&amp;").replace("<", "&lt;")}
    )


@mutant("UKEY-020", "UKEY-030")
def usage_key_labels_are_swapped(node: Node) -> None:
    """A key gets its description for a name and its name for a description."""
    new_keys(node, lambda body: {**body, "name": body["description"], "description": body["name"]})


@mutant("UKEY-040")
def usage_keys_never_create_groups(node: Node) -> None:
    """`add_group` is refused to every usage key."""
    refused_to_usage_keys(node, "add_group")


@mutant("UKEY-060")
def usage_keys_never_delete_groups(node: Node) -> None:
    """`remove_group` is refused to every usage key."""
    refused_to_usage_keys(node, "remove_group")


@mutant("UKEY-080")
def usage_keys_never_create_wallets(node: Node) -> None:
    """`create_wallet` is refused to every usage key."""
    refused_to_usage_keys(node, "create_wallet")


@mutant("UKEY-060")
def usage_keys_delete_groups_for_show(node: Node) -> None:
    """`remove_group` of a usage key answers success and removes nothing."""
    _for_show(node, "remove_group")


@mutant("UKEY-040")
def usage_keys_create_groups_for_show(node: Node) -> None:
    """`add_group` of a usage key answers an id and creates nothing."""
    _for_show(node, "add_group")


def _for_show(node: Node, method: str) -> None:
    def write_for(write: Write, acting_key: int, *arguments: object) -> object:
        return 1 if permissions_of(node, acting_key) else write(acting_key, *arguments)

    wrap(node.accounts, method, write_for)


@mutant("UKEY-100", "UKEY-120", "UKEY-310", "UKEY-320")
def manage_permission_does_not_add(node: Node) -> None:
    """`add_action_to_group` is refused to every usage key."""
    refused_to_usage_keys(node, "add_action_to_group")


@mutant("UKEY-140", "UKEY-160", "UKEY-310", "UKEY-320")
def manage_permission_does_not_remove(node: Node) -> None:
    """`remove_action_from_group` is refused to every usage key."""
    refused_to_usage_keys(node, "remove_action_from_group")


@mutant("UKEY-180", "UKEY-200")
def usage_keys_add_pkps_for_show(node: Node) -> None:
    """`add_pkp_to_group` of a usage key answers success and adds nothing."""
    _for_show(node, "add_pkp_to_group")


@mutant("UKEY-220", "UKEY-240")
def usage_keys_remove_pkps_for_show(node: Node) -> None:
    """`remove_pkp_from_group` of a usage key answers success and removes nothing."""
    _for_show(node, "remove_pkp_from_group")


@mutant("UKEY-100", "UKEY-120")
def usage_keys_add_actions_for_show(node: Node) -> None:
    """`add_action_to_group` of a usage key answers success and adds nothing."""
    _for_show(node, "add_action_to_group")


@mutant("UKEY-140", "UKEY-160")
def usage_keys_remove_actions_for_show(node: Node) -> None:
    """`remove_action_from_group` of a usage key answers success and removes nothing."""
    _for_show(node, "remove_action_from_group")


@mutant("UKEY-120", "UKEY-160", "UKEY-200", "UKEY-240", "UKEY-310", "UKEY-320")
def zero_is_no_wildcard(node: Node) -> None:
    """0 in an array names no group."""
    change_arrays(node, lambda ids: [group for group in ids if group])


@mutant("UKEY-310")
def zero_is_the_wildcard_only_when_alone(node: Node) -> None:
    """0 beside other ids is dropped."""
    change_arrays(node, lambda ids: [group for group in ids if group] or list(ids))


@mutant("UKEY-310")
def wildcard_counts_only_in_front(node: Node) -> None:
    """0 is the wildcard when it is an array's first element."""
    change_arrays(node, lambda ids: [group for place, group in enumerate(ids) if group or not place])


@mutant("UKEY-320")
def wildcard_means_the_groups_of_today(node: Node) -> None:
    """0 is replaced by the groups that exist when the key is created."""

    def change(account: int, given: Permissions) -> Permissions:
        existing = [group.id for group in node.accounts.groups(account, 0, 100)]
        return replace(
            given,
            manage_ipfs_ids_in_groups=_today(given.manage_ipfs_ids_in_groups, existing),
            add_pkp_to_groups=_today(given.add_pkp_to_groups, existing),
            remove_pkp_from_groups=_today(given.remove_pkp_from_groups, existing),
        )

    change_permissions(node, change)


def _today(ids: Sequence[int], existing: Sequence[int]) -> Sequence[int]:
    return existing if 0 in ids else ids


@mutant("UKEY-290")
def only_the_first_group_id_counts(node: Node) -> None:
    """Of each array the first element is stored."""
    change_arrays(node, lambda ids: list(ids[:1]))
