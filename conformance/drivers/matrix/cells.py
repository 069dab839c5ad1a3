"""The cells of the execution matrix: which key runs which action with which wallet, and what the rule says of it.

An account has two groups, *this* one and the *other*. Each key, action and wallet is named by its place in them.
Specification, "Endpoints / Execution rule"; the decision is `conformance.service.execution_rule`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
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
"""What `execute_in_groups` holds."""
LISTINGS = ("this", "other", "both", "wildcard", "none")
"""Where an action, or a wallet, is listed; `wildcard`: in no group by itself, but this one holds the wildcard."""
ITEMS = ("this", "other", "both", "none")
"""The actions and wallets that there are; the wildcard is seen with those that no group lists."""
FOREIGN_WALLET = "foreign"
ACCOUNT_KEYS = frozenset({"account", "other_account"})
ENDING: frozenset[Kind] = frozenset({"removed", "expired"})
"""Keys that count no more when the cells are tried."""
COUNTERPARTS: dict[Kind, Kind] = {
    "removed": "usage",
    "expired": "usage",
    "other_account": "account",
    "other_usage": "usage",
}
"""The keys for which there is never a reason to grant anything, and those for which there may be."""


@dataclass(frozen=True, order=True)
class Arrangement:
    """What this group holds; the other one stays as it is."""

    accounts: int = 1
    any_action: bool = False
    any_wallet: bool = False

    def world(self) -> dict[str, Account]:
        """The accounts with their groups. The second account's groups hold all that could help, were they asked."""
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
    """One question to the rule."""

    kind: Kind
    groups: str
    """What the key's `execute_in_groups` holds; empty for account keys, which have none."""
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
    def arrangement(self) -> Arrangement:
        """How the groups have to be for it."""
        return Arrangement(self.accounts, self.action == "wildcard", self.wallet == "wildcard")

    @property
    def action_used(self) -> str:
        """Which of `ITEMS` it runs."""
        return "none" if self.action == "wildcard" else self.action

    @property
    def wallet_used(self) -> str:
        """Which of `ITEMS` it runs it with."""
        return "none" if self.wallet == "wildcard" else self.wallet

    @property
    def key(self) -> Key:
        """Its key, for the rule."""
        account = FOREIGN if self.kind in {"other_account", "other_usage"} else OWN
        return Key(account, GROUPS[self.groups] if self.groups else None, counts=self.kind not in ENDING)

    @property
    def refusal_classes(self) -> tuple[RefusalClass, ...]:
        """What its refusal may be, if it is one: an account need not know the wallets of another."""
        if self.kind in ENDING:
            return ("unauthenticated",) if self.kind == "removed" else ("unauthenticated", "forbidden")
        return ("forbidden", "not_found") if self.kind.startswith("other") else ("forbidden",)

    @property
    def counterpart(self) -> Cell:
        """The same with a key of the account itself that still counts."""
        return replace(self, kind=COUNTERPARTS.get(self.kind, self.kind))

    def decision(self) -> Decision:
        """What the rule says."""
        return _decision(self)

    def breaks_one_condition(self) -> bool:
        """Whether some group of the key's account meets all conditions but one."""
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
    """Every cell that there can be with these kinds of keys; another account's keys need one."""
    return [
        Cell(kind, groups, action, wallet, accounts)
        for accounts in range(1, most_accounts + 1)
        for kind in kinds
        if accounts > 1 or not kind.startswith("other")
        for groups in ([""] if kind in ACCOUNT_KEYS else GROUPS)
        for action in LISTINGS
        for wallet in LISTINGS
    ]
