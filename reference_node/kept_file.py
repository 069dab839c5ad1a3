"""A file of a state: an SQLite database of one kind and version that only its owner can read."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OWNER_ONLY = 0o600
"""The mode of every file of a state, since the state contains secrets."""


class StateError(Exception):
    """The state can't be used. The message is one line that names the file and the fix."""


class StateUnavailable(Exception):  # noqa: N818 - a state of the disk
    """The state can't be read or written, perhaps temporarily, as with a full disk. The transaction is rolled back."""


@dataclass(frozen=True)
class FileKind:
    """The kind of a file."""

    name: str
    application_id: int
    """The id in SQLite's header that distinguishes this kind of file."""
    schema: str
    version: int = 1


class KeptFile:
    """A database. Transactions survive a kill of the process; a power failure may lose the last ones."""

    def __init__(self, path: Path, kind: FileKind, *, create: bool = False) -> None:
        """`create`: create it if it is missing. Raises `StateError` unless it is a sound file of this kind."""
        self._path = path
        self._lock = threading.RLock()
        try:
            if create:
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY))
            elif not path.is_file():
                raise StateError(f"{path} is missing: restore a copy of the whole folder, or name another")
            self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as fault:
            raise StateError(f"{path} can't be opened: {fault}") from None
        try:
            require_sound(self._database, path)
            self._prepare(kind, create=create)
        except BaseException:
            self._database.close()
            raise

    def _prepare(self, kind: FileKind, *, create: bool) -> None:
        try:
            ((application,),) = self._database.execute("PRAGMA application_id").fetchall()
            ((version,),) = self._database.execute("PRAGMA user_version").fetchall()
            ((tables,),) = self._database.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            if create and not (application or tables):
                marks = f"PRAGMA application_id = {kind.application_id}; PRAGMA user_version = {kind.version};"
                self._database.executescript(f"BEGIN EXCLUSIVE; {kind.schema} {marks} COMMIT;")
                application, version = kind.application_id, kind.version
            for setting in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
                self._database.execute(f"PRAGMA {setting}").fetchall()
        except sqlite3.Error as fault:
            raise StateError(f"{self._path} can't be used: {fault}") from None
        if application != kind.application_id:
            raise StateError(f"{self._path} is no {kind.name} of a node: name another folder")
        if version != kind.version:
            raise StateError(
                f"{self._path} has version {version} and this node knows {kind.version}: "
                "use the node that made it, or name another folder"
            )

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query. The schema (STRICT) determines the types of their columns. Raises `StateUnavailable`."""
        with self._lock:
            try:
                return self._database.execute(query, values).fetchall()
            except sqlite3.Error as fault:
                raise StateUnavailable(f"{self._path} can't be read: {fault}") from fault

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is committed when the block ends. Raises `StateUnavailable`."""
        with self._lock:
            try:
                self._database.execute("BEGIN IMMEDIATE")
                try:
                    yield self._database
                    self._database.execute("COMMIT")
                except BaseException:
                    if self._database.in_transaction:
                        self._database.execute("ROLLBACK")
                    raise
            except sqlite3.Error as fault:
                raise StateUnavailable(f"{self._path} can't be written: {fault}") from fault

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()


def require_sound(database: sqlite3.Connection, path: Path) -> None:
    """Raise `StateError` if SQLite finds the file damaged, or cannot use it: a full disk, say, damages nothing."""
    try:
        found = database.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.OperationalError as fault:
        raise StateError(f"{path} can't be used ({fault}): is there room on the disk, and may it be written?") from None
    except sqlite3.Error as fault:
        found = [(str(fault),)]
    if found != [("ok",)]:
        reason = " ".join(str(found[0][0]).split())
        raise StateError(f"{path} is damaged ({reason}): restore a copy of the whole folder, or name another")
