"""Credits kept in this process: the billing of a node without a payment provider."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict

from reference_node.billing import Hold
from reference_node.problems import PaymentRequired


class InMemoryBilling:
    """Every new record begins with `starter_credits` cents; nothing can be bought."""

    def __init__(self, starter_credits: int) -> None:
        self._starter_credits = starter_credits
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._free: defaultdict[bytes, int] = defaultdict(int)
        self._held: dict[int, Hold] = {}

    def open_record(self, wallet: bytes, email: str | None) -> None:  # noqa: ARG002 - no provider to tell the email
        """Begin a record with the starter credits."""
        with self._lock:
            self._free[wallet] += self._starter_credits

    def balance(self, wallet: bytes) -> int:
        """The credit left, in cents, without what is held."""
        with self._lock:
            return self._free.get(wallet, 0)

    def hold(self, wallet: bytes, cents: int) -> Hold:
        """Set credit aside; raises `PaymentRequired` when there is not enough."""
        with self._lock:
            left = self._free.get(wallet, 0)
            if left < cents:
                raise PaymentRequired(
                    "insufficient-credits",
                    f"the account has {left} cents and this call costs {cents}: no credits are sold here,"
                    " new accounts begin with those of the node's option --starter-credits",
                )
            self._free[wallet] = left - cents
            hold = Hold(next(self._ids), wallet, cents)
            self._held[hold.id] = hold
            return hold

    def settle(self, hold: Hold, cents: int) -> None:
        """Charge so much of a hold, at most all of it, and give the rest back."""
        with self._lock:
            current = self._held.pop(hold.id)
            self._free[current.wallet] += current.cents - min(cents, current.cents)

    def release(self, hold: Hold) -> None:
        """Give all of a hold back."""
        self.settle(hold, 0)

    def move(self, wallet: bytes, new_wallet: bytes) -> None:
        """Add a record, and whatever of it is held, to another wallet's."""
        with self._lock:
            moved = self._free.pop(wallet, 0)  # before the sum is read: an account may be handed to the wallet it has
            self._free[new_wallet] += moved
            for hold in self._held.values():
                if hold.wallet == wallet:
                    self._held[hold.id] = Hold(hold.id, new_wallet, hold.cents)
