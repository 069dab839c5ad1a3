"""How fast a run may ask, and how much it may spend."""

from __future__ import annotations

import threading
import time

from conformance.problems import BudgetSpent


def lowest_rate(*rates: float | str | None) -> float | None:
    """The lowest of some rates, in requests a second; a text or None sets no limit."""
    return min((rate for rate in rates if isinstance(rate, float)), default=None)


class Pace:
    """At most so many requests a second, evenly spaced, over all threads."""

    def __init__(self, per_second: float | None) -> None:
        self._gap = 1 / per_second if per_second else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Return when the next request may go."""
        if not self._gap:
            return
        with self._lock:
            now = time.monotonic()
            due = max(self._next, now)
            self._next = due + self._gap
        time.sleep(due - now)


class Budget:
    """What the run may spend, in cents."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.spent = 0
        self._lock = threading.Lock()

    def take(self, cents: int) -> None:
        """Count a charge before it is caused. Raises BudgetSpent when it would go over the limit."""
        with self._lock:
            if self.limit is not None and self.spent + cents > self.limit:
                raise BudgetSpent(f"{cents} cents left to spend", f"{self.spent} of {self.limit} cents spent")
            self.spent += cents

    def give_back(self, cents: int) -> None:
        """The call was refused and cost nothing."""
        with self._lock:
            self.spent -= cents
