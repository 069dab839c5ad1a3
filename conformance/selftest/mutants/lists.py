"""Faults about the order and completeness of lists."""

from __future__ import annotations

from conformance.selftest.tools.accounts import View, change_list, groups_of_usage_keys
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Group
from reference_node.node import Node


@mutant("LIST-030", also="LIST-010 LIST-020")
def removal_moves_the_last_group(node: Node) -> None:
    """List the newest group in the place of a removed one, as in an array with swapped removal."""

    def moved(_: int, found: list[Group]) -> list[Group]:
        for place in range(len(found)):
            if place < len(found) - 1 and found[place].id != place + 1:
                found.insert(place, found.pop())
                break
        return found

    change_list(node, "groups", moved)


@mutant(each=[row("wallets", breaks="EP-240"), row("actions", breaks="EP-250")], also="LIST-160")
def group_zero_is_no_filter(node: Node, kind: str) -> None:
    """List all {kind} of the account for the group 0."""

    def listed(of_group: View, account: int, group: int, *page: int) -> object:
        return of_group(account, group, *page) if group else getattr(node.accounts, kind)(account, *page)

    wrap(node.accounts, f"{kind}_in_group", listed)


@mutant("LIST-020", also="LIST-010 LIST-030")
def groups_of_usage_keys_are_listed_last(node: Node) -> None:
    """List the groups that usage keys made behind those of the account key."""
    theirs = groups_of_usage_keys(node)
    change_list(node, "groups", lambda account, found: sorted(found, key=lambda group: (account, group.id) in theirs))
