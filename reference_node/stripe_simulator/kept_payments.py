"""The simulated account in a file: its keys and clock, its objects, what is due, and a day's idempotency keys."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from sqlite3 import Connection

from reference_node.kept_file import FileKind, KeptFile, StateError
from reference_node.stripe_simulator.access import ApiKeys
from reference_node.stripe_simulator.charges import Charge, Refund
from reference_node.stripe_simulator.customers import Customer
from reference_node.stripe_simulator.idempotency import IdempotencyKeys, Saved
from reference_node.stripe_simulator.payment_intents import PaymentIntent
from reference_node.stripe_simulator.payment_methods import PaymentMethod
from reference_node.stripe_simulator.store import Changed, Due, Resource, Store
from reference_node.stripe_simulator.test_methods import Decline, TestMethod

PAYMENTS_FILE = FileKind(
    "store of payments",
    0x50415953,
    """
    CREATE TABLE account (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE resource (
        id TEXT PRIMARY KEY, kind TEXT NOT NULL, sequence INTEGER NOT NULL, members TEXT NOT NULL
    ) STRICT;
    CREATE TABLE belonging (resource TEXT, owner TEXT, PRIMARY KEY (resource, owner)) STRICT, WITHOUT ROWID;
    CREATE TABLE due (
        sequence INTEGER PRIMARY KEY, at REAL NOT NULL, what TEXT NOT NULL, intent TEXT NOT NULL, charge TEXT NOT NULL
    ) STRICT;
    CREATE TABLE idempotency (key TEXT PRIMARY KEY, time REAL NOT NULL, saved TEXT NOT NULL) STRICT;
    """,
)

END_OF_PROCESSING = "end_of_processing"
"""The one thing that is due to happen to payments."""

KINDS: dict[str, type[Resource]] = {
    kind.name: kind for kind in (Charge, Customer, PaymentIntent, PaymentMethod, Refund)
}

NO_LONGER = ("testclock", "dispute")
"""Kinds of objects in files that earlier versions wrote. They wrote the table `belonging` and further members, too."""


class KeptPayments:
    """The file of one simulator. The simulator's lock guards it."""

    def __init__(self, path: Path) -> None:
        """Raises `StateError`."""
        self._path = path
        self._file = KeptFile(path, PAYMENTS_FILE)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def keys(self) -> ApiKeys:
        """The keys of the account, made when they are first asked for."""
        kept = dict(self._file.rows("SELECT name, value FROM account"))
        if "secret" in kept and "publishable" in kept:
            return ApiKeys(kept["secret"], kept["publishable"])
        fresh = ApiKeys()
        with self._file.transaction() as database:
            _set(database, secret=fresh.secret, publishable=fresh.publishable)
        return fresh

    def offset_seconds(self) -> float:
        """The offset of the simulator's clock."""
        rows = self._file.rows("SELECT value FROM account WHERE name = 'offset_seconds'")
        return float(rows[0][0]) if rows else 0.0

    def load(self, store: Store, idempotency: IdempotencyKeys) -> None:
        """Fill a new store with what is kept. Raises `StateError`."""
        try:
            for kind, members in self._file.rows("SELECT kind, members FROM resource ORDER BY sequence"):
                if kind not in NO_LONGER:
                    store.restore(_resource(kind, members))
            due = "SELECT at, sequence, intent, charge FROM due WHERE what = ?"
            for entry in self._file.rows(due, END_OF_PROCESSING):
                store.restore_due(Due(*entry))
            for key, saved in self._file.rows("SELECT key, saved FROM idempotency ORDER BY time"):
                members = json.loads(saved)
                idempotency.save(key, Saved(**{**members, "body": members["body"].encode()}))
        except (ValueError, TypeError, KeyError) as fault:
            told = f"{self._path} is damaged ({fault}): restore a copy of the whole folder, or name another"
            raise StateError(" ".join(told.split())) from None

    def save(self, store: Store, idempotency: IdempotencyKeys, offset_seconds: float) -> None:
        """Keep what has changed since the last time. Raises `StateUnavailable`."""
        changed, answered = store.changed or Changed(), idempotency.changed or {}
        if not changed and not answered and offset_seconds == self.offset_seconds():
            return
        with self._file.transaction() as database:
            _set(database, offset_seconds=str(offset_seconds))
            _save_resources(database, changed)
            for due in changed.due:
                row = (due.sequence, due.at, END_OF_PROCESSING, due.intent, due.charge)
                database.execute("INSERT INTO due (sequence, at, what, intent, charge) VALUES (?, ?, ?, ?, ?)", row)
            database.executemany("DELETE FROM due WHERE sequence = ?", [(sequence,) for sequence in changed.done])
            for key, saved in answered.items():
                _save_key(database, key, saved)
        changed.clear()
        answered.clear()

    def forget(self) -> None:
        """Remove all objects, what is due and all idempotency keys."""
        with self._file.transaction() as database:
            for table in ("resource", "due", "idempotency"):
                database.execute(f"DELETE FROM {table}")  # noqa: S608 - the names are our own


def _set(database: Connection, **settings: str) -> None:
    for setting in settings.items():
        database.execute("INSERT OR REPLACE INTO account (name, value) VALUES (?, ?)", setting)


def _save_resources(database: Connection, changed: Changed) -> None:
    for resource in changed.resources.values():
        row = (resource.id, resource.name, resource.sequence, json.dumps(asdict(resource)))
        database.execute("INSERT OR REPLACE INTO resource (id, kind, sequence, members) VALUES (?, ?, ?, ?)", row)


def _save_key(database: Connection, key: str, saved: Saved | None) -> None:
    if saved is None:
        database.execute("DELETE FROM idempotency WHERE key = ?", (key,))
    else:
        row = (key, saved.time, json.dumps(asdict(saved) | {"body": saved.body.decode()}))
        database.execute("INSERT OR REPLACE INTO idempotency (key, time, saved) VALUES (?, ?, ?)", row)


def _resource(name: str, text: str) -> Resource:
    kind, members = KINDS[name], json.loads(text)
    if members.get("decline"):
        members["decline"] = Decline(**members["decline"])
    if test := members.get("test"):
        members["test"] = TestMethod(**{**test, "decline": Decline(**test["decline"]) if test["decline"] else None})
    known = {member.name for member in fields(kind) if member.init}
    resource = kind(**{member: value for member, value in members.items() if member in known})
    resource.sequence = members["sequence"]
    return resource
