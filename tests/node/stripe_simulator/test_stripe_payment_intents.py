"""Payment intents from creation to success or cancellation, and what becomes of the charge."""

from __future__ import annotations

from typing import Any

import pytest
import stripe
from simulators import START, Caller, CheckedSimulator, refusal


def test_intent_begins_without_a_payment_method(merchant: Caller) -> None:
    customer = merchant.v1.customers.create({"email": "a@example.com"})
    shown = {"description": "credits", "receipt_email": "a@example.com", "statement_descriptor_suffix": "CREDITS"}
    intent = merchant.intent(1234, customer=customer.id, metadata={"wallet": "0x1"}, **shown)
    assert intent.status == "requires_payment_method"
    assert (intent.amount, intent.amount_received, intent.currency) == (1234, 0, "usd")
    assert (intent.customer, intent.metadata["wallet"]) == (customer.id, "0x1")
    assert {name: intent[name] for name in shown} == shown
    assert (intent.created, intent.livemode) == (START, False)
    assert (intent.client_secret or "").startswith(f"{intent.id}_secret_")
    assert refusal(lambda: merchant.v1.payment_intents.confirm(intent.id)).code == "payment_intent_unexpected_state"
    assert [entry.id for entry in merchant.v1.payment_intents.list({"customer": customer.id}).data] == [intent.id]


def test_metadata_note_what_became_of_an_intent(merchant: Caller) -> None:
    intent = merchant.intent(metadata={"wallet": "0x1"}, description="credits", payment_method="pm_card_visa")
    merchant.v1.payment_intents.confirm(intent.id)
    noted = merchant.v1.payment_intents.update(intent.id, {"metadata": {"credited": "yes"}})
    assert (noted.metadata.to_dict(), noted.description) == ({"wallet": "0x1", "credited": "yes"}, "credits")
    fault = refusal(lambda: merchant.v1.payment_intents.update(intent.id, {"amount": 2000}))
    assert (fault.code, fault.param) == ("parameter_unknown", "amount")


def test_confirmation_with_a_card_succeeds_once(merchant: Caller) -> None:
    intent = merchant.intent(payment_method="pm_card_visa")
    assert intent.status == "requires_confirmation"
    assert merchant.v1.payment_intents.confirm(intent.id).status == "succeeded"
    found = merchant.found(intent, "latest_charge", "payment_method")
    charge, method = found.latest_charge, found.payment_method
    assert (found.amount_received, charge.amount_captured, charge.paid, charge.refunded) == (1000, 1000, True, False)
    assert (method.card.brand, method.card.last4) == ("visa", "4242")
    fault = refusal(lambda: merchant.confirm(intent))
    assert (fault.http_status, fault.code) == (400, "payment_intent_unexpected_state")
    assert (fault.error and fault.error.payment_intent and fault.error.payment_intent.status) == "succeeded"


@pytest.mark.parametrize(
    ("method", "code", "decline_code"),
    [
        ("pm_card_visa_chargeDeclined", "card_declined", "generic_decline"),
        ("pm_card_visa_chargeDeclinedInsufficientFunds", "card_declined", "insufficient_funds"),
        ("pm_card_visa_chargeDeclinedLostCard", "card_declined", "lost_card"),
        ("pm_card_chargeDeclinedExpiredCard", "expired_card", "expired_card"),
        ("pm_card_chargeDeclinedIncorrectCvc", "incorrect_cvc", "incorrect_cvc"),
        ("pm_card_chargeDeclinedProcessingError", "processing_error", "processing_error"),
    ],
)
def test_decline_leaves_the_intent_payable(merchant: Caller, method: str, code: str, decline_code: str) -> None:
    intent = merchant.intent()
    fault = refusal(lambda: merchant.confirm(intent, method))
    assert isinstance(fault, stripe.CardError)
    assert fault.error is not None
    assert (fault.http_status, fault.code, fault.error.decline_code) == (402, code, decline_code)
    declined = merchant.found(intent, "latest_charge")
    assert (declined.status, declined.amount_received) == ("requires_payment_method", 0)
    assert (declined.latest_charge.status, declined.latest_charge.failure_code) == ("failed", code)
    assert merchant.confirm(intent).status == "succeeded"


@pytest.mark.parametrize(
    ("method", "status", "received"),
    [
        ("pm_usBankAccount_success", "succeeded", 1000),
        ("pm_usBankAccount_insufficientFunds", "requires_payment_method", 0),
        ("pm_usBankAccount_processing", "processing", 0),
    ],
)
def test_bank_payment_is_processed_first(
    simulator: CheckedSimulator, merchant: Caller, method: str, status: str, received: int
) -> None:
    intent = merchant.confirm(merchant.intent(), method)
    simulator.clock.offset_seconds = simulator.processing_seconds - 0.1
    before = merchant.found(intent)
    assert (intent.status, before.status, before.amount_received) == ("processing", "processing", 0)
    simulator.clock.offset_seconds = simulator.processing_seconds
    after = merchant.found(intent)
    assert (after.status, after.amount_received) == (status, received)


