"""Idempotency keys, and requests that meet on one object."""

from __future__ import annotations

from typing import Any

import pytest
from simulators import Caller, CheckedSimulator, Raw, refusal

VALID: Any = {"amount": 100, "currency": "usd"}

KEYED = {"idempotency-key": "k"}


def test_key_used_again_gives_the_same_answer(merchant: Caller, raw: Raw) -> None:
    first, again = (raw.send("POST", "/v1/customers", b"email=a@example.com", KEYED) for _ in range(2))
    assert again.text == first.text
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["original-request"] == first.headers["request-id"]
    assert again.headers["request-id"] != first.headers["request-id"]
    assert len(merchant.v1.customers.list().data) == 1


def test_key_with_another_request_is_refused(merchant: Caller) -> None:
    merchant.v1.customers.create({"email": "a@example.com"}, {"idempotency_key": "k"})
    fault = refusal(lambda: merchant.v1.customers.create({"email": "b@example.com"}, {"idempotency_key": "k"}))
    assert (fault.http_status, fault.error and fault.error.type) == (400, "idempotency_error")
    assert "same parameters" in str(fault)
    other = refusal(lambda: merchant.v1.payment_intents.create(VALID, {"idempotency_key": "k"}))
    assert "('/v1/payment_intents' vs '/v1/customers')" in str(other)


def test_decline_is_kept_under_its_key(merchant: Caller) -> None:
    intent = merchant.intent()
    for _ in range(2):
        fault = refusal(
            lambda: merchant.v1.payment_intents.confirm(
                intent.id, {"payment_method": "pm_card_visa_chargeDeclined"}, {"idempotency_key": "k"}
            )
        )
        assert fault.http_status == 402
    assert len(merchant.v1.charges.list({"payment_intent": intent.id}).data) == 1


def test_invalid_parameters_are_not_kept_under_the_key(merchant: Caller) -> None:
    wrong: Any = {**VALID, "currency": "dollars"}
    refusal(lambda: merchant.v1.payment_intents.create(wrong, {"idempotency_key": "k"}))
    assert merchant.v1.payment_intents.create(VALID, {"idempotency_key": "k"}).amount == 100


@pytest.mark.parametrize("ahead", [0, 365 * 24 * 3600], ids=["a clock that goes on", "a clock that was ahead"])
def test_key_is_forgotten_after_a_day(simulator: CheckedSimulator, merchant: Caller, ahead: int) -> None:
    simulator.clock.offset_seconds = ahead
    merchant.v1.customers.create(options={"idempotency_key": "earlier"})
    simulator.clock.offset_seconds = 0
    first = merchant.v1.customers.create(options={"idempotency_key": "k"})
    simulator.clock.offset_seconds = 24 * 3600 + 1
    assert merchant.v1.customers.create(options={"idempotency_key": "k"}).id != first.id


@pytest.mark.parametrize(("key", "status"), [("x" * 255, 200), ("x" * 256, 400), ("", 400)])
def test_length_of_keys_is_limited(raw: Raw, key: str, status: int) -> None:
    assert raw.send("POST", "/v1/customers", b"", {"idempotency-key": key}).status == status


def test_key_in_use_is_a_conflict(simulator: CheckedSimulator, raw: Raw) -> None:
    under_way = simulator.begin(raw.request("POST", "/v1/customers", b"", KEYED))
    meanwhile = raw.send("POST", "/v1/customers", b"", KEYED)
    assert (meanwhile.status, meanwhile.error["code"]) == (409, "idempotency_key_in_use")
    first = simulator.complete(under_way)
    assert first is not None
    assert raw.send("POST", "/v1/customers", b"", KEYED).text == first.body.decode()


def test_object_in_use_is_locked(simulator: CheckedSimulator, merchant: Caller, raw: Raw) -> None:
    intent = merchant.intent()
    path = f"/v1/payment_intents/{intent.id}/confirm"
    under_way = simulator.begin(raw.request("POST", path, b"payment_method=pm_card_visa"))
    meanwhile = raw.send("POST", path, b"payment_method=pm_card_visa")
    assert (meanwhile.status, meanwhile.error["code"]) == (429, "lock_timeout")
    assert meanwhile.headers["stripe-should-retry"] == "true"
    assert merchant.found(intent).status == "requires_payment_method"
    done = simulator.complete(under_way)
    assert done is not None
    assert done.status == 200
    assert raw.send("POST", path).error["code"] == "payment_intent_unexpected_state"


def test_refused_object_releases_the_key(simulator: CheckedSimulator, merchant: Caller, raw: Raw) -> None:
    path = f"/v1/payment_intents/{merchant.intent().id}/cancel"
    under_way = simulator.begin(raw.request("POST", path, b""))
    assert raw.send("POST", path, b"", KEYED).status == 429
    simulator.complete(under_way)
    later = raw.send("POST", path, b"", KEYED)
    assert (later.status, later.error["code"]) == (400, "payment_intent_unexpected_state")
