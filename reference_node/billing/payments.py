"""Sells credits: creates payment intents at the provider, and credits the ledger for those that are paid.

Specification: "Billing". An intent is credited once, to the wallet it was created for, and only if this node created it
and the provider's data matches the node's record.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from reference_node.billing import Cents
from reference_node.billing.database import LedgerUnavailable
from reference_node.billing.ledger import Intent, Ledger
from reference_node.billing.patience import Patience
from reference_node.billing.provider import CURRENCY, Missing, Payment, PaymentProvider, ProviderUnavailable, Refused
from reference_node.chain.interface import Address
from reference_node.log_limit import limited_logger
from reference_node.problems import NotFound, PaymentRequired, ProviderTrouble

T = TypeVar("T")

LOG = limited_logger("reference_node.billing")

AT_ONCE = 16
"""How many requests may wait for the provider at once."""

PAUSES = (1.0, 5.0, 30.0, 120.0)
"""Seconds before each retry of background work; the last value repeats."""

CLOSE_SECONDS = 1.0
"""How long shutdown waits for a pending request to the provider."""

TROUBLE = ("payment-provider-unavailable", "the payment provider does not answer as it should; nothing was charged")
"""Code and detail of the problem document when the provider fails."""

NEVER_PAID = frozenset({"canceled"})
"""Final states in which an intent can't be paid any more."""


class Payments:
    """The payments of one node."""

    def __init__(self, ledger: Ledger, provider: PaymentProvider) -> None:
        self._ledger = ledger
        self._provider = provider
        self._closed = threading.Event()
        self._wanted = threading.Event()
        self._starting = threading.Lock()
        self._worker: threading.Thread | None = None
        self._to_sweep: deque[Intent] = deque()
        self.patience = Patience(AT_ONCE)
        """Runs the requests that wait for the provider, apart from all others."""

    @property
    def publishable_key(self) -> str:
        """The key with which a browser identifies the provider's account."""
        return self._provider.publishable_key

    def create(self, wallet: Address, cents: Cents) -> str:
        """Create an intent for this amount and return the client secret that pays it. Raises `ProviderTrouble`."""
        try:
            customer, (intent, secret) = self._with_customer(
                wallet, lambda customer: self._provider.create_intent(customer, wallet.hex(), cents)
            )
        except (ProviderUnavailable, Refused) as fault:
            raise _trouble(fault) from fault
        self._ledger.note_intent(wallet, intent, customer, cents, CURRENCY)
        return secret

    def confirm(self, wallet: Address, intent_id: str) -> None:
        """Credit this wallet for a paid intent of its own. Confirming it again changes nothing.

        Raises `NotFound` for any other intent, `PaymentRequired` for one that is not paid, and `ProviderTrouble`.
        """
        intent = self._ledger.intent(intent_id)
        if intent is None or intent.wallet != wallet:
            raise NotFound("unknown-payment-intent", "no payment intent of this account has this id")
        if intent.state == "credited":
            return
        try:
            reason = self._settled(intent)
        except ProviderUnavailable as fault:
            raise _trouble(fault) from fault
        if reason:
            raise PaymentRequired("payment-incomplete", f"the payment intent is not paid: {reason}")

    def _settled(self, intent: Intent) -> str | None:
        """Credit a paid intent, or return the reason why it is not paid. Raises `ProviderUnavailable`."""
        payment = self._provider.look_up(intent.id)
        if payment is None:
            return "the provider knows it no more"
        reason = why_not_paid(intent, payment)
        if reason is None:
            self._ledger.credit(intent.id)
        elif payment.status in NEVER_PAID:
            self._ledger.abandon(intent.id)
        return reason

    def _with_customer(self, wallet: Address, act: Callable[[str], T]) -> tuple[str, T]:
        """Call `act` with this wallet's customer; create a new customer if the provider has none or has deleted it."""
        customer = self._ledger.customer(wallet)
        if customer is None:
            customer = self._ledger.note_customer(wallet, self._provider.create_customer(wallet.hex()))
        try:
            return customer, act(customer)
        except Missing:
            fresh = self._provider.create_customer(wallet.hex())
            customer = self._ledger.replace_customer(wallet, customer, fresh)
            return customer, act(customer)

    # Background work

    def forward_email(self, wallet: Address, email: str) -> None:
        """Send a new account's e-mail address to the provider, in the background."""
        self._ledger.note_email(wallet, email)
        self._start()

    def recover(self) -> None:
        """Credit intents that were paid while the node was down, and forward pending e-mail addresses."""
        self._to_sweep.extend(self._ledger.open_intents())
        self._start()

    def give_up(self) -> None:
        """Fail all requests that wait for the provider. Call it in the event loop's thread."""
        self.patience.give_up(ProviderTrouble(*TROUBLE))

    def close(self) -> None:
        """Stop background work. The next start resumes it."""
        self._closed.set()
        self._wanted.set()
        if self._worker:
            self._worker.join(CLOSE_SECONDS)
        self._provider.close()

    def _start(self) -> None:
        self._wanted.set()
        with self._starting:
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="payments", daemon=True)
                self._worker.start()

    def _work(self) -> None:
        """Sweep and forward whenever asked to. When the provider or the ledger fails, retry after a pause."""
        failures = 0
        while self._wanted.wait() and not self._closed.is_set():
            self._wanted.clear()
            if all([self._tried(self._sweep), self._tried(self._forward_emails)]):
                failures = 0
            else:
                self._closed.wait(PAUSES[min(failures, len(PAUSES) - 1)])
                self._wanted.set()
                failures += 1

    def _tried(self, task: Callable[[], None]) -> bool:
        try:
            task()
        except (ProviderUnavailable, LedgerUnavailable) as fault:
            LOG.warning("what waits for the payment provider is tried again later: %s", fault)
            return False
        return True

    def _sweep(self) -> None:
        while self._to_sweep and not self._closed.is_set():
            intent = self._to_sweep[0]
            self._to_sweep.rotate(-1)  # an intent that always fails must not block the others
            self._settled(intent)
            self._to_sweep.remove(intent)

    def _forward_emails(self) -> None:
        emails = self._ledger.emails()
        for wallet, email in emails:
            if self._closed.is_set():
                return
            try:
                self._with_customer(wallet, partial(self._provider.set_email, email=email))
            except Refused:
                LOG.warning("the provider does not take the e-mail address of the wallet %s", wallet.hex())
            self._ledger.forget_email(wallet, email)
        if emails:
            self._ledger.empty_log()


def why_not_paid(intent: Intent, payment: Payment) -> str | None:
    """The first way in which the provider's data rules out credit for this intent; `None` if it is to be credited."""
    charge = payment.charge
    faults = {
        f"its status is {payment.status}": payment.status != "succeeded",
        "it was made for another amount": payment.amount != intent.cents,
        "it was not received in full": payment.amount_received != intent.cents,
        "it is in another currency": payment.currency != intent.currency,
        "it is no test payment": payment.live,
        "it is another customer's": payment.customer != intent.customer,
        "it was made for another wallet": payment.wallet != intent.made_for.hex(),
        "it was never charged": charge is None or not charge.paid,
        "it was not captured in full": charge is None or not charge.captured or charge.amount_captured != intent.cents,
        "it was refunded": charge is not None and (charge.refunded or charge.amount_refunded > 0),
        "it is disputed": charge is not None and charge.disputed,
    }
    return next((reason for reason, holds in faults.items() if holds), None)


def _trouble(fault: Exception) -> ProviderTrouble:
    LOG.warning("the payment provider failed a request: %s", fault)
    return ProviderTrouble(*TROUBLE)
