"""Buys credits as a browser does: creates an intent, pays it in the provider's test mode, and confirms it.

Specification: "Billing". The publishable key and the intent's client secret suffice to pay; no secret of the vendor is
needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from urllib.parse import quote, urlencode

from conformance.endpoints.messages import Answer, Message
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import (
    LivePayments,
    Malformed,
    NotAccepted,
    ProfileSilent,
    ProviderLacksIntent,
    ProviderRefusesKey,
    ProviderTrouble,
    SetupFailed,
)
from conformance.profile.wire_flows import BillingFields
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.envelopes import billing_auth
from conformance.service.reads import Read
from conformance.service.refusal import ILL_FORMED, was_accepted
from conformance.service.session import Session
from conformance.service.suite_wallet import SuiteWallet
from conformance.values.ids import Cents
from conformance.values.json_text import parse
from conformance.values.json_values import member, printed

BOUGHT_CENTS = Cents(5_000)
"""The credit bought for an account, more than any case spends."""

USUAL_CENTS = Cents(600)
"""The amount in cases that are not about amounts, above the minimum payment ("Limits")."""

NOT_PAID = 402

BOUGHT = frozenset({"succeeded", "processing"})
"""The states of an intent in which money has been taken, or may yet be."""

UNITS = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?")

SHOWN = 300

NO_SUCH_INTENT = ("not_found", "forbidden", "insufficient_credit", *ILL_FORMED)
"""The refusal classes of an unknown intent or one of another account."""

NOT_YET_PAID = ("insufficient_credit", "conflict", "not_found", *ILL_FORMED)
"""The refusal classes of an unpaid intent of the account."""

TROUBLE = {401: ProviderRefusesKey, 404: ProviderLacksIntent}
"""By the provider's answer to who pays an intent."""


@dataclass(frozen=True)
class PaymentIntent:
    """An intent that the node created."""

    id: str
    client_secret: str
    cents: Cents
    accepted: Accepted
    """The control for refusals of `create_payment_intent`."""


