"""A generation of a state: the files of chain, credits and payments that belong together, in a folder of their own."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from reference_node.billing.ledger import Ledger
from reference_node.billing.schema import LedgerError
from reference_node.chain.evm_store import CHAIN_FILE, ChainStore
from reference_node.kept_file import OWNER_ONLY, KeptFile, StateError, require_sound
from reference_node.stripe_simulator.kept_payments import PAYMENTS_FILE, KeptPayments

FOLDER_MODE = 0o700

LOG_SUFFIX = "-wal"
"""SQLite's write-ahead log of a database. An orderly end removes it, a kill leaves it with the last writes."""


@dataclass(frozen=True)
class Generation:
    """The files of one generation."""

    folder: Path

    def create(self) -> None:
        """Create its empty files."""
        self.folder.mkdir(FOLDER_MODE)
        for path, kind in ((self.chain_path, CHAIN_FILE), (self.payments_path, PAYMENTS_FILE)):
            KeptFile(path, kind, create=True).close()
        os.close(os.open(self.ledger_path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
        Ledger(self.ledger_path).close()

    @property
    def name(self) -> str:
        """The unique name of the generation."""
        return self.folder.name

    @property
    def logs(self) -> list[str]:
        """The names of the write-ahead logs, which exist while the databases are open."""
        return [log.name for log in self.folder.glob(f"*{LOG_SUFFIX}")]

    @property
    def chain_path(self) -> Path:
        """The file of the chain."""
        return self.folder / "chain.sqlite"

    @property
    def payments_path(self) -> Path:
        """The file of the payment simulator."""
        return self.folder / "payments.sqlite"

    @property
    def ledger_path(self) -> Path:
        """The file of the ledger of credits."""
        return self.folder / "credits.sqlite"

    def chain(self) -> ChainStore:
        """The chain. Raises `StateError`."""
        return ChainStore(self.chain_path)

    def payments(self) -> KeptPayments:
        """The payments. Raises `StateError`."""
        return KeptPayments(self.payments_path)

    def ledger(self) -> Ledger:
        """The ledger. Raises `StateError`."""
        path = self.ledger_path
        if not path.is_file() or not path.stat().st_size:
            raise StateError(f"{path} is missing: restore a copy of the whole folder, or name another")
        with closing(sqlite3.connect(path)) as database:
            require_sound(database, path)
        try:
            return Ledger(path)
        except LedgerError as fault:
            raise StateError(str(fault)) from None
