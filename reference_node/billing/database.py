"""The ledger's SQLite database: one process at a time, atomic transactions, and accounts looked up by name."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from reference_node.billing.schema import LedgerError, prepare
from reference_node.file_lock import FileInUse, FileLock
from reference_node.log_limit import limited_logger

LOG = limited_logger("reference_node.billing")

Row: TypeAlias = tuple[Any, ...]
"""A row from SQLite; the schema (STRICT) determines the types of its columns."""

BUSY_SECONDS = 10.0
"""How long a statement waits for another program that reads the file."""

SETTINGS = ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "secure_delete = ON")
"""The PRAGMAs set whenever the file is opened."""


class LedgerUnavailable(Exception):  # noqa: N818 - a state of the disk
    """The ledger can't be read or written, perhaps temporarily, as with a full disk. The transaction is rolled back."""


class Database:
    """The tables, guarded by one lock."""

    def __init__(self, file: Path | None) -> None:
        """`file` None: in memory. Raises `LedgerError` where the file can't be used or another node uses it."""
        self._lock = threading.RLock()
        self._within = False
        self._accounts: dict[str, int] = {}
        file = file.resolve() if file else None  # links to one ledger share its lock
        self._file_lock = _locked(file.with_name(f"{file.name}.lock")) if file else None
        self._name = str(file) if file else ":memory:"
        with ExitStack() as undone:
            if self._file_lock:
                undone.callback(self._file_lock.release)
            try:
                self._database = sqlite3.connect(
                    self._name, BUSY_SECONDS, isolation_level=None, check_same_thread=False
                )
                undone.callback(self._database.close)
                prepare(self._database, self._name)
                for setting in SETTINGS:
                    self._database.execute(f"PRAGMA {setting}")
                with self._transaction():  # find a read-only file at the start, not at the first call
                    self._database.execute("DELETE FROM position WHERE name = ''")
            except sqlite3.Error as fault:
                raise LedgerError(f"the ledger {self._name} can't be used: {fault}") from None
            except LedgerUnavailable as fault:
                raise LedgerError(str(fault)) from None
            undone.pop_all()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()
        if self._file_lock:
            self._file_lock.release()

    def empty_log(self) -> None:
        """Truncate SQLite's write-ahead log, so that it holds no deleted data. Other readers delay that."""
        with self._reading():
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as fault:
                LOG.warning("the ledger %s fails: %s", self._name, fault)
                raise LedgerUnavailable(f"the ledger {self._name} fails: {fault}") from fault

    @contextmanager
    def _transaction(self, *, durable: bool = False) -> Iterator[None]:
        with self._reading():
            if self._within:
                yield
                return
            self._roll_back()  # an earlier rollback may have failed with the disk
            if durable:
                self._database.execute("PRAGMA synchronous = FULL")
            self._within = True
            try:
                self._database.execute("BEGIN IMMEDIATE")
                yield
                self._database.execute("COMMIT")
            except BaseException:
                self._accounts.clear()
                self._roll_back()
                raise
            finally:
                self._within = False
                if durable:
                    self._database.execute("PRAGMA synchronous = NORMAL")

    def _roll_back(self) -> None:
        """Roll back the open transaction. After some faults SQLite has already done so."""
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")

    def _own(self, name: str, *, source: bool = False) -> int:
        """The id of the account with this name, which is created when it is missing."""
        account_id = self._accounts.get(name)
        if account_id is None:
            self._database.execute(
                "INSERT INTO account (name, source) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, int(source))
            )
            (account_id,) = self._one("SELECT id FROM account WHERE name = ?", name) or (0,)
            self._accounts[name] = account_id
        return account_id

    def _one(self, query: str, *values: object) -> Row | None:
        """The first row. All rows are fetched, since an open statement would block other commits."""
        rows = self._database.execute(query, values).fetchall()
        return rows[0] if rows else None


def _locked(path: Path) -> FileLock:
    try:
        return FileLock(path)
    except FileInUse:
        raise LedgerError(f"another node uses this ledger ({path} is held): stop it, or name another file") from None
    except OSError as fault:
        raise LedgerError(f"the ledger's lock {path} can't be made: {fault.strerror}") from None
