"""Faults that show when requests are under way at the same time: equal ones, or a removal and what it removes."""

from __future__ import annotations

from conformance.selftest.tools.accounts import Hashes, Write, account_of, group_of, lists_of
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.concurrent_requests import Overtaking, Rendezvous, one_answer_at_a_time
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Group, Permissions, UsageKey
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node


@mutant(each=[row("new_account", breaks="ACC-200"), row("add_usage_api_key", breaks="UKEY-420")])
def equal_requests_at_once_get_one_answer(node: Node, operation: str) -> None:
    """Answer equal requests of `{operation}` that come while one is under way with the answer to that one."""
    one_answer_at_a_time(node, operation, lambda request: (request.key, request.body))


def _removal_overtakes(node: Node, method: str) -> Overtaking:
    """Make removals by this method wait for a request that they overtake, and release it when they are done."""
    overtaking = Overtaking()

    def remove(write: Write, *given: object) -> None:
        overtaking.overtake()
        write(*given)
        overtaking.done()

    wrap(node.accounts, method, remove)
    return overtaking


@mutant("KEYLIFE-100", "KEYLIFE-150")
def update_brings_back_a_key_removed_meanwhile(node: Node) -> None:
    """Check in an update that the key exists, and write it even if it was removed meanwhile."""
    removal = _removal_overtakes(node, "remove_usage_key")

    def update(write: Write, key: int, updated: int, name: str, description: str, given: Permissions) -> None:
        node.accounts.usage_key(account_of(node, key), updated)
        removal.wait()
        try:
            write(key, updated, name, description, given)
        except ContractRefusal:
            node.accounts.set_usage_key(key, UsageKey(updated, 0, 0, name, description, given))

    wrap(node.accounts, "update_usage_key", update)


@mutant("GRPLIFE-150")
def update_brings_back_a_group_removed_meanwhile(node: Node) -> None:
    """Check in `update_group` that the group exists, and write it even if it was removed meanwhile."""
    removal = _removal_overtakes(node, "remove_group")

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        there = group.id in {one.id for one in node.accounts.groups(account_of(node, key), 0, 100)}
        if there:
            removal.wait()
        try:
            write(key, group, *lists)
        except ContractRefusal:
            if not there:
                raise
            node.accounts.add_group(key, group.name, group.description, *lists)

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-230", "LIST-170")
def removal_rewrites_the_list(node: Node) -> None:
    """Read a group's wallets in `remove_pkp_from_group`, and write them back later without the removed one."""
    rendezvous = Rendezvous()

    def remove(write: Write, key: int, group_id: int, wallet: bytes) -> None:
        account = account_of(node, key)
        wallets, actions = lists_of(node, key, group_id)
        if key != account or wallet not in wallets:
            write(key, group_id, wallet)
            return
        rendezvous.wait()
        left = [one for one in wallets if one != wallet]
        node.accounts.update_group(key, group_of(node, key, group_id), left, actions)

    wrap(node.accounts, "remove_pkp_from_group", remove)
