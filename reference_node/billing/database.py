"""The ledger's SQLite database: opened by one process, its transactions whole or not at all, its accounts by name."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from reference_node.billing.file_lock import FileLock
from reference_node.billing.schema import LedgerError, prepare

LOG = logging.getLogger("reference_node.billing")

Row: TypeAlias = tuple[Any, ...]
"""What SQLite gives; its columns have the types that the schema says (STRICT)."""

BUSY_SECONDS = 10.0
"""How long a statement waits for another program that reads the file."""

SETTINGS = ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "secure_delete = ON")
"""What is asked of SQLite whenever the file is opened."""


class LedgerUnavailable(Exception):  # noqa: N818 - a state of the disk
    """The ledger can't be read or written, perhaps only at present: its disk is full, say. The movement is undone."""


class Database:
    """The tables, behind one lock."""

    def __init__(self, file: Path | None) -> None:
        """`file` None: in memory. Raises `LedgerError` where the file can't be used or another node uses it."""
        self._lock = threading.RLock()
        self._within = False
        self._accounts: dict[str, int] = {}
        file = file.resolve() if file else None  # links to one ledger share its lock
        self._file_lock = FileLock(file.with_name(f"{file.name}.lock")) if file else None
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
                with self._transaction():  # a file that can't be written is told now, and not to the first caller
                    self._database.execute("DELETE FROM position WHERE name = ''")
            except sqlite3.Error as fault:
                raise LedgerError(f"the ledger {self._name} can't be used: {fault}") from None
            except LedgerUnavailable as fault:
                raise LedgerError(str(fault)) from None
            undone.pop_all()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._database.close()
        if self._file_lock:
            self._file_lock.release()

    def empty_log(self) -> None:
        """Have what was deleted leave SQLite's log beside the file too. Another program that reads puts that off."""
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
            self._roll_back()  # what a failed disk did not let end before
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
        """Undo what was begun, unless SQLite has done so by itself, as it does after some faults."""
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")

    def _own(self, name: str, *, source: bool = False) -> int:
        """The row of the account of this name, made where there is none."""
        known = self._accounts.get(name)
        if known is None:
            self._database.execute(
                "INSERT INTO account (name, source) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, int(source))
            )
            (known,) = self._one("SELECT id FROM account WHERE name = ?", name) or (0,)
            self._accounts[name] = known
        return known

    def _one(self, query: str, *values: object) -> Row | None:
        """The first row, with the statement at its end: an open one would keep others from committing."""
        rows = self._database.execute(query, values).fetchall()
        return rows[0] if rows else None
