"""A file that one process at a time holds, so that no two nodes write one ledger."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from reference_node.billing.schema import LedgerError


class FileLock:
    """Held from its making until it is released, or until the process ends in whatever way.

    The file is not the ledger itself: closing any descriptor of a database would end SQLite's own locks on it.
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
        """Let other processes have it."""
        os.close(self._descriptor)