def test_bank_account_pays_in_dollars_alone(merchant: Caller) -> None:
    intent = merchant.intent(currency="eur")
    fault = refusal(lambda: merchant.confirm(intent, "pm_usBankAccount_success"))
    assert (fault.code, fault.error and fault.error.param) == ("payment_intent_invalid_parameter", "payment_method")


def test_redirecting_methods_need_a_return_url(merchant: Caller) -> None:
    intent = merchant.v1.payment_intents.create({"amount": 500, "currency": "usd"})
    fault = refusal(lambda: merchant.confirm(intent))
    assert (fault.error and fault.error.param) == "return_url"
    assert merchant.confirm(intent, return_url="https://example.com").status == "succeeded"


def test_cancellation_ends_an_intent(merchant: Caller) -> None:
    intent = merchant.intent()
    canceled = merchant.v1.payment_intents.cancel(intent.id, {"cancellation_reason": "abandoned"})
    assert (canceled.status, canceled.cancellation_reason, canceled.canceled_at) == ("canceled", "abandoned", START)
    for refused in (lambda: merchant.v1.payment_intents.cancel(intent.id), lambda: merchant.confirm(intent)):
        assert refusal(refused).code == "payment_intent_unexpected_state"


def test_declined_creation_leaves_the_intent(merchant: Caller) -> None:
    fault: Any = refusal(lambda: merchant.intent(confirm=True, payment_method="pm_card_chargeDeclined"))
    assert merchant.found(fault.error.payment_intent).status == "requires_payment_method"


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
        ({"return_url": "https://example.com"}, None, "return_url"),
    ],
)
def test_creation_with_a_fault_is_refused(
    merchant: Caller, members: dict[str, object], code: str | None, param: str
) -> None:
    fault = refusal(lambda: merchant.intent(**{"amount": 1000, **members}))  # type: ignore[arg-type]
    assert (fault.http_status, fault.code, fault.error and fault.error.param) == (400, code, param)
    assert merchant.v1.payment_intents.list().data == []


def test_refund_gives_back_in_parts(merchant: Caller) -> None:
    intent = merchant.paid()
    merchant.v1.refunds.create({"payment_intent": intent.id, "amount": 400, "metadata": {"why": "a"}})
    too_much = refusal(lambda: merchant.v1.refunds.create({"payment_intent": intent.id, "amount": 601}))
    assert (too_much.error and too_much.error.param) == "amount"
    rest = merchant.v1.refunds.create({"charge": str(intent.latest_charge)})
    assert (rest.amount, rest.status, rest.payment_intent) == (600, "succeeded", intent.id)
    assert merchant.v1.refunds.retrieve(rest.id).amount == 600
    assert refusal(lambda: merchant.v1.refunds.create({"payment_intent": intent.id})).code == "charge_already_refunded"
    charge = merchant.v1.charges.retrieve(str(intent.latest_charge))
    assert (charge.amount_refunded, charge.refunded) == (1000, True)
    listed = merchant.v1.refunds.list({"payment_intent": intent.id, "charge": charge.id}).data
    assert [refund.amount for refund in listed] == [600, 400]
    assert merchant.found(intent).status == "succeeded"


def test_refund_of_what_was_not_paid_is_refused(merchant: Caller) -> None:
    unpaid, processing = merchant.intent(), merchant.confirm(merchant.intent(), "pm_usBankAccount_success")
    assert refusal(lambda: merchant.v1.refunds.create({"payment_intent": unpaid.id})).http_status == 400
    fault = refusal(lambda: merchant.v1.refunds.create({"payment_intent": processing.id}))
    assert fault.code == "charge_not_refundable"
    assert refusal(merchant.v1.refunds.create).code == "parameter_missing"
    assert merchant.v1.refunds.list().data == []


@pytest.mark.parametrize("method", ["pm_card_createDispute", "pm_usBankAccount_dispute"])
def test_disputed_payment_is_not_refunded(simulator: CheckedSimulator, merchant: Caller, method: str) -> None:
    intent = merchant.confirm(merchant.intent(), method)
    simulator.clock.offset_seconds = simulator.processing_seconds
    assert merchant.v1.charges.retrieve(str(intent.latest_charge)).disputed
    assert refusal(lambda: merchant.v1.refunds.create({"payment_intent": intent.id})).code == "charge_disputed"
