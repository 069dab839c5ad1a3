"""The ledger of credits: SQLite, double-entry and append-only (specification, "Billing").

Each movement is one transaction, and a pair of kind and reference happens once, whatever is tried again. Commits
survive the death of the process. A payment's credit is on the disk before it is answered; the last charges may be lost
when the machine loses power.
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
"""The ledger's own accounts: where payments and starter credits come from, and where charges go."""


class InsufficientCredit(Exception):  # noqa: N818 - a state of the account, not a fault
    """The wallet has less free credit than a hold takes."""

    def __init__(self, free: Cents) -> None:
        """`free` is what it has, in cents."""
        super().__init__(f"{free} cents are free")
        self.free = free


@dataclass(frozen=True, slots=True)
class Intent:
    """A payment intent that the node has made at the provider."""

    id: str
    wallet: Address
    """Whom it is credited to."""
    made_for: Address
    """The wallet that it was made for: another where the account has been converted since."""
    customer: str
    cents: Cents
    currency: str
    state: str
    """`open`, `credited` or `abandoned`."""


class Ledger(Database):
    """The credits of every wallet. Safe to call from many threads; one process alone has the file open for writing.

    Every method may raise `LedgerUnavailable`: then nothing of what it was to do has happened.
    """

    def __init__(self, file: Path | None = None, now: Callable[[], float] = time.time) -> None:
        """`file` None: in memory. Raises `LedgerError` where the file can't be used or another node uses it."""
        super().__init__(file)
        self._now = now

    # Credit

    def balance(self, wallet: Address) -> Cents:
        """The credit that is left, in cents, without what is held; 0 for a wallet never heard of."""
        with self._reading():
            row = self._one("SELECT balance - held FROM account WHERE name = ?", _name(wallet))
        return Cents(row[0] if row else 0)

    def has_paid(self, wallet: Address) -> bool:
        """Whether a payment was ever credited to a wallet, or to one whose record was moved to it."""
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
        """Credit the payment of this intent to the wallet that it is recorded for; false where that has been done.

        The caller has verified that it was paid. On the disk when this returns.
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
        """Add a wallet's record, with whatever of it is held, to another's, which has become the account's admin.

        Once for each account, since an account is converted once: a repetition changes nothing.
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
            self._database.execute("UPDATE intent SET account = ? WHERE account = ? AND state = 'open'", (new, former))

    # Holds

    def hold(self, wallet: Address, cents: Cents) -> Hold:
        """Set credit aside for one call. Raises `InsufficientCredit`."""
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
        """Remember the transaction that a hold is for, before it is sent: `resolve` then knows what became of it."""
        with self._transaction():
            self._database.execute("UPDATE hold SET transaction_hash = ? WHERE id = ?", (transaction_hash, hold.id))

    def settle(self, hold: Hold, cents: Cents) -> None:
        """Charge so many cents of a hold, at most all of it, and give the rest back."""
        with self._transaction():
            self._settle(hold.id, min(cents, hold.cents))

    def release(self, hold: Hold) -> None:
        """Give all of a hold back."""
        self.settle(hold, Cents(0))

    def left_holds(self) -> Sequence[str]:
        """The ids of all holds. Those that stand when a process opens the file were left by one that died."""
        with self._reading():
            return [row[0] for row in self._database.execute("SELECT id FROM hold ORDER BY id")]

    def resolve(self, holds: Sequence[str], landed: Callable[[Hash], bool | None]) -> Sequence[str]:
        """Settle holds that a dead process left: charged where their transaction landed, given back where not.

        `landed` says of a transaction whether it did; None where that can't be known yet: such a hold stays. Returns
        the ids of those that stay.
        """
        return [hold for hold in holds if not self._resolved(hold, landed)]

    def _resolved(self, hold: str, landed: Callable[[Hash], bool | None]) -> bool:
        with self._reading():
            row = self._one("SELECT cents, transaction_hash FROM hold WHERE id = ?", hold)
        if row is None:
            return True
        done = landed(row[1]) if row[1] else False
        if done is None:
            return False
        with self._transaction():
            self._settle(hold, Cents(row[0] if done else 0))
        return True

    def _settle(self, hold: str, cents: Cents) -> None:
        row = self._one("DELETE FROM hold WHERE id = ? RETURNING account", hold)
        if row and cents:
            self._transfer("charge", hold, row[0], self._own(REVENUE), cents)

    # Payments

    def customer(self, wallet: Address) -> str | None:
        """The provider's id of this wallet's customer."""
        with self._reading():
            row = self._one(
                "SELECT provider_id FROM customer JOIN account ON account.id = account WHERE name = ?", _name(wallet)
            )
        return row[0] if row else None

    def note_customer(self, wallet: Address, customer: str) -> str:
        """Remember a wallet's customer, and return the one that counts: the first that was remembered."""
        with self._transaction():
            self._database.execute(
                "INSERT INTO customer (account, provider_id) VALUES (?, ?) ON CONFLICT (account) DO NOTHING",
                (self._account(wallet), customer),
            )
            return self.customer(wallet) or customer

    def replace_customer(self, wallet: Address, former: str, customer: str) -> str:
        """Remember another customer where the provider no longer has the former; return the one that counts now."""
        with self._transaction():
            self._database.execute(
                "UPDATE customer SET provider_id = ? WHERE account = ? AND provider_id = ?",
                (customer, self._account(wallet), former),
            )
            return self.customer(wallet) or customer

    def note_intent(self, wallet: Address, intent: str, customer: str, cents: Cents, currency: str) -> None:
        """Remember an intent before its secret is told to anybody. On the disk when this returns."""
        with self._transaction(durable=True):
            self._database.execute(
                "INSERT INTO intent (provider_id, account, made_for, customer, cents, currency, created_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (intent, self._account(wallet), wallet.hex(), customer, cents, currency, int(self._now())),
            )

    def intent(self, intent_id: str) -> Intent | None:
        """A remembered intent."""
        return next(iter(self._intents("provider_id = ?", intent_id)), None)

    def open_intents(self) -> Sequence[Intent]:
        """Those that are neither credited nor abandoned, oldest first."""
        return self._intents("state = ?", "open")

    def abandon(self, intent_id: str) -> None:
        """No longer ask for an intent that can't be paid any more."""
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
        """Keep an address until it is forwarded."""
        with self._transaction():
            self._database.execute(
                "INSERT INTO email (account, address) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (self._account(wallet), email),
            )

    def emails(self) -> Sequence[tuple[Address, str]]:
        """The wallets whose addresses are to be forwarded."""
        with self._reading():
            rows = self._database.execute("SELECT name, address FROM email JOIN account ON id = account ORDER BY name")
            return [(bytes.fromhex(name), address) for name, address in rows.fetchall()]

    def forget_email(self, wallet: Address, email: str) -> None:
        """The provider has it: nothing of it stays here, once `empty_log` has been called too."""
        with self._transaction():
            self._database.execute(
                "DELETE FROM email WHERE account = ? AND address = ?", (self._account(wallet), email)
            )

    # Positions in what the ledger follows

    def position(self, name: str) -> int:
        """How far something has been followed, such as the blocks of a chain; -1 before the first time."""
        with self._reading():
            row = self._one("SELECT value FROM position WHERE name = ?", name)
        return int(row[0]) if row else -1

    def set_position(self, name: str, value: int) -> None:
        """Remember how far it has been followed."""
        with self._transaction():
            self._database.execute(
                "INSERT INTO position (name, value) VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, value),
            )

    def _transfer(self, kind: str, reference: str, debit: int, credit: int, cents: Cents) -> bool:
        """False where this kind and reference have happened already."""
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
