"""Locks for account conversion, where credits follow the admin wallet ("States and transitions / Account mode")."""

from __future__ import annotations

from threading import Lock
from weakref import WeakValueDictionary


class Handovers:
    """One lock for each account, held while a conversion moves its credits and while a charge looks up its wallet.

    Without the lock, a call during a conversion could find the new admin wallet's record still empty, or the old one
    already empty.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: WeakValueDictionary[int, Lock] = WeakValueDictionary()

    def of(self, account_hash: int) -> Lock:
        """The account's lock. All callers that hold it or wait for it share the same object."""
        with self._guard:
            lock = self._locks.get(account_hash)
            if lock is None:
                lock = self._locks[account_hash] = Lock()
            return lock
