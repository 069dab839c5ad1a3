"""Faults of stores that name what a group lists without the account: writes of one account show in others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from conformance.selftest.tools.accounts import Write, account_of, accounts_made, actions_of, whole
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import Action
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node

NEWEST = 4
"""So many accounts are reached: enough for those of a case."""


def _done_in_other_accounts(node: Node, method: str) -> None:
    """Do a write in other accounts as well, where it is possible."""
    made = accounts_made(node)

    def write_for(write: Write, key: int, *given: object) -> None:
        write(key, *given)
        for other in made[-NEWEST:]:
            if other != account_of(node, key):
                with suppress(ContractRefusal):
                    write(other, *given)

    wrap(node.accounts, method, write_for)


@mutant("ACC-120", also="ACC-110 LIST-170")
def additions_reach_groups_of_the_same_number(node: Node) -> None:
    """Add an action to the groups of the same number in other accounts, too."""
    _done_in_other_accounts(node, "add_action_to_group")


@mutant("ACC-110", also="ACT-020")
def groups_list_labels_of_other_accounts(node: Node) -> None:
    """List in a group, for an action that its account did not register, the labels that another account gave it."""
    given: dict[bytes, tuple[int, Action]] = {}

    def add(write: Write, key: int, action: bytes, *labels: str) -> None:
        write(key, action, *labels)
        given[action] = account_of(node, key), Action(action, *labels)

    def listed(read: Callable[..., list[Action]], account: int, *asked: int) -> list[Action]:
        own = {action.cid_hash for action in actions_of(node, account)}
        items = read(account, *asked)
        others = [given.get(item.cid_hash, (account, item)) for item in items]
        return [
            item if item.cid_hash in own or maker == account else other
            for item, (maker, other) in zip(items, others, strict=True)
        ]

    wrap(node.accounts, "add_action", add)
    wrap(node.accounts, "actions_in_group", listed)


@mutant("ACC-120", also="LIST-170")
def deletion_empties_groups_of_other_accounts(node: Node) -> None:
    """Remove a deleted action from the groups of other accounts, too."""
    made = accounts_made(node)

    def delete(write: Write, key: int, action: bytes) -> None:
        write(key, action)
        for other in made[-NEWEST:]:
            if other != account_of(node, key):
                for group in whole(node.accounts.groups, other):
                    with suppress(ContractRefusal):
                        node.accounts.remove_action_from_group(other, group.id, action)

    wrap(node.accounts, "delete_action", delete)
