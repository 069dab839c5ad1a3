"""Lets the cases of a run go on beside one another at one node, and one alone while others would notice what it does.

Such a case has the node for itself from the moment at which it first moves the clock, renews the certificate,
troubles the payment provider or restarts it, until it has ended. Until then it prepares beside the others.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from conformance.endpoints.interruption import Interruption

SECONDS_BETWEEN_LOOKS = 0.2
"""How often a thread that waits for its turn looks whether the run was interrupted."""


class Turn:
    """The turn of one case."""

    def __init__(self) -> None:
        self.is_alone = False
        self.waited = 0.0
        """Seconds in which it could not go on."""


_turn: ContextVar[Turn | None] = ContextVar("turn", default=None)
"""That of the case which this thread runs."""


class Turns:
    """Who runs: cases beside one another, or one alone, when no other is left that could go on beside it."""

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption
        self._changed = threading.Condition()
        self._beside = 0
        self._is_taken = False
        """Whether a case runs alone."""

    @contextmanager
    def one(self) -> Iterator[Turn]:
        """Run a case within the block, as soon as none is alone."""
        turn = Turn()
        with self._changed:
            self._wait(turn, lambda: not self._is_taken)
            self._beside += 1
        before = _turn.set(turn)
        try:
            yield turn
        finally:
            _turn.reset(before)
            with self._changed:
                if turn.is_alone:
                    self._is_taken = False
                else:
                    self._beside -= 1
                self._changed.notify_all()

    def be_alone(self) -> None:
        """Wait until the case of this thread is alone, which it then is to its end."""
        turn = _turn.get()
        if turn is None or turn.is_alone:
            return
        with self._changed:
            self._beside -= 1
            self._changed.notify_all()
            try:
                self._wait(turn, lambda: not self._is_taken and not self._beside)
                self._is_taken = turn.is_alone = True
            finally:
                if not turn.is_alone:
                    self._beside += 1

    @contextmanager
    def holding(self, lock: threading.RLock) -> Iterator[bool]:
        """Hold a lock within the block. False: another case has it, which may wait until this one is no longer alone.

        A case that waits for the lock holds up none that waits to be alone: that may be the one with the lock.
        """
        turn = _turn.get()
        is_held = lock.acquire(blocking=turn is None)
        if not is_held and turn is not None and not turn.is_alone:
            self._wait_aside(turn, lock)
            is_held = True
        try:
            yield is_held
        finally:
            if is_held:
                lock.release()

    def _wait_aside(self, turn: Turn, lock: threading.RLock) -> None:
        """Take a lock while none is alone, and go on beside the others."""
        with self._changed:
            self._beside -= 1
            self._changed.notify_all()
        try:
            while not self._goes_on_with(lock):
                with self._changed:
                    self._wait(turn, lambda: not self._is_taken)
        except BaseException:
            with self._changed:
                self._beside += 1
            raise

    def _goes_on_with(self, lock: threading.RLock) -> bool:
        """Whether the lock was free while none was alone: then the case has it, and goes on beside the others."""
        if not lock.acquire(timeout=SECONDS_BETWEEN_LOOKS):
            self._interruption.check()
            return False
        with self._changed:
            if not self._is_taken:
                self._beside += 1
                return True
        lock.release()
        return False

    def _wait(self, turn: Turn, may_go_on: Callable[[], bool]) -> None:
        began = time.monotonic()
        while not may_go_on():
            self._changed.wait(SECONDS_BETWEEN_LOOKS)
            self._interruption.check()
        turn.waited += time.monotonic() - began
