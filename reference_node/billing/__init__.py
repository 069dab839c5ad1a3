"""Credits: what a management write or a run has to hold before it happens (specification, "Billing").

Records are keyed by the account's admin wallet, a 20-byte address. Amounts are whole cents.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

MANAGEMENT_WRITE_CENTS = 1
"""The price of a management write. The specification does not show the charge (Limits)."""

RUN_SECOND_CENTS = 1
"""The price of each second of a run that has started. The specification does not show the charge (Limits)."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Credit set aside for one call, until it is settled or released."""

    id: int
    wallet: bytes
    cents: int


class Billing(Protocol):
    """What the rest of the node asks of billing. Every method is safe to call from many threads at once."""

    def open_record(self, wallet: bytes, email: str | None) -> None:
        """Begin the record of a new account's admin wallet, with the starter credits where there are any."""

    def balance(self, wallet: bytes) -> int:
        """The credit left, in cents, without what is held; 0 for a wallet never heard of."""

    def hold(self, wallet: bytes, cents: int) -> Hold:
        """Set credit aside; raises `PaymentRequired` when there is not enough."""

    def settle(self, hold: Hold, cents: int) -> None:
        """Charge so much of a hold, at most all of it, and give the rest back."""

    def release(self, hold: Hold) -> None:
        """Give all of a hold back: the call it was for was refused or failed."""

    def move(self, wallet: bytes, new_wallet: bytes) -> None:
        """Add a record to that of the wallet that has become its account's admin."""


@contextmanager
def charged(billing: Billing, wallet: bytes, cents: int) -> Iterator[None]:
    """Charge this wallet for what happens inside, unless that fails."""
    hold = billing.hold(wallet, cents)
    try:
        yield
    except BaseException:
        billing.release(hold)
        raise
    billing.settle(hold, cents)
