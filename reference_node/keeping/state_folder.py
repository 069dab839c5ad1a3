"""The folder of `--state`: everything that a node needs to continue after it was stopped or killed.

`node.sqlite` holds the root secret and what the node as a whole goes on with. Chain, ledger and payments are a
*generation*: a folder of their own that a reset replaces as a whole.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from reference_node.billing.schema import LedgerError
from reference_node.file_lock import FileInUse, FileLock
from reference_node.keeping.generation import FOLDER_MODE, Generation
from reference_node.kept_file import OWNER_ONLY, FileKind, KeptFile, StateError, StateUnavailable
from reference_node.strict_json import Json

NODE_FILE = FileKind(
    "state", 0x4E4F4445, "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
)

NODE, LOCK = "node.sqlite", "lock"

OPEN = "open"
"""A file that names the generation whose databases are open, and their logs. It outlives a node that is killed."""

GENERATION_PREFIX = "accounts-"
GENERATION_NAME = re.compile(rf"{GENERATION_PREFIX}[0-9a-f]+")

T = TypeVar("T")


class StateFolder:
    """The folder of one node, locked for it."""

    def __init__(self, folder: Path, *, root_secret: bytes, chain_id: int) -> None:
        """Open a folder, or create one with this root secret and chain. Raises `StateError`."""
        self._folder = folder
        self._made_folder = not folder.exists()
        with ExitStack() as undone:
            undone.enter_context(_usable(folder))
            self._lock = _locked(folder)
            undone.callback(self._lock.release)
            new, beside = _content(folder)
            self._made_state = new
            undone.callback(self._remove_if_made)
            self._file = KeptFile(folder / NODE, NODE_FILE, create=new or not beside)
            undone.callback(self._file.close)
            began: dict[str, Json] = {"root_secret": root_secret.hex(), "chain_id": chain_id, "began": int(time.time())}
            if not beside and not self._file.rows("SELECT 1 FROM setting LIMIT 1"):
                self._write(began)
            self.root_secret = self._secret()
            self.chain_id = self._required("chain_id", int)
            self.began = self._required("began", int)
            """Unix time at which the node was first started."""
            self._enter_generation()
            undone.pop_all()

    def _enter_generation(self) -> None:
        """Find the current generation, and remove one that a kill left incomplete. Raises `StateError`."""
        name = self._read("generation", str)
        if name is not None and not GENERATION_NAME.fullmatch(name):
            raise self._damaged("its generation is no name of a folder of accounts")
        if name is not None and not (self._folder / name).is_dir():
            raise StateError(f"{self._folder / name} is missing: restore a copy of the whole folder, or name another")
        if name is not None:
            self._require_logs(name)
        for entry in self._folder.glob(f"{GENERATION_PREFIX}*"):
            if entry.name != name and entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
        if name is None:
            with self.new_generation():
                return
        self.generation = Generation(self._folder / name)

    def _require_logs(self, name: str) -> None:
        """Raise `StateError` if a killed node's last writes were in a file that is missing now."""
        mark, present = self._folder / OPEN, Generation(self._folder / name).logs
        opened, *logs = mark.read_text(encoding="utf-8", errors="replace").split() or [""] if mark.is_file() else [""]
        if lost := next((log for log in logs if opened == name and log not in present), None):
            raise StateError(
                f"{self._folder / name / lost} is missing, and with it the last writes of a node that was killed: "
                f"restore a copy of the whole folder, or remove {mark} to go on without them"
            )
        mark.unlink(missing_ok=True)

    def opened(self) -> None:
        """Note that the databases of the generation are open. Raises `StateUnavailable`."""
        mark = self._folder / OPEN
        try:
            mark.touch(OWNER_ONLY)
            mark.write_text("\n".join([self.generation.name, *self.generation.logs]), encoding="utf-8")
        except OSError as fault:
            mark.unlink(missing_ok=True)
            raise StateUnavailable(f"{mark} can't be written: {fault.strerror}") from None

    def closing(self) -> None:
        """Note that the databases are about to be closed in order."""
        (self._folder / OPEN).unlink(missing_ok=True)

    @contextmanager
    def new_generation(self) -> Iterator[Generation]:
        """A new generation, which replaces the current one if the block succeeds. Raises `StateUnavailable`."""
        former = getattr(self, "generation", None)
        fresh = Generation(self._folder / f"{GENERATION_PREFIX}{secrets.token_hex(8)}")
        try:
            fresh.create()
            yield fresh
            self._write({"generation": fresh.name, "clock_offset": 0, "certificate": None, "seeded": []})
        except BaseException as fault:
            shutil.rmtree(fresh.folder, ignore_errors=True)
            if isinstance(fault, (OSError, StateError, LedgerError)):
                raise StateUnavailable(f"a new folder of accounts can't be made: {fault}") from fault
            raise
        self.generation = fresh
        if former is not None:
            with suppress(StateUnavailable):  # then a lost log goes unnoticed
                self.opened()
            shutil.rmtree(former.folder, ignore_errors=True)

    @property
    def clock_offset(self) -> int:
        """The clock's offset in seconds."""
        return self._read("clock_offset", int) or 0

    def keep_clock_offset(self, seconds: int) -> None:
        """Store the clock's offset. Raises `StateUnavailable`."""
        self._write({"clock_offset": seconds})

    @property
    def certificate(self) -> tuple[int, int] | None:
        """How often the certificate was renewed, and the Unix time of the last issue."""
        kept = self._read("certificate", list)
        if kept is not None and not (len(kept) == 2 and all(isinstance(part, int) for part in kept)):
            raise self._damaged("its certificate is no pair of numbers")
        return (kept[0], kept[1]) if kept else None

    def keep_certificate(self, turn: int, issued: int) -> None:
        """Store which certificate is served. Raises `StateUnavailable`."""
        self._write({"certificate": [turn, issued]})

    @property
    def seeded(self) -> list[str]:
        """The hashes of the accounts that `--seed-accounts` has created."""
        return [str(name) for name in self._read("seeded", list) or []]

    def keep_seeded(self, names: list[str]) -> None:
        """Store which accounts `--seed-accounts` has created. Raises `StateUnavailable`."""
        self._write({"seeded": [*names]})

    def close(self) -> None:
        """Release the folder for other processes."""
        self._file.close()
        self._lock.release()

    def abandon(self) -> None:
        """Release the folder after a failed start, and remove the state that this start has made."""
        self._file.close()
        self._remove_if_made()
        self._lock.release()

    def _remove_if_made(self) -> None:
        if self._made_state:
            for entry in self._folder.glob(f"{GENERATION_PREFIX}*"):
                shutil.rmtree(entry, ignore_errors=True)
            for entry in [*self._folder.glob(f"{NODE}*"), self._folder / LOCK]:
                entry.unlink(missing_ok=True)
        if self._made_folder:
            with suppress(OSError):  # it holds something else
                self._folder.rmdir()

    def _write(self, settings: dict[str, Json]) -> None:
        with self._file.transaction() as database:
            for name, value in settings.items():
                database.execute(
                    "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", (name, json.dumps(value))
                )
        with suppress(StateUnavailable):  # what is committed is kept; without a log it can't be lost with it
            self._file.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def _read(self, name: str, kind: type[T]) -> T | None:
        rows = self._file.rows("SELECT value FROM setting WHERE name = ?", name)
        try:
            value = json.loads(rows[0][0]) if rows else None
        except ValueError:
            raise self._damaged(f"its {name} is no JSON") from None
        return value if isinstance(value, kind) else None

    def _secret(self) -> bytes:
        try:
            return bytes.fromhex(self._required("root_secret", str))
        except ValueError:
            raise self._damaged("its root_secret is no hex text") from None

    def _required(self, name: str, kind: type[T]) -> T:
        value = self._read(name, kind)
        if value is None:
            raise self._damaged(f"it has no {name}")
        return value

    def _damaged(self, reason: str) -> StateError:
        return StateError(
            f"{self._folder / NODE} is damaged ({reason}): restore a copy of the whole folder, or name another"
        )


def _content(folder: Path) -> tuple[bool, bool]:
    """Whether the folder has no state yet, and whether it has other files. Raises `StateError` if it is not a state."""
    beside = any(not entry.name.startswith((LOCK, NODE)) for entry in folder.iterdir())
    new = not (folder / NODE).exists() or not (folder / NODE).stat().st_size
    if new and beside:
        raise StateError(f"{folder} is not empty and has no {NODE}: name an empty folder, or that of a node")
    return new, beside


def _locked(folder: Path) -> FileLock:
    """Lock the folder, which is created if it is missing, and withdraw access of other users."""
    folder.mkdir(FOLDER_MODE, exist_ok=True)
    _content(folder)  # the folder of something else keeps its mode and gets no lock file
    folder.chmod(FOLDER_MODE)
    try:
        return FileLock(folder / LOCK)
    except FileInUse:
        raise StateError(f"another node uses the state in {folder}: stop it, or name another folder") from None


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """Turn what the system refuses into `StateError`."""
    try:
        yield
    except OSError as fault:
        which = fault.filename or folder
        raise StateError(f"the state folder {folder} can't be used: {fault.strerror} ({which})") from None
