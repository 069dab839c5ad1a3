"""Writes of a ChainSecured account's admin wallet to the contract, and the records that follow from them.

Specification: "What the service does" 5, `chain.abi` of the profile.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from conformance.service.acceptance import Accepted
from conformance.service.accounts import ChainSecuredAccount
from conformance.service.groups import group_id
from conformance.service.lists import only
from conformance.service.node import Node
from conformance.values.ids import GroupId
from conformance.values.json_values import member

Write = Callable[..., Accepted]
"""Called with the function's canonical name and its arguments after the account."""


def writes_by_admin(
    node: Node, account: ChainSecuredAccount, within: Callable[[], AbstractContextManager[object]] = nullcontext
) -> Write:
    """A function that sends a write of the account's admin wallet. Each write happens inside a new `within()`."""

    def write(function: str, *arguments: object) -> Accepted:
        with within():
            return node.contract.write(account.admin, function, account.hash, *arguments)[1]

    return write


def group_named(node: Node, account: ChainSecuredAccount, name: str) -> GroupId:
    """The id of the only group of this name, as the contract lists it. Raises Mismatch."""
    return group_id(member(only(node.contract.items("list_groups", account.hash), "name", name), "id"))


def wallet_record(node: Node, account_hash: str, address: str) -> object:
    """The contract's record of an account's wallet: its `id`, `walletAddress`, `derivationPath` and labels."""
    return only(node.contract.items("list_wallets", account_hash), "walletAddress", address)


def four_groups(node: Node, account: ChainSecuredAccount) -> list[GroupId]:
    """The ids of four new groups that permit nothing."""
    write = writes_by_admin(node, account)
    for number in range(4):
        write("add_group", f"{node.label} {number}", "d", [], [])
    return [group_named(node, account, f"{node.label} {number}") for number in range(4)]
