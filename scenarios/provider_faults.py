"""What the payment provider says of payments, or does not say, where the profile names a control of the provider.

Specification: "Billing", "Endpoints / Account and key management" (email), "Errors".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from conformance.cases import Judge, case
from conformance.endpoints.messages import Answer
from conformance.service import Accounts, Refusals, Session
from conformance.service.payments import NO_SUCH_INTENT, NOT_YET_PAID, PaymentIntent, Payments
from conformance.service.provider_control import KEY, ProviderControl, Trouble
from conformance.values.ids import Cents
from conformance.values.json_values import printed

BUYS = ("managed_accounts", "billing", "payment_sandbox")
CUSTOMERS = {"payments.intents_have_customer": True}
Change: TypeAlias = Callable[[ProviderControl, PaymentIntent], None]
OTHER_CURRENCY = "jpy"
UNAVAILABLE = frozenset({502, 503, 504})
"""They say that somebody else does not answer; 500 says that the node itself failed."""
EMAIL_SECONDS = 10.0
"""How long the provider may take to hear of an e-mail address."""

CHANGED_PAYMENTS: Mapping[str, Change] = {
    "refunded": lambda control, intent: control.on_intent("refund", intent),
    "disputed": lambda control, intent: control.on_intent("dispute", intent),
    "partly captured": lambda control, intent: control.on_intent("capture", intent, amount=intent.cents - 100),
    "of another currency": lambda control, intent: control.on_intent("change", intent, currency=OTHER_CURRENCY),
}
PAYMENTS_OF_OTHERS: Mapping[str, Change] = {
    "of live mode": lambda control, intent: control.on_intent("change", intent, livemode=True),
    "of another customer": lambda control, intent: control.on_intent("change", intent, another_customer=True),
}


@case("changed-payments-credit-nothing", requirements=["BILL-130"], needs=BUYS, uses=[KEY])
def changed_payments_credit_nothing(
    judge: Judge, accounts: Accounts, payments: Payments, control: ProviderControl, session: Session
) -> None:
    """A payment that was refunded, disputed, received in part or is in another currency credits nothing."""
    differs = session.profile.payments.currency != OTHER_CURRENCY
    judge.set_up(differs, f"intents in another currency than {OTHER_CURRENCY}")
    alice = accounts.new(spends=False)
    confirmed = payments.confirm(alice.key, payments.paid_intent(alice.key))
    reads = [payments.uncredited_balance(alice.key)]
    for change in CHANGED_PAYMENTS.values():
        intent = payments.paid_intent(alice.key)
        change(control, intent)
        with judge.apart("BILL-130"), Refusals(session, control=confirmed, unchanged=reads) as refusals:
            request = payments.confirm_request(alice.key, intent.id)
            refusals.send_without_effect(request, [*NOT_YET_PAID, "forbidden"])
            payments.wait_for_credit()


@case("payments-of-others-credit-nothing", requirements=["BILL-120"], needs=BUYS, uses=[KEY, CUSTOMERS])
def payments_of_others_credit_nothing(
    judge: Judge, accounts: Accounts, payments: Payments, control: ProviderControl, session: Session
) -> None:
    """A payment of live mode, of another customer or for an intent that the node did not make credits nothing."""
    alice = accounts.new(spends=False)
    confirmed = payments.confirm(alice.key, payments.paid_intent(alice.key))
    reads = [payments.uncredited_balance(alice.key)]
    strange = control.strange_intent(Cents(500))
    payments.must_pay(strange)
    intents = [strange]
    for change in PAYMENTS_OF_OTHERS.values():
        intents.append(payments.paid_intent(alice.key))
        change(control, intents[-1])
    for intent in intents:
        with judge.apart("BILL-120"), Refusals(session, control=confirmed, unchanged=reads) as refusals:
            request = payments.confirm_request(alice.key, intent.id)
            refusals.send_without_effect(request, [*NO_SUCH_INTENT, "conflict"])
            payments.wait_for_credit()


@case("processing-ends", requirements=["BILL-070", "BILL-080"], needs=BUYS, uses=[KEY, "payments.methods.processing"])
def processing_ends(
    judge: Judge, accounts: Accounts, payments: Payments, control: ProviderControl, session: Session
) -> None:
    """A payment in processing credits nothing until it has succeeded, and then its amount."""
    alice = accounts.new(spends=False)
    start = payments.balance(alice.key)
    confirmed = payments.confirm(alice.key, payments.paid_intent(alice.key))
    credit = payments.balance(alice.key) - start
    intent = payments.intend(alice.key)
    status = payments.pay(intent, session.profile.payments.methods.processing)
    judge.set_up(status == "processing", "a payment in processing")
    reads = [payments.uncredited_balance(alice.key)]
    with judge("BILL-080"), Refusals(session, control=confirmed, unchanged=reads) as refusals:
        refusals.send_without_effect(payments.confirm_request(alice.key, intent.id), NOT_YET_PAID)
        payments.wait_for_credit()
    control.on_intent("settle", intent, succeeds=True)
    with judge("BILL-070"):
        payments.confirm(alice.key, intent)
        judge.same(payments.balance(alice.key), start + 2 * credit, "the balance once the payment has succeeded")


@case("canceled-intents-credit-nothing", requirements=["BILL-080"], needs=BUYS, uses=[KEY])
def canceled_intents_credit_nothing(
    judge: Judge, accounts: Accounts, payments: Payments, control: ProviderControl, session: Session
) -> None:
    """An intent that was canceled before it was paid credits nothing."""
    alice = accounts.new(spends=False)
    confirmed = payments.confirm(alice.key, payments.paid_intent(alice.key))
    intent = payments.intend(alice.key)
    control.on_intent("cancel", intent)
    reads = [payments.uncredited_balance(alice.key)]
    with judge("BILL-080"), Refusals(session, control=confirmed, unchanged=reads) as refusals:
        refusals.send_without_effect(payments.confirm_request(alice.key, intent.id), NOT_YET_PAID)
        payments.wait_for_credit()


def must_be_honest(judge: Judge, answers: Sequence[Answer]) -> None:
    """Raise departures unless each answer refuses, or says that somebody else does not answer."""
    for answer in answers:
        honest = 400 <= answer.status < 500 or answer.status in UNAVAILABLE or answer.accepted
        told = f"{answer.status} {answer.text[:200]}"
        judge.that(honest, "a refusal, or a status that says who does not answer", told)


@case(
    "provider-does-not-answer",
    requirements=["BILL-070", "BILL-080", "BILL-100", "ERR-140"],
    needs=BUYS,
    uses=[KEY],
)
def provider_does_not_answer(
    judge: Judge, accounts: Accounts, payments: Payments, control: ProviderControl, session: Session
) -> None:
    """While the provider is down or answers nonsense nothing is credited; afterwards what was paid is credited once."""
    alice = accounts.new(spends=False)
    start = payments.balance(alice.key)
    payments.buy(alice.key, Cents(600))
    before = payments.balance(alice.key)
    unpaid, paid = payments.intend(alice.key), payments.paid_intent(alice.key)
    troubles: Sequence[tuple[Trouble, PaymentIntent]] = (("down", unpaid), ("nonsense", paid))
    answers = []
    for trouble, intent in troubles:
        with control.trouble(trouble, "/v1/payment_intents/*"):
            answers.append(session.send(payments.confirm_request(alice.key, intent.id)))
    payments.wait_for_credit()
    with judge.apart("ERR-140"):
        must_be_honest(judge, answers)
    with judge("BILL-080"):
        judge.same(payments.balance(alice.key), before, "the balance while the provider does not answer")
    with judge.apart("BILL-070"):
        confirmed = answers[1]
        judge.that(
            not confirmed.accepted, "no confirmation of a payment that is accepted without credit", confirmed.status
        )
    with judge("BILL-070"):
        payments.confirm(alice.key, paid)
        after = payments.balance(alice.key)
        judge.that(after > before, f"a balance above {before} once the payment is confirmed", after)
    with judge("BILL-100"):
        judge.same(after, 2 * before - start, "the balance after the one payment")


@case("no-intent-without-the-provider", requirements=["BILL-030", "ERR-140"], needs=BUYS, uses=[KEY])
def no_intent_without_the_provider(
    judge: Judge, accounts: Accounts, payments: Payments, control: ProviderControl, session: Session
) -> None:
    """While the provider does not answer no intent is made up, and afterwards one is made."""
    alice = accounts.new(spends=False)
    with control.trouble("down", "/v1/payment_intents"):
        answer = session.send(payments.intent_request(alice.key, 500))
    with judge.apart("ERR-140"):
        must_be_honest(judge, [answer])
    with judge("BILL-030"):
        judge.that(not answer.accepted, "no client_secret of an intent that the provider did not make", answer.status)
        intent = payments.intend(alice.key)
        judge.same(payments.at_provider(intent)["amount"], printed(intent.cents), "the amount of the next intent")


@case("slow-and-repeating-provider", requirements=["BILL-070", "BILL-100"], needs=BUYS, uses=[KEY])
def slow_and_repeating_provider(judge: Judge, accounts: Accounts, payments: Payments, control: ProviderControl) -> None:
    """A provider that is slow, or gets each request twice, has a payment credited once all the same."""
    alice = accounts.new(spends=False)
    balances = [payments.balance(alice.key)]
    payments.buy(alice.key, Cents(600))
    balances.append(payments.balance(alice.key))
    troubles: tuple[Trouble, ...] = ("twice", "slow")
    for kind in troubles:
        with control.trouble(kind, "/v1/payment_intents*"):
            intent = payments.intend(alice.key)
        payments.must_pay(intent)
        with judge("BILL-070"), control.trouble(kind, "/v1/payment_intents*"):
            payments.confirm(alice.key, intent)
        balances.append(payments.balance(alice.key))
        with judge("BILL-070"):
            judge.that(balances[-1] > balances[-2], f"a balance above {balances[-2]} after a payment", balances[-1])
    with judge("BILL-100"):
        expected = [number * balances[1] - (number - 1) * balances[0] for number in range(4)]
        judge.same(balances, expected, "the balances after each payment")


@case("email-is-forwarded", requirements=["EP-080"], needs=BUYS, uses=[KEY, CUSTOMERS])
def email_is_forwarded(judge: Judge, accounts: Accounts, payments: Payments, control: ProviderControl) -> None:
    """The provider has the e-mail address of each account that gave one, as it was given, and of no other account."""
    addresses: list[str | None] = ["First.Payer+one@example.org", None, "second@example.org"]
    made = [accounts.new(members={"email": email} if email else {}, spends=False) for email in addresses]
    intents = [payments.intend(account.key) for account in made]
    until = time.monotonic() + EMAIL_SECONDS
    while True:
        known = [control.email_of_customer(intent) for intent in intents]
        if known == addresses or time.monotonic() > until:
            break
        time.sleep(0.1)
    with judge("EP-080"):
        judge.same(known, addresses, "the e-mail addresses of the three accounts at the provider")
