"""Schedules runs fairly: free slots go to accounts in turn, so that one account's queue delays no other."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from reference_node.sandbox.limits import Limits
from reference_node.sandbox.outcome import SandboxBroken, SandboxBusy

Account: TypeAlias = bytes | int

KEPT_SHARE = 4
"""One slot in this many, and one place in the queue, is reserved for accounts that have paid."""


@dataclass(eq=False)
class _Waiter:
    paying: bool
    called: threading.Event = field(default_factory=threading.Event)
    granted: bool = False


class FairSlots:
    """A fair semaphore for runs.

    Free slots go to the waiting accounts in turn. An account gets a further slot only while it holds fewer than are
    free, so that slots remain for others even when its runs never end. Accounts that have paid come first, and a
    quarter of the slots and of the queue is reserved for them, since unpaid accounts can be created without limit.
    """

    def __init__(self, slots: int, limits: Limits) -> None:
        self._lock = threading.Lock()
        self._free = slots
        self._kept = slots // KEPT_SHARE
        self._limits = limits
        self._held: Counter[Account] = Counter()
        self._waiting: dict[Account, deque[_Waiter]] = {}
        self._closed = False

    @contextmanager
    def slot(self, account: Account, *, paying: bool = True) -> Iterator[None]:
        """Hold a slot. Raises `SandboxBusy` when too many wait or the wait is too long, `SandboxBroken` once closed."""
        self._acquire(account, _Waiter(paying))
        try:
            yield
        finally:
            with self._lock:
                self._return(account)

    @property
    def waiting(self) -> int:
        """How many runs wait."""
        with self._lock:
            return self._queued()

    def close(self) -> None:
        """Refuse all waiting and future runs."""
        with self._lock:
            self._closed = True
            for waiters in self._waiting.values():
                for waiter in waiters:
                    waiter.called.set()
            self._waiting.clear()

    def _acquire(self, account: Account, waiter: _Waiter) -> None:
        with self._lock:
            self._enter(account, waiter)
            self._grant()
        waiter.called.wait(self._limits.queue_seconds)
        with self._lock:
            if waiter.granted:
                return
            self._leave(account, waiter)
            if self._closed:
                raise SandboxBroken("the sandbox is closed")
        raise SandboxBusy(f"no process became free within {self._limits.queue_seconds:g} s: try again later")

    def _enter(self, account: Account, waiter: _Waiter) -> None:
        if self._closed:
            raise SandboxBroken("the sandbox is closed")
        queued = self._queued()
        own = len(self._waiting.get(account, ()))
        kept = 0 if waiter.paying else self._limits.queued_runs // KEPT_SHARE
        if queued >= self._limits.queued_runs - kept or own >= self._limits.queued_runs_per_account:
            raise SandboxBusy(f"{queued} runs wait already, {own} of them this account's: try again later")
        self._waiting.setdefault(account, deque()).append(waiter)

    def _queued(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _leave(self, account: Account, waiter: _Waiter) -> None:
        waiters = self._waiting.get(account)
        if waiters is not None and waiter in waiters:
            waiters.remove(waiter)
            if not waiters:
                del self._waiting[account]

    def _return(self, account: Account) -> None:
        self._free += 1
        self._held[account] -= 1
        if not self._held[account]:
            del self._held[account]
        self._grant()

    def _grant(self) -> None:
        while (account := self._next()) is not None:
            waiters = self._waiting.pop(account)
            waiter = waiters.popleft()
            if waiters:
                self._waiting[account] = waiters  # at the end: the others come first
            self._free -= 1
            self._held[account] += 1
            waiter.granted = True
            waiter.called.set()

    def _next(self) -> Account | None:
        """The account whose run is next: the longest waiting one that has paid, or else of the others."""
        for paying, free in ((True, self._free), (False, self._free - self._kept)):
            for account, waiters in self._waiting.items():
                if waiters[0].paying is paying and self._held[account] < free:
                    return account
        return None
