"""Buying credits: intents at the provider, and the ledger's credit once the provider says that one was paid.

Specification: "Billing". Credit is given for an intent of this node alone, to the wallet that it was made for, once,
and only where everything that the provider says of it agrees with what was recorded when it was made.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from anyio import CapacityLimiter

from reference_node.billing.ledger import Intent, Ledger
from reference_node.billing.provider import CURRENCY, Payment, PaymentProvider, ProviderUnavailable, Refused
from reference_node.chain.interface import Address
from reference_node.problems import NotFound, PaymentRequired, ProviderTrouble

LOG = logging.getLogger("reference_node.billing")

THREADS = 16
"""How many requests may wait for the provider at once; no other request of the node does."""

EMAIL_PAUSES = (0.0, 1.0, 5.0, 30.0, 120.0)
"""Seconds before each try to forward an e-mail address; then the next start of the node tries again."""

NEVER_PAID = frozenset({"canceled"})
"""What an intent does not come back from."""


class Payments:
    """The payments of one node."""

    def __init__(self, ledger: Ledger, provider: PaymentProvider) -> None:
        self._ledger = ledger
        self._provider = provider
        self._closed = threading.Event()
        self._beside: list[threading.Thread] = []
        self.threads = CapacityLimiter(THREADS)
        """Where requests wait for the provider, apart from all others."""

    @property
    def publishable_key(self) -> str:
        """What a browser identifies the provider's account by."""
        return self._provider.publishable_key

    def create(self, wallet: Address, cents: int) -> str:
        """A new intent over so many cents: the secret with which a browser pays it. Raises `ProviderTrouble`."""
        try:
            customer = self._customer(wallet)
            intent, secret = self._provider.create_intent(customer, wallet.hex(), cents)
        except (ProviderUnavailable, Refused) as fault:
            raise _trouble(fault) from fault
        self._ledger.note_intent(wallet, intent, customer, cents, CURRENCY)
        return secret

    def confirm(self, wallet: Address, intent_id: str) -> None:
        """Credit this wallet for a paid intent of its own; one that has been credited is credited no more.

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
        """Credit an intent that is paid; else why it is not. Raises `ProviderUnavailable`."""
        payment = self._provider.look_up(intent.id)
        if payment is None:
            return "the provider knows it no more"
        reason = why_not_paid(intent, payment)
        if reason is None:
            self._ledger.credit(intent.id)
        elif payment.status in NEVER_PAID:
            self._ledger.abandon(intent.id)
        return reason

    def _customer(self, wallet: Address) -> str:
        known = self._ledger.customer(wallet)
        return known or self._ledger.note_customer(wallet, self._provider.create_customer(wallet.hex()))

    # What goes on beside the requests

    def forward_email(self, wallet: Address, email: str) -> None:
        """Tell the provider a new account's e-mail address, without having the account wait for it."""
        self._ledger.note_email(wallet, email)
        self._start(self._forward_emails)

    def recover(self) -> None:
        """Credit what was paid while the node was away, and forward the addresses that are still to be told."""
        self._start(self._sweep)
        self._start(self._forward_emails)

    def close(self) -> None:
        """End what goes on beside the requests; the next start takes it up."""
        self._closed.set()
        for thread in self._beside:
            thread.join()

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name="payments", daemon=True)
        self._beside = [*(one for one in self._beside if one.is_alive()), thread]
        thread.start()

    def _sweep(self) -> None:
        for intent in self._ledger.open_intents():
            if self._closed.is_set():
                return
            try:
                self._settled(intent)
            except ProviderUnavailable as fault:
                LOG.warning("open payments could not be looked up: %s", fault)
                return

    def _forward_emails(self) -> None:
        for pause in EMAIL_PAUSES:
            if self._closed.wait(pause) or not self._emails_left():
                return

    def _emails_left(self) -> bool:
        for wallet, email in self._ledger.emails():
            try:
                self._provider.set_email(self._customer(wallet), email)
            except Refused:
                LOG.warning("the provider does not take the e-mail address of the wallet %s", wallet.hex())
            except ProviderUnavailable as fault:
                LOG.warning("an e-mail address could not be forwarded: %s", fault)
                return True
            self._ledger.forget_email(wallet, email)
        return False


def why_not_paid(intent: Intent, payment: Payment) -> str | None:
    """Where the provider's word differs from what was recorded, so that no credit is due; `None` where it is."""
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
    return ProviderTrouble(
        "payment-provider-unavailable", "the payment provider does not answer as it should; nothing was charged"
    )
