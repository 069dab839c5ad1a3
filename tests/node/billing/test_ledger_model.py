"""Random sequences of movements, restarts and deaths against a model of the ledger made of plain numbers."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from reference_node.billing import Hold
from reference_node.billing.audit import verify
from reference_node.billing.ledger import InsufficientCredit, Ledger

WALLETS = [bytes([number]) * 20 for number in range(1, 6)]
wallets = st.sampled_from(WALLETS)
cents = st.integers(0, 1000)


class LedgerMachine(RuleBasedStateMachine):
    """Every balance is what the model says, after every step."""

    holds = Bundle("holds")
    intents = Bundle("intents")

    @initialize()
    def begin(self) -> None:
        """An empty file."""
        self.folder = Path(tempfile.mkdtemp())
        self.file = self.folder / "ledger.sqlite"
        self.ledger = Ledger(self.file)
        self.free: defaultdict[bytes, int] = defaultdict(int)
        self.held: dict[str, tuple[bytes, int]] = {}
        self.granted: set[bytes] = set()
        self.paid: dict[str, tuple[bytes, int]] = {}
        self.credited: set[str] = set()
        self.converted: set[int] = set()

    def teardown(self) -> None:
        """The file adds up."""
        if hasattr(self, "ledger"):
            self.ledger.close()
            assert verify(self.file).faults == ()
            shutil.rmtree(self.folder)

    @rule(wallet=wallets, amount=st.integers(1, 1000))
    def grant(self, wallet: bytes, amount: int) -> None:
        """Starter credits."""
        self.ledger.grant(wallet, amount)
        if wallet not in self.granted:
            self.granted.add(wallet)
            self.free[wallet] += amount

    @rule(target=intents, wallet=wallets, amount=st.integers(1, 5000))
    def intend(self, wallet: bytes, amount: int) -> str:
        """A new intent."""
        name = f"pi_{len(self.paid)}"
        self.ledger.note_intent(wallet, name, "cus", amount, "usd")
        self.paid[name] = (wallet, amount)
        return name

    @rule(intent=intents)
    def credit(self, intent: str) -> None:
        """An intent is paid, perhaps again."""
        assert self.ledger.credit(intent) is (intent not in self.credited)
        if intent not in self.credited:
            self.credited.add(intent)
            wallet, amount = self.paid[intent]
            self.free[wallet] += amount

    @rule(target=holds, wallet=wallets, amount=cents)
    def hold(self, wallet: bytes, amount: int) -> object:
        """Credit is set aside, where there is enough."""
        if self.free[wallet] < amount:
            with pytest.raises(InsufficientCredit) as refused:
                self.ledger.hold(wallet, amount)
            assert refused.value.free == self.free[wallet]
            return multiple()
        hold = self.ledger.hold(wallet, amount)
        self.free[wallet] -= amount
        self.held[hold.id] = (wallet, amount)
        return hold

    @rule(hold=consumes(holds), charge=cents)
    def settle(self, hold: Hold, charge: int) -> None:
        """A call has ended."""
        self.ledger.settle(hold, charge)
        if hold.id in self.held:
            wallet, amount = self.held.pop(hold.id)
            self.free[wallet] += amount - min(charge, amount)

    @rule(account=st.integers(1, 4), wallet=wallets, other=wallets)
    def convert(self, account: int, wallet: bytes, other: bytes) -> None:
        """A record follows its account."""
        self.ledger.move(account, wallet, other)
        if wallet == other or account in self.converted:
            return
        self.converted.add(account)
        self.free[other] += self.free.pop(wallet)
        self.held = {name: (other if owner == wallet else owner, amount) for name, (owner, amount) in self.held.items()}
        self.paid = {
            name: (other if owner == wallet and name not in self.credited else owner, amount)
            for name, (owner, amount) in self.paid.items()
        }

    @rule(landed=st.booleans())
    def die(self, landed: bool) -> None:
        """The process ends with its holds open, and another opens the file."""
        for name, (wallet, amount) in self.held.items():
            self.ledger.note_transaction(Hold(name, wallet, amount), b"\x01" * 32)
            self.free[wallet] += 0 if landed else amount
        self.held.clear()
        self.ledger.close()
        self.ledger = Ledger(self.file)
        assert self.ledger.resolve(self.ledger.left_holds(), lambda _: landed) == []

    @invariant()
    def balances_agree(self) -> None:
        """The ledger says what the model says."""
        if hasattr(self, "ledger"):
            assert {wallet: self.ledger.balance(wallet) for wallet in WALLETS} == {
                wallet: self.free[wallet] for wallet in WALLETS
            }


TestLedgerAgainstItsModel = LedgerMachine.TestCase
TestLedgerAgainstItsModel.settings = settings(max_examples=40, stateful_step_count=40)
