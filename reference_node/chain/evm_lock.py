"""The lock of the in-memory chain."""

from __future__ import annotations

import threading
from types import TracebackType


class FairLock:
    """A re-entrant lock that nobody takes twice running while others wait.

    Python's own goes to whoever asks first after a release, which is the thread that released it: with calls coming
    in without pause, a write would wait tens of milliseconds for its turn.
    """

    def __init__(self) -> None:
        self._entrance = threading.Lock()
        self._inside = threading.Lock()
        self._owner: int | None = None
        self._depth = 0

    def __enter__(self) -> None:
        me = threading.get_ident()
        if self._owner != me:
            with self._entrance:  # held while waiting, so that whoever comes out has to queue behind
                self._inside.acquire()
            self._owner = me
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._owner = None
            self._inside.release()
