"""The ledger's database schema: tables, constraints and migrations.

A transfer moves whole cents between two accounts of the ledger, so all balances sum to zero. Money enters from sources
(payments, grants). Only sources may have negative balances.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

APPLICATION_ID = 0x4C454447
"""Identifies the file as a ledger: "LEDG" in SQLite's header."""

MIGRATIONS: Sequence[str] = (
    """
    CREATE TABLE account (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        source INTEGER NOT NULL DEFAULT 0 CHECK (source IN (0, 1)),
        balance INTEGER NOT NULL DEFAULT 0,
        held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
        CHECK (source OR balance >= held)
    ) STRICT;

    CREATE TABLE transfer (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('grant', 'payment', 'charge', 'conversion')),
        reference TEXT NOT NULL,
        debit INTEGER NOT NULL REFERENCES account,
        credit INTEGER NOT NULL REFERENCES account,
        cents INTEGER NOT NULL CHECK (cents > 0),
        CHECK (debit <> credit),
        UNIQUE (kind, reference)
    ) STRICT;

    CREATE INDEX transfer_debit ON transfer (debit);
    CREATE INDEX transfer_credit ON transfer (credit);

    CREATE TRIGGER transfer_moves_cents AFTER INSERT ON transfer BEGIN
        UPDATE account SET balance = balance - NEW.cents WHERE id = NEW.debit;
        UPDATE account SET balance = balance + NEW.cents WHERE id = NEW.credit;
    END;
    CREATE TRIGGER transfer_is_not_changed BEFORE UPDATE ON transfer BEGIN
        SELECT RAISE(ABORT, 'the ledger is append-only');
    END;
    CREATE TRIGGER transfer_is_not_deleted BEFORE DELETE ON transfer BEGIN
        SELECT RAISE(ABORT, 'the ledger is append-only');
    END;

    CREATE TABLE hold (
        id TEXT PRIMARY KEY,
        account INTEGER NOT NULL REFERENCES account,
        cents INTEGER NOT NULL CHECK (cents > 0),
        transaction_hash BLOB
    ) STRICT;

    CREATE TRIGGER hold_sets_aside AFTER INSERT ON hold BEGIN
        UPDATE account SET held = held + NEW.cents WHERE id = NEW.account;
    END;
    CREATE TRIGGER hold_gives_back AFTER DELETE ON hold BEGIN
        UPDATE account SET held = held - OLD.cents WHERE id = OLD.account;
    END;

    CREATE TABLE customer (
        account INTEGER PRIMARY KEY REFERENCES account,
        provider_id TEXT NOT NULL UNIQUE
    ) STRICT;

    CREATE TABLE intent (
        provider_id TEXT PRIMARY KEY,
        account INTEGER NOT NULL REFERENCES account,
        made_for TEXT NOT NULL,
        customer TEXT NOT NULL,
        cents INTEGER NOT NULL CHECK (cents > 0),
        currency TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'credited', 'abandoned'))
    ) STRICT;
    CREATE INDEX intent_open ON intent (created_at) WHERE state = 'open';

    CREATE TABLE email (
        account INTEGER NOT NULL REFERENCES account,
        address TEXT NOT NULL,
        PRIMARY KEY (account, address)
    ) STRICT;

    CREATE TABLE conversion (
        account_hash TEXT PRIMARY KEY
    ) STRICT;

    CREATE TABLE position (
        name TEXT PRIMARY KEY,
        value INTEGER NOT NULL
    ) STRICT;
    """,
)
"""One migration for each schema version, in order. A file's `user_version` is the number already applied."""


class LedgerError(Exception):
    """The ledger file can't be used. The message is one line that names the file and the fix."""


def prepare(database: sqlite3.Connection, name: str) -> None:
    """Migrate a new or older database in one transaction. Raises `LedgerError` for any other file."""
    version, application = _pragma(database, "user_version"), _pragma(database, "application_id")
    tables = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application != APPLICATION_ID and tables:
        raise LedgerError(f"{name} is a database, but no ledger: name another file")
    if version > len(MIGRATIONS):
        raise LedgerError(f"{name} has version {version} and this node knows {len(MIGRATIONS)}: use a newer node")
    if version == len(MIGRATIONS):
        return
    steps = "".join(MIGRATIONS[version:])
    marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {len(MIGRATIONS)};"
    database.executescript(f"BEGIN EXCLUSIVE; {steps} {marks} COMMIT;")


def _pragma(database: sqlite3.Connection, name: str) -> int:
    return int(database.execute(f"PRAGMA {name}").fetchone()[0])
