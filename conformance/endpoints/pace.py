"""The rate limit and the budgets of a run."""

from __future__ import annotations

import threading
import time

from conformance.problems import BudgetSpent, GasSpent, PurchasesSpent


def lowest_rate(*rates: float | str | None) -> float | None:
    """The lowest of some rates, in requests a second; a text or None sets no limit."""
    return min((rate for rate in rates if isinstance(rate, float)), default=None)


class Pace:
    """Limits the rate of requests of all threads, evenly spaced."""

    def __init__(self, per_second: float | None) -> None:
        self._gap = 1 / per_second if per_second else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def take(self) -> float:
        """Take the place of the next request; the seconds after which it may be sent."""
        if not self._gap:
            return 0.0
        with self._lock:
            now = time.monotonic()
            due = max(self._next, now)
            self._next = due + self._gap
        return due - now


class Budget:
    """The run's limit of spending, in cents."""

    unit = "cents"
    exceeded: type[BudgetSpent | GasSpent | PurchasesSpent] = BudgetSpent

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.spent = 0
        self._lock = threading.Lock()

    @property
    def left(self) -> int | None:
        """What may still be spent; None without a limit."""
        return None if self.limit is None else self.limit - self.spent

    def take(self, amount: int) -> None:
        """Count a charge before it is caused. Raises `exceeded` when it would go over the limit."""
        with self._lock:
            if self.limit is not None and self.spent + amount > self.limit:
                raise self.exceeded(
                    f"{amount} {self.unit} left to spend", f"{self.spent} of {self.limit} {self.unit} spent"
                )
            self.spent += amount

    def give_back(self, amount: int) -> None:
        """Return an amount that was counted but not charged."""
        with self._lock:
            self.spent -= amount


class Spending:
    """What a case has spent; several threads may count."""

    def __init__(self) -> None:
        self.charged = 0
        """The cost of its calls by the profile's prices, in cents."""
        self.bought = 0
        """The payments to the payment provider, in cents."""
        self.gas = 0
        """What its transactions used."""
        self.waited = 0.0
        """Seconds in which it waited for a node that put requests off or was not there."""
        self._lock = threading.Lock()

    def count(self, *, charged: int = 0, bought: int = 0, gas: int = 0, waited: float = 0.0) -> None:
        """Count a charge, a payment, gas or a wait; a negative amount takes one back."""
        with self._lock:
            self.charged += charged
            self.bought += bought
            self.gas += gas
            self.waited += waited


class PurchaseBudget(Budget):
    """The run's limit of payments to the payment provider, in cents."""

    exceeded = PurchasesSpent


class GasBudget(Budget):
    """The run's limit of gas on the settlement chain."""

    unit = "gas"
    exceeded = GasSpent
