"""Faults that let a usage key do more than its permissions say."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.selftest.tools.accounts import Write, accounts_made, permissions_of, whole
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_permissions import acts_as_owner, change_arrays
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node

LONGEST_RANGE = 100
"""Longer ones would not go into a transaction: the fault would be another one."""


@mutant(
    "UKEY-440",
    each=[
        row("add_group", breaks="UKEY-050", also="AUTH-080 SCOPE-130"),
        row("create_wallet", breaks="UKEY-090 AUTH-080 AUTH-210", also="FLOW-060"),
        row("add_pkp_to_group", breaks="UKEY-190 UKEY-300", also="AUTH-080 UKEY-290"),
    ],
    also="AUTH-090 SCOPE-090",
)
def usage_key_needs_no_permission(node: Node, method: str) -> None:
    """Let every usage key do `{method}`, whatever its permissions."""
    acts_as_owner(node, method)


@mutant("UKEY-050", also="AUTH-080 AUTH-090 ERR-150 LIST-170 SCOPE-090 UKEY-440")
def refused_group_is_created_all_the_same(node: Node) -> None:
    """Refuse `add_group` without the permission, and create the group."""

    def create(write: Write, acting_key: int, *arguments: object) -> object:
        try:
            return write(acting_key, *arguments)
        except ContractRefusal:
            write(node.accounts.key_info(acting_key).account_hash, *arguments)
            raise

    wrap(node.accounts, "add_group", create)


@mutant(
    "UKEY-110",
    "UKEY-150",
    "UKEY-190",
    "UKEY-230",
    "UKEY-290",
    also="AUTH-080 ERR-100 EXEC-030 EXEC-070 EXEC-090 LIST-170 UKEY-010 UKEY-270",
)
def arrays_are_read_as_ranges(node: Node) -> None:
    """Read an array as the range from its lowest id to its highest, if the range is short."""

    def filled(ids: Sequence[int]) -> Sequence[int]:
        short = ids and min(ids) > 0 and max(ids) - min(ids) < LONGEST_RANGE
        return range(min(ids), max(ids) + 1) if short else ids

    change_arrays(node, lambda ids: list(filled(ids)))


@mutant("UKEY-330", also="ACC-120")
def add_wildcard_reaches_every_account(node: Node) -> None:
    """Let a key with the wildcard add PKPs to groups of other accounts."""
    made = accounts_made(node)

    def add(write: Write, acting_key: int, group_id: int, pkp_id: bytes) -> None:
        permissions = permissions_of(node, acting_key)
        try:
            write(acting_key, group_id, pkp_id)
        except ContractRefusal as refusal:
            if permissions is None or 0 not in permissions.add_pkp_to_groups or refusal.error != "GroupUnknown":
                raise
            owner = next((account for account in made if group_id in _ids(node, account)), None)
            if owner is None:
                raise
            write(owner, group_id, bytes(32))

    wrap(node.accounts, "add_pkp_to_group", add)


def _ids(node: Node, account: int) -> list[int]:
    return [group.id for group in whole(node.accounts.groups, account)]
