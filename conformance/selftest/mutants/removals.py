"""Faults of lists from which an item is removed by putting the last one in its place."""

from __future__ import annotations

from conformance.selftest.tools.accounts import Write, account_of, lists_of, whole
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node


@mutant("LIST-170", "EP-220", also="GRP-200")
def removal_takes_the_last_wallet_along(node: Node) -> None:
    """Remove a group's last wallet, too, when another one is removed."""

    def remove(write: Write, key: int, group_id: int, wallet: bytes) -> None:
        listed = lists_of(node, key, group_id)[0]
        write(key, group_id, wallet)
        if wallet in listed[:-1]:
            write(account_of(node, key), group_id, listed[-1])

    wrap(node.accounts, "remove_pkp_from_group", remove)


@mutant("LIST-170", "KEYLIFE-090", also="EP-120 KEYLIFE-080")
def moved_usage_key_is_not_found(node: Node) -> None:
    """Refuse to remove a usage key that took the place of a removed one."""
    moved: set[int] = set()

    def remove(write: Write, key: int, removed: int) -> None:
        listed = [one.key_hash for one in whole(node.accounts.usage_keys, account_of(node, key))]
        if removed in moved:
            raise ContractRefusal("UsageKeyUnknown", {})
        write(key, removed)
        if removed in listed[:-1]:
            moved.add(listed[-1])

    wrap(node.accounts, "remove_usage_key", remove)
