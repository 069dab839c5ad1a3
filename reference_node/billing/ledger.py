"""The ledger of credits: SQLite, double-entry and append-only (specification, "Billing").

Each movement is one transaction. A transfer is identified by its kind and reference, so a retry changes nothing.
Commits survive a crash of the process. Payments are on disk before the request is answered; a power failure may lose
the last charges.
"""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reference_node.billing import Cents, Hold
from reference_node.billing.database import Database
from reference_node.chain.interface import Address, Hash

PROVIDER, GRANTS, REVENUE = "provider", "grants", "revenue"
"""The ledger's own accounts: the sources of payments and of starter credits, and the recipient of charges."""


class InsufficientCredit(Exception):  # noqa: N818 - a state of the account, not a fault
    """The wallet has less free credit than the hold needs."""

    def __init__(self, free: Cents) -> None:
        """`free` is the wallet's free credit."""
        super().__init__(f"{free} cents are free")
        self.free = free


@dataclass(frozen=True, slots=True)
class Intent:
    """A payment intent that the node created at the provider."""

    id: str
    wallet: Address
    """The wallet to credit."""
    made_for: Address
    """The wallet that it was created for. It differs from `wallet` after a conversion."""
    customer: str
    cents: Cents
    currency: str
    state: str
    """`open`, `credited` or `abandoned`."""


