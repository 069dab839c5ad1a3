"""Buying credits: intents at the provider, and the ledger's credit once the provider says that one was paid.

Specification: "Billing". Credit is given for an intent of this node alone, to the wallet that it was made for, once,
and only where everything that the provider says of it agrees with what was recorded when it was made.
"""

from __future__ import annotations

import logging
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
from reference_node.problems import NotFound, PaymentRequired, ProviderTrouble

T = TypeVar("T")

LOG = logging.getLogger("reference_node.billing")

AT_ONCE = 16
"""How many requests may wait for the provider at once; no other request of the node does."""

PAUSES = (1.0, 5.0, 30.0, 120.0)
"""Seconds before what goes on beside the requests is tried again, the last one from then on."""

CLOSE_SECONDS = 1.0
"""How long the node's end waits for a request to the provider that is under way."""

TROUBLE = ("payment-provider-unavailable", "the payment provider does not answer as it should; nothing was charged")
"""Code and detail of the problem that callers are told of."""

NEVER_PAID = frozenset({"canceled"})
"""What an intent does not come back from."""


class Payments:
    """The payments of one node."""

    def __init__(self, ledger: Ledger, provider: PaymentProvider) -> None:
        self._ledger = ledger
        self._provider = provider
        self._closed = threading.Event()
        self._wanted = threading.Event()
        self._starting = threading.Lock()
        self._beside: threading.Thread | None = None
        self._to_sweep: deque[Intent] = deque()
        self.patience = Patience(AT_ONCE)
        """Where requests wait for the provider, apart from all others."""

    @property
    def publishable_key(self) -> str:
        """What a browser identifies the provider's account by."""
        return self._provider.publishable_key

    def create(self, wallet: Address, cents: Cents) -> str:
        """A new intent over so many cents: the secret with which a browser pays it. Raises `ProviderTrouble`."""
        try:
            customer, (intent, secret) = self._with_customer(
                wallet, lambda customer: self._provider.create_intent(customer, wallet.hex(), cents)
            )
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

    def _with_customer(self, wallet: Address, act: Callable[[str], T]) -> tuple[str, T]:
        """Do something with this wallet's customer, with another where the provider no longer has the one noted."""
        customer = self._ledger.customer(wallet)
        if customer is None:
            customer = self._ledger.note_customer(wallet, self._provider.create_customer(wallet.hex()))
        try:
            return customer, act(customer)
        except Missing:
            fresh = self._provider.create_customer(wallet.hex())
            customer = self._ledger.replace_customer(wallet, customer, fresh)
            return customer, act(customer)

    # What goes on beside the requests

    def forward_email(self, wallet: Address, email: str) -> None:
        """Tell the provider a new account's e-mail address, without having the account wait for it."""
        self._ledger.note_email(wallet, email)
        self._start()

    def recover(self) -> None:
        """Credit what was paid while the node was away, and forward the addresses that are still to be told."""
        self._to_sweep.extend(self._ledger.open_intents())
        self._start()

    def give_up(self) -> None:
        """Have all requests that wait for the provider fail; called in the thread of the event loop."""
        self.patience.give_up(ProviderTrouble(*TROUBLE))

    def close(self) -> None:
        """End what goes on beside the requests; the next start takes it up."""
        self._closed.set()
        self._wanted.set()
        if self._beside:
            self._beside.join(CLOSE_SECONDS)

    def _start(self) -> None:
        self._wanted.set()
        with self._starting:
            if self._beside is None:
                self._beside = threading.Thread(target=self._go_on, name="payments", daemon=True)
                self._beside.start()

    def _go_on(self) -> None:
        """Do what is wanted; where provider or ledger fail, again after a pause."""
        failures = 0
        while self._wanted.wait() and not self._closed.is_set():
            self._wanted.clear()
            if self._tried(self._sweep) & self._tried(self._forward_emails):
                failures = 0
            else:
                self._closed.wait(PAUSES[min(failures, len(PAUSES) - 1)])
                self._wanted.set()
                failures += 1

    def _tried(self, errand: Callable[[], None]) -> bool:
        try:
            errand()
        except (ProviderUnavailable, LedgerUnavailable) as fault:
            LOG.warning("what waits for the payment provider is tried again later: %s", fault)
            return False
        return True

    def _sweep(self) -> None:
        while self._to_sweep and not self._closed.is_set():
            intent = self._to_sweep[0]
            self._to_sweep.rotate(-1)  # one that always fails keeps no other from its credit
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
    return ProviderTrouble(*TROUBLE)