class Payments:
    """Payments and balances with an account's key or a wallet's proof."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def publishable_key(self) -> str:
        """The provider's publishable key, asked for once in a run. LivePayments: it would move real money.

        SetupFailed: the node gives none.
        """
        return self._session.target.remembered("publishable key", self._publishable_key)

    def _publishable_key(self) -> str:
        answer = self._session.send(self._session.request("stripe_config"))
        key = member(answer.value, "publishable_key") if answer.accepted and answer.readable else None
        if not isinstance(key, str) or not key:
            expected = "a publishable key of the payment provider in the answer of stripe_config"
            raise SetupFailed(expected, f"status {answer.status}: {answer.text[:SHOWN]}", answer.exchange)
        if "_live_" in key:
            raise LivePayments("a publishable key of test mode", "one of live mode, so nothing was bought")
        return key

    def balance(self, key: str) -> Cents:
        """The credit left in cents, positive where there is any."""
        answer = self._session.call("balance", key)
        return self._cents(answer)

    def unchanged_balance(self, key: str) -> Read:
        """The balance, as a read that a refused call leaves unchanged."""
        return Read("the balance", lambda: self.balance(key), f"balance {key}")

    def unchanged_balance_by(self, wallet: SuiteWallet) -> Read:
        """The balance of a wallet's record, as a read that a refused call leaves unchanged."""
        name = f"the balance of the wallet {wallet.address}"
        return Read(name, lambda: self.balance_by(self.by_wallet("balance", wallet)), name)

    def uncredited_balance(self, key: str) -> Read:
        """The highest balance so far, as a read that a call without credit leaves unchanged, whatever it costs."""
        seen: list[Cents] = []

        def highest() -> Cents:
            seen.append(self.balance(key))
            return max(seen)

        return Read("the highest balance so far", highest, f"highest balance {key} {id(seen)}")

    def by_wallet(self, operation: str, wallet: SuiteWallet, **members: object) -> OutgoingRequest:
        """A billing request that authenticates by a fresh proof of the wallet."""
        if operation != "balance":
            self.publishable_key()
        request = self._session.request(operation, **members)
        return replace(request, headers=billing_auth(self._session, wallet))

    def balance_by(self, request: OutgoingRequest) -> Cents:
        """The balance that a request with its own authentication reads."""
        answer, _ = self._session.accept(request)
        return self._cents(answer)

    def credit_by(self, wallet: SuiteWallet) -> Cents:
        """The credit that a wallet's proof shows: none where it is refused, as that of an unknown wallet may be."""
        answer = self._session.send(self.by_wallet("balance", wallet))
        return self._cents(answer) if was_accepted(self._session, answer, or_refused=["any"]) else Cents(0)

    def _cents(self, answer: Answer) -> Cents:
        fields = self._session.profile.wire.billing.fields
        if fields is None:
            raise ProfileSilent("a profile that says wire.billing.fields", "a profile that leaves it out")
        cents = _in_cents(member(answer.value, "balance_cents"), fields)
        if cents is None:
            raise Malformed("a balance in whole cents", printed(answer.value)[:SHOWN], answer.exchange)
        return cents if fields.positive_is_credit else Cents(-cents)

    def intent_request(self, key: str | None, cents: object) -> OutgoingRequest:
        """A request of `create_payment_intent`. LivePayments: it would be for real money."""
        self.publishable_key()
        return self._session.request("create_payment_intent", key, amount_cents=cents)

    def affords(self, cents: Cents) -> bool:
        """Whether the run may still buy so much: it states a limit of its own above it, or none."""
        budgets = (self._session.target.budget, self._session.target.purchases)
        return all(budget.left is None or budget.left >= cents for budget in budgets)

    def intend(self, key: str, cents: Cents = USUAL_CENTS) -> PaymentIntent:
        """A new intent."""
        return self.intend_by(self.intent_request(key, cents), cents)

    def intend_where_taken(self, key: str, cents: Cents) -> PaymentIntent | None:
        """A new intent; None where the node refuses so much: the specification states no largest amount."""
        request = self.intent_request(key, cents)
        answer = self._session.send(request)
        taken = was_accepted(self._session, answer, or_refused=["any"])
        return self.intent_in(answer, request, cents) if taken else None

    def intend_by(self, request: OutgoingRequest, cents: Cents) -> PaymentIntent:
        """Create an intent with this request."""
        answer, _ = self._session.accept(request)
        return self.intent_in(answer, request, cents)

    def intent_in(self, answer: Answer, request: OutgoingRequest, cents: Cents) -> PaymentIntent:
        """The intent that the accepted answer to a request holds."""
        secret = member(answer.value, "client_secret")
        if not isinstance(secret, str) or not secret.partition("_secret_")[1]:
            got = printed(answer.value)[:SHOWN]
            raise Malformed("a client_secret that holds the intent's id", got, answer.exchange)
        accepted = Accepted(request.operation.name, request)
        return PaymentIntent(secret.partition("_secret_")[0], secret, cents, accepted)

    def pay(self, intent: PaymentIntent, method: str | None = None) -> str:
        """Pay an intent with a test payment method; the status that the provider then gives it.

        A declined payment leaves `requires_payment_method`. ProviderTrouble: the provider gave no such answer.
        """
        target, log = self._session.target, self._session.log
        form = {
            "client_secret": intent.client_secret,
            "payment_method": method or self._session.profile.payments.methods.succeeds,
        }
        target.purchase(intent.cents, log)
        status = "unknown"
        try:
            status = self._asked_provider("POST", intent, "/confirm", form)["status"]
        finally:
            if status not in BOUGHT:
                target.purchase(-intent.cents, log)
        return status

    def must_pay(self, intent: PaymentIntent) -> None:
        """Pay an intent. ProviderTrouble: the payment does not succeed."""
        status = self.pay(intent)
        if status != "succeeded":
            raise ProviderTrouble("a payment that succeeds", f"one whose status is {status}")

    def at_provider(self, intent: PaymentIntent) -> dict[str, str]:
        """The intent as the provider shows it to the browser that pays it: `status`, `amount` in cents, `currency`."""
        return self._asked_provider("GET", intent, "", {"client_secret": intent.client_secret})

    def _asked_provider(self, method: str, intent: PaymentIntent, path: str, form: Mapping[str, str]) -> dict[str, str]:
        provider = printed(self._session.stated("payments.provider_url"))
        url = f"{provider}/v1/payment_intents/{quote(intent.id, safe='', errors='surrogatepass')}{path}"
        headers = {"Authorization": f"Bearer {self.publishable_key()}"}
        if method == "GET":
            message = Message(method, f"{url}?{urlencode(form)}", headers, None)
        else:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            message = Message(method, url, headers, urlencode(form))
        return _intent_in(self._session.target.exchange(message, self._session.log))

    def confirm_request(self, key: str | None, intent_id: object) -> OutgoingRequest:
        """A request of `confirm_payment`."""
        return self._session.request("confirm_payment", key, payment_intent_id=intent_id)

    def confirm(self, key: str, intent: PaymentIntent) -> Accepted:
        """Confirm a paid intent. Returns the control for refusals of `confirm_payment`."""
        accepted = self.confirm_by(self.confirm_request(key, intent.id))
        self.wait_for_credit()
        return accepted

    def wait_for_credit(self) -> None:
        """Wait as long as the credit of a confirmed payment may take to show."""
        self._session.target.pause(self._session.profile.payments.credited_within_seconds)

    def paid_intent(self, key: str, cents: Cents = USUAL_CENTS) -> PaymentIntent:
        """A new intent that is paid and not confirmed yet."""
        intent = self.intend(key, cents)
        self.must_pay(intent)
        return intent

    def intend_by_wallet(self, wallet: SuiteWallet, cents: Cents = USUAL_CENTS) -> PaymentIntent:
        """A new intent by the proof of a wallet."""
        return self.intend_by(self.by_wallet("create_payment_intent", wallet, amount_cents=cents), cents)

    def confirm_by_wallet(self, wallet: SuiteWallet, intent: PaymentIntent) -> Accepted:
        """Confirm a paid intent by the proof of a wallet."""
        accepted = self.confirm_by(self.by_wallet("confirm_payment", wallet, payment_intent_id=intent.id))
        self.wait_for_credit()
        return accepted

    def buy_by_wallet(self, wallet: SuiteWallet) -> PaymentIntent:
        """Buy credit for the record that a wallet holds."""
        intent = self.intend_by_wallet(wallet, USUAL_CENTS)
        self.must_pay(intent)
        self.confirm_by_wallet(wallet, intent)
        return intent

    def confirm_by(self, request: OutgoingRequest) -> Accepted:
        """Confirm a paid intent with this request. Here 402 means an unpaid intent, not a lack of credit."""
        answer = self._session.send(request)
        if answer.status == NOT_PAID:
            raise NotAccepted("a paid intent to be confirmed", f"status 402: {answer.text[:SHOWN]}", answer.exchange)
        must_accept(answer)
        return Accepted(request.operation.name, request)

    def usual_credit(self, key: str) -> Cents:
        """The credit that a usual payment adds, the control of cases about special payments.

        It pays twice. SetupFailed: the two payments add different credit.
        """
        balances = [self.balance(key)]
        for _ in range(2):
            self.buy(key, USUAL_CENTS)
            balances.append(self.balance(key))
        first, second = (after - before for before, after in pairwise(balances))
        if not first == second > 0:
            raise SetupFailed("two usual payments that add the same credit", printed(balances))
        return Cents(first)

    def buy(self, key: str, cents: Cents = BOUGHT_CENTS) -> PaymentIntent:
        """Buy credit for an account: intent, payment and confirmation."""
        intent = self.paid_intent(key, cents)
        self.confirm(key, intent)
        return intent


def _in_cents(stated: object, fields: BillingFields) -> Cents | None:
    """A balance in cents, from what the node shows in the profile's form; None where it is none."""
    if fields.balance_form == "cents":
        return Cents(stated) if isinstance(stated, int) and not isinstance(stated, bool) else None
    if not isinstance(stated, str) or not UNITS.fullmatch(stated):
        return None
    cents = Decimal(stated) * 100
    return Cents(int(cents)) if cents == cents.to_integral_value() else None


def _intent_in(answer: Answer) -> dict[str, str]:
    """The intent in the provider's answer, also after a declined payment. ProviderTrouble: the answer holds none."""
    try:
        body = parse(answer.text)
    except ValueError:
        body = None
    shown = body if answer.accepted else member(member(body, "error"), "payment_intent")
    intent = {name: printed(member(shown, name)) for name in ("status", "amount", "currency")}
    if not isinstance(member(shown, "status"), str):
        got = f"status {answer.status} of the provider: {answer.text[:SHOWN]}"
        trouble = TROUBLE.get(answer.status, ProviderTrouble)
        raise trouble("a payment intent with its status", got, answer.exchange)
    return intent