class Ledger(Database):
    """The credits of every wallet. Thread-safe; only one process may open the file for writing.

    Every method may raise `LedgerUnavailable`; then it has changed nothing.
    """

    def __init__(self, file: Path | None = None, now: Callable[[], float] = time.time) -> None:
        """`file` None: in memory. Raises `LedgerError` where the file can't be used or another node uses it."""
        super().__init__(file)
        self._now = now

    # Credit

    def balance(self, wallet: Address) -> Cents:
        """The credit that is not held; 0 for an unknown wallet."""
        with self._reading():
            row = self._one("SELECT balance - held FROM account WHERE name = ?", _name(wallet))
        return Cents(row[0] if row else 0)

    def has_paid(self, wallet: Address) -> bool:
        """Whether a payment was ever credited to this wallet, or to one whose record was moved to it."""
        with self._reading():
            row = self._one(
                "WITH RECURSIVE former (id) AS (SELECT id FROM account WHERE name = ? UNION "
                "SELECT debit FROM transfer JOIN former ON credit = former.id WHERE kind = 'conversion') "
                "SELECT EXISTS (SELECT 1 FROM transfer JOIN former ON credit = former.id WHERE kind = 'payment')",
                _name(wallet),
            )
        return bool(row and row[0])

    def grant(self, wallet: Address, cents: Cents) -> None:
        """Give a wallet its starter credits, once."""
        if cents:
            with self._transaction():
                self._transfer("grant", wallet.hex(), self._source(GRANTS), self._account(wallet), cents)

    def credit(self, intent_id: str) -> bool:
        """Credit this intent to the wallet that it is recorded for; False if that was done before.

        The caller has verified the payment. The credit is on disk when this returns.
        """
        with self._transaction(durable=True):
            intent = self.intent(intent_id)
            if intent is None:
                raise KeyError(intent_id)
            account = self._account(intent.wallet)
            done = self._transfer("payment", intent_id, self._source(PROVIDER), account, intent.cents)
            self._database.execute("UPDATE intent SET state = 'credited' WHERE provider_id = ?", (intent_id,))
        return done

    def move(self, account_hash: int, wallet: Address, new_wallet: Address) -> None:
        """Move a wallet's record, with its holds, to the new admin wallet of its account.

        An account is converted once, so a second call for the same account changes nothing.
        """
        if wallet == new_wallet:
            return
        with self._transaction(durable=True):
            reference = f"{account_hash:064x}"
            if self._one("SELECT 1 FROM conversion WHERE account_hash = ?", reference):
                return
            self._database.execute("INSERT INTO conversion (account_hash) VALUES (?)", (reference,))
            former, new = self._account(wallet), self._account(new_wallet)
            holds = self._database.execute(
                "DELETE FROM hold WHERE account = ? RETURNING id, cents, transaction_hash", (former,)
            ).fetchall()
            (cents,) = self._one("SELECT balance FROM account WHERE id = ?", former) or (0,)
            if cents:
                self._transfer("conversion", reference, former, new, cents)
            self._database.executemany(
                "INSERT INTO hold (id, cents, transaction_hash, account) VALUES (?, ?, ?, ?)",
                [(*hold, new) for hold in holds],
            )
            self._database.execute("UPDATE intent SET account = ? WHERE account = ?", (new, former))

    # Holds

    def hold(self, wallet: Address, cents: Cents) -> Hold:
        """Reserve credit for one call. Raises `InsufficientCredit`."""
        hold = Hold(uuid.uuid4().hex, wallet, cents)
        with self._transaction():
            if cents == 0:
                return hold
            account = self._account(wallet)
            try:
                self._database.execute(
                    "INSERT INTO hold (id, account, cents) VALUES (?, ?, ?)", (hold.id, account, cents)
                )
            except sqlite3.IntegrityError:
                raise InsufficientCredit(self.balance(wallet)) from None
        return hold

    def note_transaction(self, hold: Hold, transaction_hash: Hash) -> None:
        """Record a hold's transaction before it is sent, so that `resolve` can look up its outcome."""
        with self._transaction():
            self._database.execute("UPDATE hold SET transaction_hash = ? WHERE id = ?", (transaction_hash, hold.id))

    def settle(self, hold: Hold, cents: Cents) -> None:
        """Charge this part of a hold, at most all of it, and return the rest to the wallet."""
        with self._transaction():
            self._settle(hold.id, min(cents, hold.cents))

    def release(self, hold: Hold) -> None:
        """Return all of a hold to the wallet."""
        self.settle(hold, Cents(0))

    def left_holds(self) -> Sequence[str]:
        """The ids of all holds. Holds that exist when a process opens the file were left by an earlier process."""
        with self._reading():
            return [row[0] for row in self._database.execute("SELECT id FROM hold ORDER BY id")]

    def resolve(self, holds: Sequence[str], landed: Callable[[Hash], bool | None]) -> Sequence[str]:
        """Settle the holds of an earlier process: charge those whose transaction was mined, release the others.

        `landed` tells whether a transaction was mined, or None if that is not known yet. Returns the ids of the holds
        whose outcome is not known yet.
        """
        return [hold for hold in holds if not self._resolved(hold, landed)]

    def _resolved(self, hold: str, landed: Callable[[Hash], bool | None]) -> bool:
        with self._reading():
            row = self._one("SELECT cents, transaction_hash FROM hold WHERE id = ?", hold)
        if row is None:
            return True
        mined = landed(row[1]) if row[1] else False
        if mined is None:
            return False
        with self._transaction():
            self._settle(hold, Cents(row[0] if mined else 0))
        return True

    def _settle(self, hold: str, cents: Cents) -> None:
        row = self._one("DELETE FROM hold WHERE id = ? RETURNING account", hold)
        if row and cents:
            self._transfer("charge", hold, row[0], self._own(REVENUE), cents)

    # Payments

    def customer(self, wallet: Address) -> str | None:
        """The provider's customer id for this wallet."""
        with self._reading():
            row = self._one(
                "SELECT provider_id FROM customer JOIN account ON account.id = account WHERE name = ?", _name(wallet)
            )
        return row[0] if row else None

    def note_customer(self, wallet: Address, customer: str) -> str:
        """Record a wallet's customer unless it has one, and return the recorded customer."""
        with self._transaction():
            self._database.execute(
                "INSERT INTO customer (account, provider_id) VALUES (?, ?) ON CONFLICT (account) DO NOTHING",
                (self._account(wallet), customer),
            )
            return self.customer(wallet) or customer

    def replace_customer(self, wallet: Address, former: str, customer: str) -> str:
        """Replace a customer that the provider has deleted, and return the recorded customer."""
        with self._transaction():
            self._database.execute(
                "UPDATE customer SET provider_id = ? WHERE account = ? AND provider_id = ?",
                (customer, self._account(wallet), former),
            )
            return self.customer(wallet) or customer

    def note_intent(self, wallet: Address, intent: str, customer: str, cents: Cents, currency: str) -> None:
        """Record an intent before its secret leaves the node. The record is on disk when this returns."""
        with self._transaction(durable=True):
            self._database.execute(
                "INSERT INTO intent (provider_id, account, made_for, customer, cents, currency, created_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (intent, self._account(wallet), wallet.hex(), customer, cents, currency, int(self._now())),
            )

    def intent(self, intent_id: str) -> Intent | None:
        """The recorded intent with this id."""
        return next(iter(self._intents("provider_id = ?", intent_id)), None)

    def open_intents(self) -> Sequence[Intent]:
        """The intents that are neither credited nor abandoned, oldest first."""
        return self._intents("state = ?", "open")

    def abandon(self, intent_id: str) -> None:
        """Mark an open intent as abandoned, because it can't be paid any more."""
        with self._transaction():
            self._database.execute(
                "UPDATE intent SET state = 'abandoned' WHERE provider_id = ? AND state = 'open'", (intent_id,)
            )

    def _intents(self, condition: str, value: str) -> list[Intent]:
        with self._reading():
            rows = self._database.execute(
                "SELECT provider_id, name, made_for, customer, cents, currency, state "  # noqa: S608 - the conditions are our own
                f"FROM intent JOIN account ON account.id = account WHERE {condition} ORDER BY created_at, provider_id",
                (value,),
            ).fetchall()
        return [Intent(row[0], bytes.fromhex(row[1]), bytes.fromhex(row[2]), *row[3:]) for row in rows]

    # E-mail addresses, until the provider has them

    def note_email(self, wallet: Address, email: str) -> None:
        """Store an address until it is forwarded."""
        with self._transaction():
            self._database.execute(
                "INSERT INTO email (account, address) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (self._account(wallet), email),
            )

    def emails(self) -> Sequence[tuple[Address, str]]:
        """The wallets and addresses that are still to be forwarded."""
        with self._reading():
            rows = self._database.execute("SELECT name, address FROM email JOIN account ON id = account ORDER BY name")
            return [(bytes.fromhex(name), address) for name, address in rows.fetchall()]

    def forget_email(self, wallet: Address, email: str) -> None:
        """Delete an address after it was forwarded. `empty_log` then removes it from SQLite's log."""
        with self._transaction():
            self._database.execute(
                "DELETE FROM email WHERE account = ? AND address = ?", (self._account(wallet), email)
            )

    # Positions in event sources

    def position(self, name: str) -> int:
        """The last position read from an event source, such as a block number; -1 initially."""
        with self._reading():
            row = self._one("SELECT value FROM position WHERE name = ?", name)
        return int(row[0]) if row else -1

    def set_position(self, name: str, value: int) -> None:
        """Record the last position read from an event source."""
        with self._transaction():
            self._database.execute(
                "INSERT INTO position (name, value) VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, value),
            )

    def _transfer(self, kind: str, reference: str, debit: int, credit: int, cents: Cents) -> bool:
        """Record a transfer; False if one with this kind and reference exists."""
        if self._one("SELECT 1 FROM transfer WHERE kind = ? AND reference = ?", kind, reference):
            return False
        self._database.execute(
            "INSERT INTO transfer (at, kind, reference, debit, credit, cents) VALUES (?, ?, ?, ?, ?, ?)",
            (int(self._now()), kind, reference, debit, credit, cents),
        )
        return True

    def _account(self, wallet: Address) -> int:
        return self._own(_name(wallet))

    def _source(self, name: str) -> int:
        return self._own(name, source=True)


def _name(wallet: Address) -> str:
    return wallet.hex()
