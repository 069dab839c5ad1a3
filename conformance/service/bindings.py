"""Creates accounts whose groups bind actions and wallets, the set-up of cases about runs ("Resources / Group")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from conformance.service.accounts import Account, ChainSecuredAccount
from conformance.service.actions import ActionCode
from conformance.service.minting import MintedKey
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.usage_keys import Permissions
from conformance.values.ids import ApiKey, GroupId, UsageKey


class TwoAndTwo(NamedTuple):
    """Two wallets P and Q and two actions X and Y, which no group lists."""

    alice: ApiKey
    """The account's key."""
    p: Pkp
    q: Pkp
    x: ActionCode
    y: ActionCode


@dataclass(frozen=True)
class OneGroup:
    """Group G binds the action X and the wallet P; the usage key executes in G and does nothing else."""

    account: Account
    p: Pkp
    x: ActionCode
    g: GroupId
    key: UsageKey

    @property
    def alice(self) -> ApiKey:
        """The account's key."""
        return self.account.key


@dataclass(frozen=True)
class TwoGroups(OneGroup):
    """`OneGroup` with a second group H, which binds Y and Q and in which the usage key may not execute."""

    q: Pkp
    y: ActionCode
    h: GroupId


@dataclass(frozen=True)
class Converted:
    """The groups of `TwoGroups` in a converted account, which keeps its credits (one made on the chain has none)."""

    account: ChainSecuredAccount
    p: Pkp
    q: Pkp
    x: ActionCode
    y: ActionCode
    g: GroupId
    h: GroupId
    attached: MintedKey
    """Attached by the new admin; it executes in G."""

    @property
    def key(self) -> UsageKey:
        """The value of the usage key."""
        return self.attached.key


def one_group(node: Node, x: ActionCode | None = None) -> OneGroup:
    """Create the account of `OneGroup`. Without an action, X signs a text."""
    account = node.accounts.new()
    p, x = node.pkps.create(account.key), x or node.actions.prepared(mark="x")
    g = bound(node, account.key, [p], [x])
    return OneGroup(account, p, x, g, node.usage_keys.executing_in(account.key, g))


def two_groups(node: Node) -> TwoGroups:
    """Create the account of `TwoGroups`. X and Y sign a text."""
    account = node.accounts.new()
    p, q = node.pkps.create_several(account.key, 2)
    x, y = (node.actions.prepared(mark=mark) for mark in "xy")
    g, h = bound(node, account.key, [p], [x]), bound(node, account.key, [q], [y])
    return TwoGroups(account, p, x, g, node.usage_keys.executing_in(account.key, g), q, y, h)


def two_and_two(node: Node) -> TwoAndTwo:
    """Create an account with two wallets and prepare two actions that sign a text."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (node.actions.prepared(mark=mark) for mark in "xy")
    return TwoAndTwo(alice, p, q, x, y)


def converted(node: Node, *, adds_pkps: bool = False) -> Converted:
    """Create the account of `TwoGroups` and convert it. With `adds_pkps` its key may also add wallets to G."""
    alice, p, q, x, y = two_and_two(node)
    g, h = bound(node, alice, [p], [x]), bound(node, alice, [q], [y])
    account = node.accounts.converted(alice, node.wallets.new("carol"))
    permissions = Permissions(execute_in_groups=[g], add_pkp_to_groups=[g] if adds_pkps else [])
    return Converted(account, p, q, x, y, g, h, node.minting.attached_key(account, permissions))


def running(node: Node, account_key: str, *usage_keys: str) -> list[str]:
    """The keys of an account with which runs are tried: without the account key where it may run nothing at all.

    `execution_rule::account-key` judges that (EXEC-020); the other keys have to keep the rule all the same.
    """
    runs = node.session.target.remembered("account keys run", lambda: _account_keys_run(node))
    return [account_key, *usage_keys] if runs else list(usage_keys)


def _account_keys_run(node: Node) -> bool:
    alice, x = node.accounts.new().key, node.actions.prepared()
    p = node.pkps.create(alice)
    bound(node, alice, [p], [x])
    return node.signing.signs(alice, x, p)


def bound(node: Node, owner: str, pkps: Sequence[Pkp | str], actions: Sequence[ActionCode | object]) -> GroupId:
    """A new group that lists these wallets and actions; an entry may be a wildcard or an id instead."""
    ids = [pkp.id if isinstance(pkp, Pkp) else pkp for pkp in pkps]
    hashes = [action.hash if isinstance(action, ActionCode) else action for action in actions]
    return node.groups.add(owner, pkp_ids=ids, cid_hashes=hashes).id
