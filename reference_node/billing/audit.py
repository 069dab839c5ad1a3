"""Verifies a ledger file and reads the history of its accounts.

The file is opened read-only, so a running node may keep using it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from reference_node.billing import Cents
from reference_node.billing.schema import APPLICATION_ID, MIGRATIONS, LedgerError


class Movement(NamedTuple):
    """One transfer as an entry in an account's history."""

    account: str
    """The wallet's address in hex, or `provider`, `grants`, `revenue`."""
    id: int
    at: int
    """Unix seconds."""
    kind: str
    """`grant`, `payment`, `charge` or `conversion`."""
    reference: str
    """The intent, hold or account hash that caused the transfer; unique within a kind."""
    other: str
    """The account on the other side."""
    cents: int
    """Positive where the account gains."""
    balance: int
    """After this transfer."""


@dataclass(frozen=True)
class Audit:
    """The result of `verify`."""

    faults: tuple[str, ...]
    """One line for each inconsistency; empty when the ledger is consistent."""
    accounts: int
    transfers: int
    cents: dict[str, Cents]
    """Sum of the transfers by kind."""
    held: Cents
    """The sum of the open holds."""


def verify(file: Path) -> Audit:
    """Check every balance against the transfers, and find missing transfers. Raises `LedgerError` for other files."""
    with _opened(file) as database:
        faults = [fault for check in CHECKS for fault in check(database)]
        cents = dict(database.execute("SELECT kind, sum(cents) FROM transfer GROUP BY kind ORDER BY kind"))
        accounts, transfers, held = (
            int(database.execute(query).fetchone()[0])
            for query in (
                "SELECT count(*) FROM account",
                "SELECT count(*) FROM transfer",
                "SELECT coalesce(sum(cents), 0) FROM hold",
            )
        )
    return Audit(tuple(faults), accounts, transfers, cents, Cents(held))


def history(file: Path) -> Iterator[Movement]:
    """Every account's transfers, oldest first, with the balance after each. Raises `LedgerError`."""
    query = """
        SELECT own.name, side.id, at, kind, reference, other.name, side.cents,
               sum(side.cents) OVER (PARTITION BY own.id ORDER BY side.id)
        FROM (SELECT id, debit AS mine, credit AS theirs, -cents AS cents FROM transfer
              UNION ALL SELECT id, credit, debit, cents FROM transfer) AS side
        JOIN transfer ON transfer.id = side.id
        JOIN account AS own ON own.id = mine JOIN account AS other ON other.id = theirs
        ORDER BY own.name, side.id
    """
    with _opened(file) as database:
        for row in database.execute(query):
            yield Movement(*row)


def _integrity(database: sqlite3.Connection) -> Iterator[str]:
    yield from (
        f"the file is damaged: {result}" for (result,) in database.execute("PRAGMA integrity_check") if result != "ok"
    )
    for table, row, parent, _ in database.execute("PRAGMA foreign_key_check"):
        yield f"row {row} of {table} names a row of {parent} that does not exist"


def _sums(database: sqlite3.Connection) -> Iterator[str]:
    (total,) = database.execute("SELECT coalesce(sum(balance), 0) FROM account").fetchone()
    if total:
        yield f"the balances of all accounts sum to {total} cents instead of 0"
    query = """
        SELECT name, balance,
               coalesce((SELECT sum(cents) FROM transfer WHERE credit = account.id), 0)
               - coalesce((SELECT sum(cents) FROM transfer WHERE debit = account.id), 0) AS moved
        FROM account WHERE balance <> moved
    """
    for name, balance, moved in database.execute(query):
        yield f"account {name} has {balance} cents, but its transfers give {moved}"


def _holds(database: sqlite3.Connection) -> Iterator[str]:
    query = """
        SELECT name, held, coalesce((SELECT sum(cents) FROM hold WHERE hold.account = account.id), 0) AS holds
        FROM account WHERE held <> holds
    """
    for name, held, holds in database.execute(query):
        yield f"account {name} says that {held} cents are held, but its holds give {holds}"


def _negative(database: sqlite3.Connection) -> Iterator[str]:
    for name, balance, held in database.execute(
        "SELECT name, balance, held FROM account WHERE NOT source AND balance < held"
    ):
        yield f"account {name} has {balance} cents, of which {held} are held"


def _holes(database: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT id, lag(id, 1, 0) OVER (ORDER BY id) AS former FROM transfer ORDER BY id"
    for number, former in database.execute(f"SELECT id, former FROM ({query}) WHERE id <> former + 1"):  # noqa: S608
        yield f"transfers {former + 1} to {number - 1} are missing"
    row = database.execute("SELECT seq, (SELECT coalesce(max(id), 0) FROM transfer) FROM sqlite_sequence").fetchone()
    if row and row[0] != row[1]:
        yield f"transfers {row[1] + 1} to {row[0]} are missing"


def _intents(database: sqlite3.Connection) -> Iterator[str]:
    query = """
        SELECT provider_id, state, paid.cents, intent.cents FROM intent
        LEFT JOIN transfer AS paid ON paid.kind = 'payment' AND paid.reference = provider_id
        WHERE (state = 'credited') <> (paid.id IS NOT NULL) OR paid.cents <> intent.cents
    """
    for intent, state, paid, cents in database.execute(query):
        yield f"intent {intent} of {cents} cents is {state}, and {paid or 'nothing'} was credited for it"
    for (reference,) in database.execute(
        "SELECT reference FROM transfer WHERE kind = 'payment' AND reference NOT IN (SELECT provider_id FROM intent)"
    ):
        yield f"intent {reference} was credited, but never recorded"


CHECKS: tuple[Callable[[sqlite3.Connection], Iterator[str]], ...] = (
    _integrity,
    _sums,
    _holds,
    _negative,
    _holes,
    _intents,
)


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    if not file.is_file():
        raise LedgerError(f"there is no ledger {file}")
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
            if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise LedgerError(f"{file} is no ledger")
            version = database.execute("PRAGMA user_version").fetchone()[0]
            if version != len(MIGRATIONS):
                raise LedgerError(
                    f"{file} has version {version}, this node knows {len(MIGRATIONS)}: serve with it once"
                )
            yield database
    except sqlite3.DatabaseError as fault:
        raise LedgerError(f"the ledger {file} can't be read: {fault}") from None
