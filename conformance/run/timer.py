"""Ends a run that takes too long, as SIGTERM ends it: its cases clean up, and what they have found is written."""

from __future__ import annotations

import signal
import threading
import time

MOST_MINUTES = 1440.0
"""Unless `--max-minutes` says otherwise: a run of everything on a slow chain, one case at a time, takes less."""


class RunTimer:
    """Sends the process a SIGTERM when its time is over."""

    def __init__(self, minutes: float) -> None:
        self.told = ""
        """Why the run was ended; empty while it was not."""
        self._minutes = minutes
        self._until = time.monotonic() + 60 * minutes
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        """End the run so long after this object was made, by one thread more. Called again, change nothing.

        In any thread but the first the run does not take signals, and has no end.
        """
        if self._timer is None and threading.current_thread() is threading.main_thread():
            left = min(max(0.0, self._until - time.monotonic()), threading.TIMEOUT_MAX)
            self._timer = threading.Timer(left, self._end)
            self._timer.daemon = True
            self._timer.start()

    def stop(self) -> None:
        """Let the time be over without a consequence."""
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        self.told = f"its {self._minutes:g} minutes are over (--max-minutes)"
        main = threading.main_thread().ident
        if main is not None and hasattr(signal, "pthread_kill"):  # wakes it from whatever it waits for
            signal.pthread_kill(main, signal.SIGTERM)
