"""Credits: what a management write or a run has to hold before it happens (specification, "Billing").

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
    """Credit set aside for one call, until it is settled or released."""

    id: str
    wallet: Address
    """Whose credit it was when it was set aside; the record may have moved since."""
    cents: Cents


class Billing(Protocol):
    """What the rest of the node asks of billing. Every method is safe to call from many threads at once."""

    def recover(self) -> None:
        """Take up what an earlier process left, before the first request."""

    def open_record(self, wallet: Address) -> None:
        """Begin the record of a new account's admin wallet, with the starter credits where there are any."""

    def balance(self, wallet: Address) -> Cents:
        """The credit left, in cents, without what is held; 0 for a wallet never heard of."""

    def has_paid(self, wallet: Address) -> bool:
        """Whether any of the credit of this wallet was ever bought."""

    def hold(self, wallet: Address, cents: Cents) -> Hold:
        """Set credit aside; raises `PaymentRequired` when there is not enough."""

    def note_transaction(self, hold: Hold, transaction_hash: Hash) -> None:
        """Remember the transaction that a hold pays for, before it is sent."""

    def settle(self, hold: Hold, cents: Cents) -> None:
        """Charge so much of a hold, at most all of it, and give the rest back."""

    def release(self, hold: Hold) -> None:
        """Give all of a hold back: the call it was for was refused or failed."""

    def settle_later(self, hold: Hold) -> None:
        """Charge a hold once its transaction has landed, or give it back once that is certain not to happen."""

    def move(self, account_hash: int, wallet: Address, new_wallet: Address) -> None:
        """Add a record to that of the wallet that has become its account's admin, once for each account."""

    def catch_up(self) -> None:
        """Take into account what happened to accounts on the chain past this node."""

    def close(self) -> None:
        """End what goes on beside the requests."""


@contextmanager
def charged(billing: Billing, wallet: Address, cents: Cents) -> Iterator[None]:
    """Charge this wallet for what happens inside, unless that fails. Raises `PaymentRequired`."""
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
