"""Payment intents from creation to success, cancellation or capture."""

from __future__ import annotations

from typing import Any

import pytest
import stripe
from simulators import START, Caller, CheckedSimulator, refusal


def test_intent_begins_without_a_payment_method(merchant: Caller) -> None:
    customer = merchant.v1.customers.create({"email": "a@example.com"})
    intent = merchant.intent(1234, customer=customer.id, metadata={"wallet": "0x1"}, receipt_email="a@example.com")
    assert intent.status == "requires_payment_method"
    assert (intent.amount, intent.amount_received, intent.currency) == (1234, 0, "usd")
    assert (intent.customer, intent.metadata["wallet"], intent.livemode) == (customer.id, "0x1", False)
    assert intent.created == START
    assert intent.client_secret is not None
    assert intent.client_secret.startswith(f"{intent.id}_secret_")


@pytest.mark.parametrize("caller", ["merchant", "browser"])
def test_confirmation_with_a_card_succeeds(merchant: Caller, caller: str, request: pytest.FixtureRequest) -> None:
    intent = merchant.intent()
    who: Caller = request.getfixturevalue(caller)
    secret = {"client_secret": intent.client_secret or ""} if caller == "browser" else {}
    confirmed = who.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_visa", **secret})
    assert confirmed.status == "succeeded"
    found = merchant.v1.payment_intents.retrieve(intent.id, {"expand": ["latest_charge", "payment_method"]})
    charge, method = found.latest_charge, found.payment_method
    assert isinstance(charge, stripe.Charge)
    assert isinstance(method, stripe.PaymentMethod)
    assert (found.amount_received, charge.amount_captured, charge.paid, charge.refunded) == (1000, 1000, True, False)
    assert method.card is not None
    assert (method.card.brand, method.card.last4) == ("visa", "4242")


