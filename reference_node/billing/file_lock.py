"""A lock file that one process at a time holds, so that no two nodes write to the same ledger."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from reference_node.billing.schema import LedgerError


class FileLock:
    """An exclusive lock, held from creation until `release` or until the process ends.

    It is separate from the ledger, because closing any descriptor of a database file drops SQLite's own locks.
    """

    def __init__(self, path: Path) -> None:
        """Raises `LedgerError` where another process holds it."""
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as fault:
            raise LedgerError(f"the ledger's lock {path} can't be made: {fault.strerror}") from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            raise LedgerError(
                f"another node uses this ledger ({path} is held): stop it, or name another file"
            ) from None

    def release(self) -> None:
        """Release the lock for other processes."""
        os.close(self._descriptor)
