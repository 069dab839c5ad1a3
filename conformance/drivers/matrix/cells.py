"""The cells of the execution matrix: a key, an action and a wallet, and the rule's decision about them.

An account has two groups, *this* one and the *other*. Each key, action and wallet is named by its place in them.
Specification, "Endpoints / Execution rule"; the decision is `conformance.service.execution_rule`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from conformance.service.execution_rule import ANY, Account, Decision, Group, Key, decide
from conformance.service.refusal import RefusalClass

Kind = Literal["account", "usage", "removed", "expired", "other_account", "other_usage"]
OWN, FOREIGN = "own", "foreign"
"""The account whose actions and wallets the cells use, and the second one."""
THIS, OTHER = "this", "other"
"""The two groups of each account."""
GROUPS: dict[str, frozenset[str]] = {
    "none": frozenset(),
    "this": frozenset({THIS}),
    "other": frozenset({OTHER}),
    "several": frozenset({THIS, OTHER}),
    "zero": frozenset({ANY}),
}
"""The values of `execute_in_groups`."""
LISTINGS = ("this", "other", "both", "wildcard", "none")
"""Where an action or a wallet is listed; `wildcard`: only by the wildcard in this group."""
ITEMS = ("this", "other", "both", "none")
"""The actions and wallets of an account. Those that no group lists show the effect of the wildcard."""
KEYS: Mapping[Kind, str] = {
    "account": "an account key",
    "usage": "a usage key",
    "removed": "a removed usage key",
    "expired": "an expired usage key",
    "other_account": "another account's key",
    "other_usage": "another account's usage key",
}
"""The kinds of keys in words."""
KEYS_IN = {
    "none": " in no group",
    "this": " in 'this'",
    "other": " in 'other'",
    "several": " in 'this' and 'other'",
    "zero": " in every group",
}
"""The values of `execute_in_groups` in words."""
LISTED_IN = {
    "this": "in 'this'",
    "other": "in 'other'",
    "both": "in both groups",
    "wildcard": "under the wildcard of 'this'",
    "none": "in no group",
    "foreign": "of another account",
}
"""Where an action or a wallet is listed, in words."""
FOREIGN_WALLET = "foreign"
ACCOUNT_KEYS = frozenset({"account", "other_account"})
ENDING: frozenset[Kind] = frozenset({"removed", "expired"})
"""Keys that are removed or have expired when the cells are tried."""
COUNTERPARTS: dict[Kind, Kind] = {
    "removed": "usage",
    "expired": "usage",
    "other_account": "account",
    "other_usage": "usage",
}
"""For each kind of key that is never granted anything, the kind that may be."""


@dataclass(frozen=True, order=True)
class Arrangement:
    """The contents of this group; the other one never changes."""

    accounts: int = 1
    any_action: bool = False
    any_wallet: bool = False

    def world(self) -> dict[str, Account]:
        """The accounts with their groups. The second account's groups permit everything: no node may ask them."""
        this = Group(_held("this", wildcard=self.any_action), _held("this", wildcard=self.any_wallet))
        other = Group(_held("other"), _held("other"))
        world = {OWN: Account({THIS: this, OTHER: other}, frozenset(ITEMS))}
        if self.accounts > 1:
            foreign = {
                THIS: Group(frozenset({ANY}), frozenset({ANY})),
                OTHER: Group(frozenset(ITEMS), frozenset({ANY})),
            }
            world[FOREIGN] = Account(foreign, frozenset({FOREIGN_WALLET}))
        return world


def _held(group: str, *, wildcard: bool = False) -> frozenset[str]:
    return frozenset({ANY}) if wildcard else frozenset({group, "both"})


@dataclass(frozen=True)
class Cell:
    """One question about the Execution rule."""

    kind: Kind
    groups: str
    """The key's `execute_in_groups`; empty for account keys, which have none."""
    action: str
    wallet: str
    accounts: int

    @property
    def row(self) -> str:
        """The key: `usage-several`."""
        return f"{self.kind}-{self.groups}" if self.groups else self.kind

    @property
    def id(self) -> str:
        """`usage-several/this/other/2`: key, listing of the action, listing of the wallet, number of accounts."""
        return f"{self.row}/{self.action}/{self.wallet}/{self.accounts}"

    @property
    def told(self) -> str:
        """In words: `a usage key in 'this' and 'other', the action in 'this', the wallet in no group`."""
        key = f"{KEYS[self.kind]}{KEYS_IN.get(self.groups, '')}"
        return f"{key}, the action {LISTED_IN[self.action]}, the wallet {LISTED_IN[self.wallet]}"

    def is_beside(self, other: Cell) -> bool:
        """Whether the two differ in the key, the action, the wallet or the number of accounts alone."""
        pairs = zip(self.id.split("/"), other.id.split("/"), strict=True)
        return sum(one != another for one, another in pairs) == 1

    @property
    def arrangement(self) -> Arrangement:
        """The arrangement of the groups that the cell needs."""
        return Arrangement(self.accounts, self.action == "wildcard", self.wallet == "wildcard")

    @property
    def action_used(self) -> str:
        """The action that it runs, one of `ITEMS`."""
        return "none" if self.action == "wildcard" else self.action

    @property
    def wallet_used(self) -> str:
        """The wallet that it runs with, one of `ITEMS`."""
        return "none" if self.wallet == "wildcard" else self.wallet

    @property
    def key(self) -> Key:
        """Its key, as the rule takes it."""
        account = FOREIGN if self.kind in {"other_account", "other_usage"} else OWN
        return Key(account, GROUPS[self.groups] if self.groups else None, counts=self.kind not in ENDING)

    @property
    def refusal_classes(self) -> tuple[RefusalClass, ...]:
        """The classes that its refusal may have. A node may answer that another account's wallet does not exist."""
        if self.kind in ENDING:
            return ("unauthenticated",) if self.kind == "removed" else ("unauthenticated", "forbidden")
        return ("forbidden", "not_found") if self.kind.startswith("other") else ("forbidden",)

    @property
    def counterpart(self) -> Cell:
        """The same cell with a valid key of the account itself."""
        return replace(self, kind=COUNTERPARTS.get(self.kind, self.kind))

    def decision(self) -> Decision:
        """The rule's decision."""
        return _decision(self)

    def breaks_one_condition(self) -> bool:
        """Whether it is refused and some group of the key's account meets all conditions but one."""
        world = self.arrangement.world()[self.key.account]
        met = (
            (self.key.may_use(name), group.lists_action(self.action_used), group.lists_wallet(self.wallet_used))
            for name, group in world.groups.items()
        )
        return not self.decision().granted and any(sum(conditions) == len(conditions) - 1 for conditions in met)


@cache
def _decision(cell: Cell) -> Decision:
    return decide(cell.key, cell.action_used, cell.wallet_used, cell.arrangement.world())


def all_cells(kinds: Sequence[Kind], most_accounts: int = 2) -> list[Cell]:
    """Every possible cell with these kinds of keys. A key of another account needs a second account."""
    return [
        Cell(kind, groups, action, wallet, accounts)
        for accounts in range(1, most_accounts + 1)
        for kind in kinds
        if accounts > 1 or not kind.startswith("other")
        for groups in ([""] if kind in ACCOUNT_KEYS else GROUPS)
        for action in LISTINGS
        for wallet in LISTINGS
    ]
