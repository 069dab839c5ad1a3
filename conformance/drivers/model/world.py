"""The model: accounts with their usage keys, groups, wallets and actions, in plain Python.

Written from the specification alone ("Resources and their fields", "States and transitions"): it knows neither requests
nor any node. Everything has a name of the model's own: `alice`, her group `alice_g1`, her usage key `alice_k1`, her
wallet `alice_w1`, the action `c1`, which belongs to nobody. Who may run what is decided by
`conformance.service.execution_rule`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.service import execution_rule as rule
from conformance.service.execution_rule import ANY, Decision

NAMES = ("alice", "bob", "carol")
"""The names of the accounts."""
ACTIONS = ("c1", "c2", "c3")
"""The names of the actions, which are the same for all accounts."""


@dataclass(frozen=True)
class Permissions:
    """The permissions of a usage key: the switches that are on, and the groups of each array; `ANY` stands for `0`."""

    switches: frozenset[str] = frozenset()
    arrays: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def groups(self, name: str) -> tuple[str, ...]:
        """The groups of an array."""
        return dict(self.arrays).get(name, ())

    def without(self, group: str) -> Permissions:
        """The permissions without a removed group."""
        return Permissions(
            self.switches,
            tuple((name, tuple(kept for kept in groups if kept != group)) for name, groups in self.arrays),
        )


@dataclass
class Key:
    """A usage key."""

    account: str
    label: str
    permissions: Permissions
    expired: bool = False
    """Whether its expiration lies in the past."""
    removed: bool = False
    lingering: dict[str, set[str]] = field(default_factory=dict)
    """Groups by array that were removed while it named them. Whether it still shows them is not stated."""


@dataclass
class Group:
    """A group. `ANY` among its wallets or actions is the wildcard."""

    label: str
    wallets: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)


@dataclass
class Account:
    """An account with its objects in the order of their creation."""

    name: str
    managed: bool = True
    """Whether it is in API mode, where its key writes; else its admin wallet does, by transactions."""
    had_key: bool = True
    """Whether it was made in API mode. Its key then acts as `old_key` says once it is converted."""
    wallets: list[str] = field(default_factory=list)
    groups: dict[str, Group] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    """Removed groups."""
    keys: dict[str, Key] = field(default_factory=dict)
    """All usage keys, removed ones too."""
    actions: dict[str, str] = field(default_factory=dict)
    """Registered actions with their labels."""
    ever_listed: set[str] = field(default_factory=set)
    """Actions that some group has ever listed."""

    @property
    def old_key(self) -> str:
        """The name of its key after the conversion."""
        return f"{self.name}_old"

    def live_keys(self) -> dict[str, Key]:
        """The usage keys that are not removed."""
        return {name: key for name, key in self.keys.items() if not key.removed}


@dataclass
class World:
    """All accounts."""

    accounts: dict[str, Account]

    @classmethod
    def of(cls, count: int, by_wallet: int = 0) -> World:
        """A world of this many empty accounts, of which a wallet makes the last ones on the chain."""
        made = {name: Account(name) for name in NAMES[:count]}
        for name in NAMES[count - by_wallet : count]:
            made[name] = Account(name, managed=False, had_key=False)
        return cls(made)

    def key(self, name: str) -> Key | None:
        """A usage key by its name; None for the name of an account, which is that of its key."""
        return next((account.keys[name] for account in self.accounts.values() if name in account.keys), None)

    def others(self, account: str) -> Iterator[Account]:
        """All other accounts."""
        return (other for name, other in self.accounts.items() if name != account)

    def decide(self, by: str, account: str, action: str, wallet: str) -> Decision:
        """Decide a run by the Execution rule."""
        usage_key = self.key(by)
        if usage_key is None:
            key = rule.Key(account, None)
        else:
            groups = frozenset(usage_key.permissions.groups("execute_in_groups"))
            key = rule.Key(account, groups, counts=not usage_key.removed and not usage_key.expired)
        return rule.decide(key, action, wallet, {name: _ruled(other) for name, other in self.accounts.items()})


def _ruled(account: Account) -> rule.Account:
    groups = {
        name: rule.Group(frozenset(group.actions), frozenset(group.wallets)) for name, group in account.groups.items()
    }
    return rule.Account(groups, frozenset(account.wallets))


def holds(permissions: Permissions, array: str, group: str) -> bool:
    """Whether an array names a group, itself or by the wildcard."""
    return bool({group, ANY} & set(permissions.groups(array)))
