"""Whether the ledger says what chain and provider say, which are asked past the node."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import httpx
from campaign_world import PAYERS, SECRET, SECRET_KEY, STARTER_CREDITS, World

from reference_node.billing.audit import history, verify
from reference_node.chain.account_config import AccountConfig, AccountConverted
from reference_node.chain.external import ExternalChain
from reference_node.deployment import Payers, obtain_contract
from reference_node.permission.keys import KeyDerivation

PAGE = 100


@dataclass(frozen=True)
class Account:
    """What the chain says of an account."""

    made_for: str
    """The wallet that it began with, in hex."""
    wallet: str
    """Its admin wallet now."""
    writes: int
    """Charged writes that have happened to it."""


@dataclass(frozen=True)
class Books:
    """Every figure twice: as the ledger has it, and as chain and provider have it."""

    figures: dict[str, tuple[int, int]]
    balances: dict[str, tuple[int, int]]
    """Of the wallets for which they differ."""
    charges: dict[str, tuple[int, int]]
    """Of the accounts for which they differ, by the wallet that they began with."""
    faults: tuple[str, ...]
    """What `ledger verify` says."""
    lowest: int
    """The lowest balance that any wallet ever had, in cents."""

    @property
    def agree(self) -> bool:
        """Whether nothing was lost and nothing doubled."""
        same = all(ledger == others for ledger, others in self.figures.values())
        return same and not self.balances and not self.charges and not self.faults and self.lowest >= 0


def books(world: World) -> Books:
    """Compare; the node has stopped."""
    accounts, payments = _accounts(world), list(succeeded(world))
    paid: Counter[str] = Counter()
    for intent in payments:
        paid[intent["metadata"]["wallet"]] += intent["amount"]
    owed: Counter[str] = Counter()
    for account in accounts:
        owed[account.wallet] += STARTER_CREDITS + paid[account.made_for] - account.writes
    kept = _Kept(world)
    writes = {account.made_for: account.writes for account in accounts}
    return Books(
        {
            "payments": (kept.count["payment"], len(payments)),
            "cents paid": (kept.cents["payment"], paid.total()),
            "charges": (kept.count["charge"], sum(writes.values())),
            "starter credits": (kept.count["grant"], len(accounts)),
            "conversions": (kept.count["conversion"], sum(each.wallet != each.made_for for each in accounts)),
            "cents left": (sum(kept.balances.values()), owed.total()),
        },
        _differing(kept.balances, owed),
        _differing(kept.charges_by_origin(accounts), writes),
        verify(world.ledger).faults,
        kept.lowest,
    )


class _Kept:
    """What the ledger says of wallets."""

    def __init__(self, world: World) -> None:
        self.balances: dict[str, int] = {}
        self.count: Counter[str] = Counter()
        self.cents: Counter[str] = Counter()
        self._charged: Counter[str] = Counter()
        self.lowest = 0
        for row in history(world.ledger):
            if len(row.account) != 40:
                continue
            self.balances[row.account] = row.balance
            self.lowest = min(self.lowest, row.balance)
            if row.kind != "conversion" or row.cents < 0:
                self.count[row.kind] += 1
                self.cents[row.kind] += abs(row.cents)
            if row.kind == "charge":
                self._charged[row.account] -= row.cents

    def charges_by_origin(self, accounts: list[Account]) -> dict[str, int]:
        """Charges of each account, whichever of its wallets held the credit."""
        charges: defaultdict[str, int] = defaultdict(int)
        for account in accounts:
            for wallet in {account.made_for, account.wallet}:
                charges[account.made_for] += self._charged[wallet]
        return charges


def _differing(one: dict[str, int], other: dict[str, int]) -> dict[str, tuple[int, int]]:
    pairs = {name: (one.get(name, 0), other.get(name, 0)) for name in {*one, *other}}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def succeeded(world: World) -> Iterator[dict[str, Any]]:
    """Every payment that the provider has."""
    query: dict[str, Any] = {"limit": PAGE}
    while True:
        page = httpx.get(
            f"{world.provider_url}/v1/payment_intents", params=query, auth=(SECRET_KEY, ""), timeout=60
        ).json()
        yield from (intent for intent in page["data"] if intent["status"] == "succeeded")
        if not page["has_more"]:
            return
        query["starting_after"] = page["data"][-1]["id"]


def _accounts(world: World) -> list[Account]:
    payers = Payers.derived(KeyDerivation(bytes.fromhex(SECRET)), PAYERS)
    with closing(ExternalChain(world.rpc_url)) as chain:
        contract = obtain_contract(chain, payers, None)
        created: dict[int, str] = {}
        converted: set[int] = set()
        for event in contract.account_events(0, chain.block_number()):
            if isinstance(event, AccountConverted):
                converted.add(event.account_hash)
            else:
                created[event.account_hash] = event.admin_wallet.hex()
        return [
            Account(
                made_for, contract.account(hashed).admin_wallet.hex(), _groups(contract, hashed) + (hashed in converted)
            )
            for hashed, made_for in created.items()
        ]


def _groups(contract: AccountConfig, account: int) -> int:
    page = found = 0
    while groups := contract.groups(account, page, PAGE):
        found += len(groups)
        page += 1
    return found
