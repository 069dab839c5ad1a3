"""Accounts that change hands: their credits go along (specification, "States and transitions / Account mode")."""

from __future__ import annotations

from threading import Lock
from weakref import WeakValueDictionary


class Handovers:
    """A lock for each account, held while it and its credits change hands, and while a charge looks up who has them.

    Without it a call that comes in between would find the new admin wallet's record still empty, or the old one's
    empty already.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: WeakValueDictionary[int, Lock] = WeakValueDictionary()

    def of(self, account_hash: int) -> Lock:
        """The account's lock, the same one for all who hold it or wait for it."""
        with self._guard:
            lock = self._locks.get(account_hash)
            if lock is None:
                lock = self._locks[account_hash] = Lock()
            return lock
