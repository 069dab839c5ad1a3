"""The Execution rule as the specification words it ("Endpoints / Execution rule"), decided over plain data.

Made from that text alone: it knows neither requests nor how any node decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ANY = "*"
"""The wildcard: `0` in `execute_in_groups` and among a group's actions, the all-zero PKP id among its wallets."""


@dataclass(frozen=True)
class Group:
    """What a group lists, by names; `ANY` among them is the wildcard."""

    actions: frozenset[str]
    wallets: frozenset[str]

    def lists_action(self, action: str) -> bool:
        """Condition 2."""
        return action in self.actions or ANY in self.actions

    def lists_wallet(self, wallet: str) -> bool:
        """Condition 3."""
        return wallet in self.wallets or ANY in self.wallets


@dataclass(frozen=True)
class Account:
    """An account's groups by name, and the wallets that it owns: a wildcard stands for no others."""

    groups: Mapping[str, Group]
    wallets: frozenset[str]


@dataclass(frozen=True)
class Key:
    """A key of an account."""

    account: str
    execute_in: frozenset[str] | None
    """The names of groups, or `ANY`; None: it is the account key."""
    counts: bool = True
    """False once it was removed, or has expired."""

    def may_use(self, group: str) -> bool:
        """Condition 1."""
        return self.execute_in is None or group in self.execute_in or ANY in self.execute_in


@dataclass(frozen=True)
class Decision:
    """What the rule says of a run."""

    granted: bool
    reason: str


def decide(key: Key, action: str, wallet: str, accounts: Mapping[str, Account]) -> Decision:
    """Whether the key may run the action with the wallet: all three conditions, for one and the same group."""
    account = accounts[key.account]
    if not key.counts:
        return Decision(False, "the key does not count any more")
    if wallet not in account.wallets:
        return Decision(False, "the wallet is another account's")
    usable = {name: group for name, group in account.groups.items() if key.may_use(name)}
    with_action = {name for name, group in usable.items() if group.lists_action(action)}
    with_wallet = {name for name, group in usable.items() if group.lists_wallet(wallet)}
    if both := sorted(with_action & with_wallet):
        return Decision(True, f"the group {both[0]!r} lists both")
    if not usable:
        return Decision(False, "the key may execute in no group")
    if with_action and with_wallet:
        return Decision(False, "no single group lists both")
    return Decision(False, f"no group that the key may use lists the {'wallet' if with_action else 'action'}")
