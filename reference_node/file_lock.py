"""A lock file that one process at a time holds, so that no two nodes write to the same ledger or state."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class FileInUse(Exception):  # noqa: N818 - a state of the file
    """Another process holds the lock."""


class FileLock:
    """An exclusive lock, held from creation until `release` or until the process ends.

    It is separate from the file that it guards, because closing any descriptor of a database drops SQLite's own locks.
    """

    def __init__(self, path: Path) -> None:
        """Raises `FileInUse` where another process holds it, and `OSError` where it can't be made."""
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            raise FileInUse(str(path)) from None
        if not os.fstat(self._descriptor).st_nlink:  # a start that failed has just removed it
            os.close(self._descriptor)
            raise FileInUse(str(path))

    def release(self) -> None:
        """Release the lock for other processes."""
        os.close(self._descriptor)
