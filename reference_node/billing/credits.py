"""Implements billing with the ledger: starter credits, holds, charges, and account events on the chain.

Specification: "Billing", "States and transitions / Account mode" (billing follows the admin wallet).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from reference_node.billing import Cents, Hold
from reference_node.billing.database import LedgerUnavailable
from reference_node.billing.ledger import InsufficientCredit, Ledger
from reference_node.chain.account_config import AccountConfig, AccountConverted
from reference_node.chain.interface import Address, ChainUnavailable, Hash
from reference_node.log_limit import limited_logger
from reference_node.problems import PaymentRequired

LOG = limited_logger("reference_node.billing")

BLOCKS_AT_ONCE = 5_000
"""The number of blocks that one request for events covers."""

RETRY_SECONDS = 1.0
"""Pause between two checks of transactions whose outcome is unknown."""


class Credits:
    """Implements `Billing` with a ledger."""

    def __init__(
        self, ledger: Ledger, accounts: AccountConfig, *, starter_credits: Cents, how_to_buy: str, chain_name: str
    ) -> None:
        """`how_to_buy` is the sentence that tells a refused caller how to get credit.

        `chain_name` identifies the chain in the ledger's positions.
        """
        self.ledger = ledger
        self._accounts = accounts
        self.starter_credits = starter_credits
        self._how_to_buy = how_to_buy
        self._position = f"{chain_name}:{accounts.address.hex()}"
        self._following = threading.Lock()
        self._followed: int | None = None
        self._unresolved: set[str] = set()
        self._unsettled: dict[str, tuple[Hold, Cents]] = {}
        self._closed = threading.Event()
        self._resolver: threading.Thread | None = None

    def recover(self) -> None:
        """Resolve the open holds of an earlier process and apply the chain events since then."""
        self._resolve(self.ledger.left_holds())
        self.catch_up()

    def close(self) -> None:
        """Stop checking unknown transactions. The next start resolves their holds."""
        self._closed.set()
        if self._resolver:
            self._resolver.join()

    def open_record(self, wallet: Address, cents: Cents | None = None) -> None:
        """Open a record and grant so many cents, those of a starter unless they are named."""
        self.ledger.grant(wallet, self.starter_credits if cents is None else cents)

    def balance(self, wallet: Address) -> Cents:
        """The credit that is not held."""
        return self.ledger.balance(wallet)

    def has_paid(self, wallet: Address) -> bool:
        """Whether this wallet, or one whose record was moved to it, ever bought credit."""
        return self.ledger.has_paid(wallet)

    def hold(self, wallet: Address, cents: Cents) -> Hold:
        """Reserve credit. Raises `PaymentRequired` when there is not enough even after `catch_up`."""
        try:
            return self.ledger.hold(wallet, cents)
        except InsufficientCredit:
            self.catch_up()
        try:
            return self.ledger.hold(wallet, cents)
        except InsufficientCredit as refused:
            raise PaymentRequired(
                "insufficient-credits",
                f"the account has {refused.free} cents and this call costs {cents}: {self._how_to_buy}",
            ) from None

    def note_transaction(self, hold: Hold, transaction_hash: Hash) -> None:
        """Record the transaction that a hold pays for."""
        self.ledger.note_transaction(hold, transaction_hash)

    def settle(self, hold: Hold, cents: Cents) -> None:
        """Charge this part of a hold, at most all of it, and return the rest to the wallet.

        The call has happened already, so when the ledger fails, a background thread retries until this process ends.
        The next process settles the hold by its transaction.
        """
        try:
            self.ledger.settle(hold, cents)
        except LedgerUnavailable:
            with self._following:
                self._unsettled[hold.id] = (hold, cents)
                self._start_resolver()

    def release(self, hold: Hold) -> None:
        """Return all of a hold to the wallet."""
        self.settle(hold, Cents(0))

    def settle_later(self, hold: Hold) -> None:
        """Charge a hold once its transaction is mined, or release it once the transaction can't be mined any more."""
        self._resolve([hold.id])

    def move(self, account_hash: int, wallet: Address, new_wallet: Address) -> None:
        """Move a wallet's record to another wallet, once for each account."""
        self.ledger.move(account_hash, wallet, new_wallet)

    # Account events on the chain

    def catch_up(self) -> None:
        """Apply the contract's account events since the last call: grant starter credits and move records.

        When the chain does not answer, the next call tries again.
        """
        with self._following:
            try:
                self._follow(self._accounts.chain.block_number())
            except ChainUnavailable as fault:
                LOG.warning("what happened on the chain could not be looked up: %s", fault)

    def _follow(self, newest: int) -> None:
        if newest == self._followed:
            return
        first = self.ledger.position(self._position) + 1
        while first <= newest:
            last = min(newest, first + BLOCKS_AT_ONCE - 1)
            for event in self._accounts.account_events(first, last):
                if isinstance(event, AccountConverted):
                    self.move(event.account_hash, event.former_admin_wallet, event.admin_wallet)
                elif event.managed:
                    self.open_record(event.admin_wallet)
            self.ledger.set_position(self._position, last)
            first = last + 1
        self._followed = newest

    def _resolve(self, holds: Sequence[str]) -> None:
        """Settle holds by the outcome of their transactions. A background thread retries the unknown ones."""
        staying = self._looked_up(holds)
        if staying:
            with self._following:
                self._unresolved.update(staying)
                self._start_resolver()

    def _start_resolver(self) -> None:
        if self._resolver is None:
            self._resolver = threading.Thread(target=self._keep_resolving, name="billing-resolver", daemon=True)
            self._resolver.start()

    def _looked_up(self, holds: Sequence[str]) -> Sequence[str]:
        try:
            return self.ledger.resolve(holds, self._accounts.chain.landed)
        except (ChainUnavailable, LedgerUnavailable):
            return holds

    def _keep_resolving(self) -> None:
        while not self._closed.wait(RETRY_SECONDS):
            with self._following:
                waiting, unsettled = sorted(self._unresolved), list(self._unsettled.values())
            staying = set(self._looked_up(waiting)) if waiting else set()
            settled = {hold.id for hold, cents in unsettled if self._settled(hold, cents)}
            with self._following:
                self._unresolved -= set(waiting) - staying
                for identifier in settled:
                    del self._unsettled[identifier]

    def _settled(self, hold: Hold, cents: Cents) -> bool:
        try:
            self.ledger.settle(hold, cents)
        except LedgerUnavailable:
            return False
        return True