def test_confirmation_of_a_paid_intent_is_refused(merchant: Caller) -> None:
    intent = merchant.paid()
    fault = refusal(lambda: merchant.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_visa"}))
    assert (fault.http_status, fault.code) == (400, "payment_intent_unexpected_state")
    assert fault.error is not None
    assert fault.error.payment_intent is not None
    assert fault.error.payment_intent.status == "succeeded"


def test_confirmation_without_a_payment_method_is_refused(merchant: Caller) -> None:
    intent = merchant.intent()
    assert refusal(lambda: merchant.v1.payment_intents.confirm(intent.id)).code == "payment_intent_unexpected_state"


@pytest.mark.parametrize(
    ("method", "code", "decline_code"),
    [
        ("pm_card_visa_chargeDeclined", "card_declined", "generic_decline"),
        ("pm_card_visa_chargeDeclinedInsufficientFunds", "card_declined", "insufficient_funds"),
        ("pm_card_chargeDeclinedExpiredCard", "expired_card", "expired_card"),
        ("pm_card_chargeDeclinedIncorrectCvc", "incorrect_cvc", "incorrect_cvc"),
        ("pm_card_chargeDeclinedProcessingError", "processing_error", "processing_error"),
    ],
)
def test_decline_leaves_the_intent_payable(merchant: Caller, method: str, code: str, decline_code: str) -> None:
    intent = merchant.intent()
    fault = refusal(lambda: merchant.v1.payment_intents.confirm(intent.id, {"payment_method": method}))
    assert isinstance(fault, stripe.CardError)
    assert fault.error is not None
    assert (fault.http_status, fault.code, fault.error.decline_code) == (402, code, decline_code)
    declined = merchant.v1.payment_intents.retrieve(intent.id, {"expand": ["latest_charge"]})
    assert (declined.status, declined.amount_received) == ("requires_payment_method", 0)
    assert isinstance(declined.latest_charge, stripe.Charge)
    assert (declined.latest_charge.status, declined.latest_charge.failure_code) == ("failed", code)
    assert merchant.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_visa"}).status == "succeeded"


def test_three_d_secure_waits_for_the_customer(merchant: Caller) -> None:
    intent = merchant.intent()
    waiting = merchant.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_threeDSecure2Required"})
    assert (waiting.status, waiting.amount_received, waiting.latest_charge) == ("requires_action", 0, None)
    assert waiting.next_action is not None
    assert waiting.next_action.type == "use_stripe_sdk"


def test_three_d_secure_is_a_decline_off_session(merchant: Caller) -> None:
    intent = merchant.intent()
    method = "pm_card_threeDSecure2Required"
    fault = refusal(
        lambda: merchant.v1.payment_intents.confirm(intent.id, {"payment_method": method, "off_session": True})
    )
    assert (fault.http_status, fault.code) == (402, "authentication_required")


@pytest.mark.parametrize(
    ("method", "status"),
    [("pm_usBankAccount_success", "succeeded"), ("pm_usBankAccount_insufficientFunds", "requires_payment_method")],
)
def test_bank_payment_is_processed_first(
    simulator: CheckedSimulator, merchant: Caller, method: str, status: str
) -> None:
    intent = merchant.intent()
    assert merchant.v1.payment_intents.confirm(intent.id, {"payment_method": method}).status == "processing"
    assert merchant.v1.payment_intents.retrieve(intent.id).amount_received == 0
    simulator.clock.offset_seconds = simulator.processing_seconds
    settled = merchant.v1.payment_intents.retrieve(intent.id)
    assert settled.status == status
    assert settled.amount_received == (1000 if status == "succeeded" else 0)


def test_bank_payment_may_be_processed_for_ever(simulator: CheckedSimulator, merchant: Caller) -> None:
    intent = merchant.intent()
    merchant.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_usBankAccount_processing"})
    simulator.clock.offset_seconds = 10**7
    assert merchant.v1.payment_intents.retrieve(intent.id).status == "processing"


def test_redirecting_methods_need_a_return_url(merchant: Caller) -> None:
    intent = merchant.v1.payment_intents.create({"amount": 500, "currency": "usd"})
    fault = refusal(lambda: merchant.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_visa"}))
    assert fault.error is not None
    assert fault.error.param == "return_url"
    confirmed = merchant.v1.payment_intents.confirm(
        intent.id, {"payment_method": "pm_card_visa", "return_url": "https://example.com"}
    )
    assert confirmed.status == "succeeded"


def test_update_changes_an_unpaid_intent(merchant: Caller) -> None:
    customer = merchant.v1.customers.create()
    intent = merchant.intent()
    updated = merchant.v1.payment_intents.update(
        intent.id, {"amount": 2000, "currency": "eur", "customer": customer.id, "metadata": {"a": "1", "b": "2"}}
    )
    assert (updated.amount, updated.currency, updated.customer) == (2000, "eur", customer.id)
    shipping: Any = {"name": "A", "address": {"line1": "1 Street"}}
    again = merchant.v1.payment_intents.update(intent.id, {"metadata": {"a": "", "c": "3"}, "shipping": shipping})
    assert again.shipping is not None
    assert again.shipping.name == "A"
    assert again.metadata.to_dict() == {"b": "2", "c": "3"}
    assert [entry.id for entry in merchant.v1.payment_intents.list({"customer": customer.id}).data] == [intent.id]


def test_update_of_a_paid_intent_is_refused_but_for_its_description(merchant: Caller) -> None:
    intent = merchant.paid()
    fault = refusal(lambda: merchant.v1.payment_intents.update(intent.id, {"amount": 2000}))
    assert (fault.code, fault.error and fault.error.param) == ("payment_intent_unexpected_state", "amount")
    assert merchant.v1.payment_intents.update(intent.id, {"description": "late"}).description == "late"
    assert merchant.v1.payment_intents.retrieve(intent.id).amount == 1000


def test_update_gives_and_takes_the_payment_method(merchant: Caller) -> None:
    intent = merchant.intent()
    given = merchant.v1.payment_intents.update(intent.id, {"payment_method": "pm_card_visa"})
    assert given.status == "requires_confirmation"
    taken = merchant.v1.payment_intents.update(intent.id, {"payment_method": ""})
    assert (taken.status, taken.payment_method) == ("requires_payment_method", None)
    merchant.v1.payment_intents.update(intent.id, {"payment_method": "pm_card_visa"})
    assert merchant.v1.payment_intents.confirm(intent.id).status == "succeeded"


def test_cancellation_ends_an_intent(merchant: Caller) -> None:
    intent = merchant.intent()
    canceled = merchant.v1.payment_intents.cancel(intent.id, {"cancellation_reason": "abandoned"})
    assert (canceled.status, canceled.cancellation_reason, canceled.canceled_at) == ("canceled", "abandoned", START)
    assert refusal(lambda: merchant.v1.payment_intents.cancel(intent.id)).code == "payment_intent_unexpected_state"
    fault = refusal(lambda: merchant.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_visa"}))
    assert fault.code == "payment_intent_unexpected_state"


def test_capture_takes_a_part_and_releases_the_rest(merchant: Caller) -> None:
    intent = merchant.intent(capture_method="manual")
    held = merchant.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_visa"})
    assert (held.status, held.amount_capturable, held.amount_received) == ("requires_capture", 1000, 0)
    fault = refusal(lambda: merchant.v1.payment_intents.capture(intent.id, {"amount_to_capture": 1001}))
    assert fault.code == "amount_too_large"
    taken = merchant.v1.payment_intents.capture(intent.id, {"amount_to_capture": 400, "expand": ["latest_charge"]})
    assert (taken.status, taken.amount, taken.amount_capturable, taken.amount_received) == ("succeeded", 1000, 0, 400)
    assert isinstance(taken.latest_charge, stripe.Charge)
    charge = taken.latest_charge
    assert (charge.amount_captured, charge.amount_refunded, charge.refunded) == (400, 600, False)


def test_authorization_ends_after_a_week(simulator: CheckedSimulator, merchant: Caller) -> None:
    intent = merchant.paid(capture_method="manual")
    simulator.clock.offset_seconds = 7 * 24 * 3600
    ended = merchant.v1.payment_intents.retrieve(intent.id)
    assert (ended.status, ended.cancellation_reason, ended.amount_capturable) == ("canceled", "automatic", 0)


def test_declined_creation_leaves_the_intent(merchant: Caller) -> None:
    fault = refusal(lambda: merchant.intent(confirm=True, payment_method="pm_card_chargeDeclined"))
    assert fault.error is not None
    assert fault.error.payment_intent is not None
    assert merchant.v1.payment_intents.retrieve(fault.error.payment_intent.id).status == "requires_payment_method"


@pytest.mark.parametrize(
    ("members", "code", "param"),
    [
        ({"amount": 49}, "amount_too_small", "amount"),
        ({"amount": 100_000_000}, "amount_too_large", "amount"),
        ({"amount": -1}, "parameter_invalid_integer", "amount"),
        ({"amount": "1.5"}, "parameter_invalid_integer", "amount"),
        ({"currency": "xxx"}, None, "currency"),
        ({"customer": "cus_unknown"}, "resource_missing", "customer"),
        ({"payment_method": "pm_unknown"}, "resource_missing", "payment_method"),
        ({"payment_method_types": ["card"]}, "parameter_unknown", "payment_method_types"),
        (
            {"automatic_payment_methods": {"allow_redirects": "never"}},
            "parameter_missing",
            "automatic_payment_methods[enabled]",
        ),
        ({"off_session": True}, None, "off_session"),
    ],
)
def test_creation_with_a_fault_is_refused(
    merchant: Caller, members: dict[str, object], code: str | None, param: str
) -> None:
    fault = refusal(lambda: merchant.intent(**{"amount": 1000, **members}))  # type: ignore[arg-type]
    assert (fault.http_status, fault.code, fault.error and fault.error.param) == (400, code, param)
    assert merchant.v1.payment_intents.list().data == []


def test_customer_of_another_intent_cannot_lend_a_method(merchant: Caller) -> None:
    owner, other = merchant.v1.customers.create(), merchant.v1.customers.create()
    method = merchant.v1.payment_methods.create({"type": "card", "card": {"token": "tok_visa"}})
    merchant.v1.payment_methods.attach(method.id, {"customer": owner.id})
    intent = merchant.intent(customer=other.id)
    fault = refusal(lambda: merchant.v1.payment_intents.confirm(intent.id, {"payment_method": method.id}))
    assert fault.code == "payment_intent_invalid_parameter"
    assert merchant.v1.payment_intents.retrieve(intent.id).payment_method is None
