"""Latency, faults and rate limits, and the changes behind the back of the API."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest
import stripe
from simulators import KEYS, Caller, CheckedSimulator, Raw, refusal

from reference_node.stripe_simulator.actions import (
    AddFault,
    Authenticate,
    Cancel,
    Change,
    ClearConditions,
    DeleteCustomer,
    MoveClock,
    Reset,
    SetLatencies,
    SetRateLimit,
    Settle,
)
from reference_node.stripe_simulator.app import control
from reference_node.stripe_simulator.conditions import Conditions, Fault, Latency, RateLimit
from reference_node.stripe_simulator.in_process import InProcessClient
from reference_node.stripe_simulator.payment_intents import PaymentIntent

CONFIRM = "/v1/payment_intents/*/confirm"


def test_failure_before_the_effect_is_retried_well(simulator: CheckedSimulator) -> None:
    merchant = Caller(simulator, KEYS.secret, tries=2)
    intent = merchant.intent()
    AddFault(fault=Fault(method="POST", path=CONFIRM, status=503)).carry_out(simulator)
    assert merchant.confirm(intent).status == "succeeded"
    assert [(entry.status, entry.replayed) for entry in simulator.log][-2:] == [(503, False), (200, False)]


@pytest.mark.parametrize("fault", [Fault(kind="drop", when="after"), Fault(status=500, when="after")])
def test_answer_lost_after_the_effect_is_given_again(simulator: CheckedSimulator, fault: Fault) -> None:
    merchant = Caller(simulator, KEYS.secret, tries=2)
    intent = merchant.intent()
    AddFault(fault=fault.model_copy(update={"path": CONFIRM})).carry_out(simulator)
    assert merchant.confirm(intent).status == "succeeded"
    assert [entry.replayed for entry in simulator.log][-2:] == [False, True]
    assert len(merchant.v1.charges.list().data) == 1


@pytest.mark.parametrize(("when", "status"), [("after", "succeeded"), ("before", "requires_payment_method")])
def test_dropped_connection_has_the_effect_of_what_came_before_it(
    simulator: CheckedSimulator, merchant: Caller, when: Literal["before", "after"], status: str
) -> None:
    intent = merchant.intent()
    AddFault(fault=Fault(kind="drop", when=when)).carry_out(simulator)
    with pytest.raises(stripe.APIConnectionError):
        merchant.confirm(intent)
    assert merchant.found(intent).status == status


def test_saved_failure_is_given_again_under_its_key(simulator: CheckedSimulator) -> None:
    merchant = Caller(simulator, KEYS.secret, tries=3)
    intent = merchant.intent()
    AddFault(fault=Fault(when="saved")).carry_out(simulator)
    fault = refusal(lambda: merchant.confirm(intent))
    assert (fault.http_status, [entry.replayed for entry in simulator.log][-3:]) == (500, [False, True, True])
    assert merchant.found(intent).status == "requires_payment_method"


def test_request_that_arrives_twice_is_one_with_a_key_and_two_without(
    simulator: CheckedSimulator, merchant: Caller, raw: Raw
) -> None:
    AddFault(fault=Fault(method="POST", kind="repeat", times=2)).carry_out(simulator)
    raw.send("POST", "/v1/customers", b"", {"idempotency-key": "k"})
    assert len(merchant.v1.customers.list().data) == 1
    raw.send("POST", "/v1/customers", b"")
    assert len(merchant.v1.customers.list().data) == 3


def test_faults_skip_repeat_and_end(simulator: CheckedSimulator, raw: Raw) -> None:
    AddFault(fault=Fault(path="/v1/customers", skip=1, times=2)).carry_out(simulator)
    assert raw.send("GET", "/v1/charges").status == 200
    assert [raw.send("GET", "/v1/customers").status for _ in range(5)] == [200, 500, 500, 200, 200]
    AddFault(fault=Fault(times=None)).carry_out(simulator)
    assert {raw.send("GET", "/v1/customers").status for _ in range(5)} == {500}
    ClearConditions().carry_out(simulator)
    assert raw.send("GET", "/v1/customers").status == 200


def test_failure_tells_when_to_try_again(simulator: CheckedSimulator, raw: Raw) -> None:
    AddFault(fault=Fault(status=429, retry_after=7, should_retry=False, code="rate_limit")).carry_out(simulator)
    answer = raw.send("GET", "/v1/customers")
    assert (answer.status, answer.error["code"]) == (429, "rate_limit")
    assert (answer.headers["retry-after"], answer.headers["stripe-should-retry"]) == ("7", "false")


def test_rate_limit_holds_for_a_span_of_time() -> None:
    now = [0.0]
    conditions = Conditions(lambda: now[0])
    conditions.limit(RateLimit(requests=2, seconds=1.0))
    assert [conditions.plan("GET", "/").limit is None for _ in range(3)] == [True, True, False]
    now[0] = 1.0
    assert [conditions.plan("GET", "/").limit is None for _ in range(3)] == [True, True, False]


def test_rate_limited_request_is_told_so(simulator: CheckedSimulator, merchant: Caller) -> None:
    SetRateLimit(rate_limit=RateLimit(requests=0, retry_after=3)).carry_out(simulator)
    fault = refusal(merchant.v1.customers.create)
    assert isinstance(fault, stripe.RateLimitError)
    assert fault.headers is not None
    assert fault.headers["retry-after"] == "3"
    SetRateLimit(rate_limit=None).carry_out(simulator)
    assert merchant.v1.customers.list().data == []


def test_latency_comes_before_and_after_the_effect(simulator: CheckedSimulator, merchant: Caller) -> None:
    intent = merchant.intent()
    latencies = [Latency(path=CONFIRM, before_ms=70, after_ms=30), Latency(before_ms=5)]
    SetLatencies(latencies=latencies).carry_out(simulator)
    waits: list[tuple[float, str]] = []

    def sleep(seconds: float) -> None:
        waits.append((seconds, simulator.store.get(PaymentIntent, intent.id, "id").status))

    client = stripe.StripeClient(KEYS.secret, http_client=InProcessClient(simulator, sleep=sleep))
    client.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_visa"})
    client.v1.customers.list()
    assert waits == [(0.07, "requires_payment_method"), (0.03, "succeeded"), (0.005, "succeeded"), (0.0, "succeeded")]


def test_jitter_is_drawn_anew_and_bounded() -> None:
    conditions = Conditions()
    conditions.latencies = [Latency(before_ms=10, jitter_ms=5)]
    delays = [conditions.plan("GET", "/").before for _ in range(100)]
    assert len({*delays}) > 1
    assert 0.01 <= min(delays) <= max(delays) <= 0.015


def test_only_one_of_many_confirmations_at_once_succeeds(simulator: CheckedSimulator, merchant: Caller) -> None:
    intent = merchant.intent()
    started = threading.Barrier(8)

    def confirm(_: int) -> str:
        caller = Caller(simulator, KEYS.secret)
        started.wait()
        try:
            return caller.confirm(intent).status
        except stripe.StripeError as fault:
            return str(fault.error and fault.error.code)

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(confirm, range(8)))
    assert outcomes.count("succeeded") == 1
    assert {*outcomes} <= {"succeeded", "payment_intent_unexpected_state", "lock_timeout"}
    assert len(merchant.v1.charges.list({"payment_intent": intent.id}).data) == 1


@pytest.mark.parametrize(
    ("method", "succeeds", "status", "code"),
    [
        ("pm_card_threeDSecure2Required", True, "succeeded", None),
        ("pm_card_threeDSecure2Required", False, "requires_payment_method", "payment_intent_authentication_failure"),
        ("pm_card_threeDSecureRequiredChargeDeclined", True, "requires_payment_method", "card_declined"),
    ],
)
def test_authentication_ends_as_the_control_says(
    simulator: CheckedSimulator, merchant: Caller, method: str, succeeds: bool, status: str, code: str | None
) -> None:
    intent = merchant.intent(confirm=True, payment_method=method)
    assert (intent.status, intent.amount_received, intent.latest_charge) == ("requires_action", 0, None)
    assert (intent.next_action and intent.next_action.type) == "use_stripe_sdk"
    Authenticate(payment_intent=intent.id, succeeds=succeeds).carry_out(simulator)
    found = merchant.found(intent)
    assert (found.status, found.next_action) == (status, None)
    assert (found.last_payment_error and found.last_payment_error.code) == code
    with pytest.raises(Exception, match="does not wait"):
        Authenticate(payment_intent=intent.id).carry_out(simulator)


@pytest.mark.parametrize(("succeeds", "status"), [(True, "succeeded"), (False, "requires_payment_method")])
def test_processing_ends_as_the_control_says(
    simulator: CheckedSimulator, merchant: Caller, succeeds: bool, status: str
) -> None:
    intent = merchant.intent(confirm=True, payment_method="pm_usBankAccount_success")
    Settle(payment_intent=intent.id, succeeds=succeeds).carry_out(simulator)
    assert merchant.found(intent).status == status
    MoveClock(offset_seconds=100).carry_out(simulator)
    assert merchant.found(intent).status == status


def test_intent_is_canceled_and_changed_behind_the_back(simulator: CheckedSimulator, merchant: Caller) -> None:
    unpaid, paid = merchant.intent(), merchant.paid(customer=merchant.v1.customers.create().id)
    Cancel(payment_intent=unpaid.id).carry_out(simulator)
    assert merchant.found(unpaid).status == "canceled"
    Change(payment_intent=paid.id, currency="eur", livemode=True, another_customer=True).carry_out(simulator)
    found = merchant.found(paid, "latest_charge")
    assert (found.currency, found.livemode, found.customer in {None, paid.customer}) == ("eur", True, False)
    assert (found.latest_charge.currency, found.latest_charge.livemode) == ("eur", True)


def test_customer_is_deleted_behind_the_back(simulator: CheckedSimulator, merchant: Caller) -> None:
    customer = merchant.v1.customers.create()
    intent = merchant.intent(customer=customer.id)
    DeleteCustomer(payment_intent=intent.id).carry_out(simulator)
    assert merchant.v1.customers.retrieve(customer.id).deleted
    assert merchant.found(intent, "customer").customer is not None


def test_reset_forgets_everything(simulator: CheckedSimulator, merchant: Caller) -> None:
    merchant.v1.customers.create(options={"idempotency_key": "k"})
    AddFault(fault=Fault(times=None)).carry_out(simulator)
    Reset().carry_out(simulator)
    assert (merchant.v1.customers.list().data, len(simulator.log)) == ([], 1)
    merchant.v1.payment_intents.create({"amount": 100, "currency": "usd"}, {"idempotency_key": "k"})


def test_control_takes_json(simulator: CheckedSimulator, merchant: Caller) -> None:
    intent = merchant.paid()
    body = json.dumps({"payment_intent": intent.id, "amount": 5}).encode()
    status, answer = control(simulator, "POST", "refund", body)
    assert (status, answer["object"], answer["amount"]) == (200, "refund", 5)
    status, answer = control(simulator, "GET", "log", b"")
    assert (status, len(simulator.log)) == (200, 1)
    status, answer = control(simulator, "GET", "conditions", b"")
    assert (status, answer["faults"], answer["rate_limit"]) == (200, [], None)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("POST", "refund", b"{}", 400, "payment_intent: Field required"),
        ("POST", "refund", b"{", 400, "Invalid JSON"),
        ("POST", "refund", b'{"payment_intent":"x"}', 404, "No such payment_intent"),
        ("POST", "capture", b'{"payment_intent":"PAID","amount":1001}', 400, "The payment is one of 1000"),
        ("POST", "customer", b'{"payment_intent":"PAID"}', 400, "has no customer"),
        ("POST", "dispute", b'{"payment_intent":"UNPAID"}', 400, "does not have a charge"),
        ("POST", "settle", b'{"payment_intent":"PAID"}', 400, "is not being processed"),
        ("POST", "fault", b'{"fault":{"kind":"fire"}}', 400, "fault.kind"),
        ("POST", "clear", b'{"all":true}', 400, "Extra inputs are not permitted"),
        ("POST", "explode", b"{}", 404, "there are latency"),
        ("GET", "refund", b"", 404, "there are conditions, log"),
        ("DELETE", "log", b"", 404, "there are latency"),
    ],
)
def test_control_says_what_is_wrong(
    simulator: CheckedSimulator, merchant: Caller, method: str, path: str, body: bytes, status: int, words: str
) -> None:
    body = body.replace(b"UNPAID", merchant.intent().id.encode()).replace(b"PAID", merchant.paid().id.encode())
    answered, answer = control(simulator, method, path, body)
    assert (answered, words in json.dumps(answer)) == (status, True)
