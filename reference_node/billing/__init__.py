"""Credits, and the holds that management writes and runs take before they happen (specification, "Billing").

Records are keyed by the account's admin wallet, a 20-byte address. Amounts are whole cents.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NewType, Protocol

from reference_node.chain.interface import Address, Hash, OutcomeUnknown
from reference_node.chain.payers import told_before_sending

Cents = NewType("Cents", int)
"""An amount of money or of credit, in whole US cents."""

MANAGEMENT_WRITE_CENTS = Cents(1)
"""The price of a management write. The specification does not show the charge (Limits)."""

RUN_SECOND_CENTS = Cents(1)
"""The price of each second of a run that has started. The specification does not show the charge (Limits)."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Credit reserved for one call until it is settled or released."""

    id: str
    wallet: Address
    """The wallet that held the credit when it was reserved; its record may have moved since."""
    cents: Cents


class Billing(Protocol):
    """The billing interface that the rest of the node uses. Every method is thread-safe."""

    def recover(self) -> None:
        """Finish what an earlier process left open. Call it before the first request."""

    def open_record(self, wallet: Address, cents: Cents | None = None) -> None:
        """Open the record of a new account's admin wallet and grant the starter credits, if any."""

    def balance(self, wallet: Address) -> Cents:
        """The credit that is not held; 0 for an unknown wallet."""

    def has_paid(self, wallet: Address) -> bool:
        """Whether this wallet ever bought credit."""

    def hold(self, wallet: Address, cents: Cents) -> Hold:
        """Reserve credit. Raises `PaymentRequired` when there is not enough."""

    def note_transaction(self, hold: Hold, transaction_hash: Hash) -> None:
        """Record the transaction that a hold pays for. Call it before the transaction is sent."""

    def settle(self, hold: Hold, cents: Cents) -> None:
        """Charge this part of a hold, at most all of it, and return the rest to the wallet."""

    def release(self, hold: Hold) -> None:
        """Return all of a hold to the wallet, because its call was refused or failed."""

    def settle_later(self, hold: Hold) -> None:
        """Charge a hold once its transaction is mined, or release it once the transaction can't be mined any more."""

    def move(self, account_hash: int, wallet: Address, new_wallet: Address) -> None:
        """Move a wallet's record to the new admin wallet of its account. A second call for it changes nothing."""

    def catch_up(self) -> None:
        """Apply account events that reached the chain without passing through this node."""

    def close(self) -> None:
        """Stop background work."""


@contextmanager
def charged(billing: Billing, wallet: Address, cents: Cents) -> Iterator[None]:
    """Charge this wallet for the block, unless the block raises. Raises `PaymentRequired`."""
    hold = billing.hold(wallet, cents)
    try:
        with told_before_sending(lambda transaction_hash: billing.note_transaction(hold, transaction_hash)):
            yield
    except OutcomeUnknown:
        billing.settle_later(hold)
        raise
    except BaseException:
        billing.release(hold)
        raise
    billing.settle(hold, cents)
