"""What each key may do and see, and what is no request of the API at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from simulators import KEYS, Caller, CheckedSimulator, Raw, refusal

from reference_node.stripe_simulator.endpoints import OPERATIONS
from reference_node.stripe_simulator.operations import Operation

CUSTOMERS, INTENTS = "/v1/customers", "/v1/payment_intents"
VALID, AUTOMATIC = b"amount=1000&currency=usd", "automatic_payment_methods"

NOT_PUBLISHABLE = [operation for operation in OPERATIONS if not operation.publishable]


def test_publishable_key_sees_a_part_of_an_intent(merchant: Caller, browser: Caller) -> None:
    intent = merchant.paid(customer=merchant.v1.customers.create().id, metadata={"wallet": "0x1"})
    secret, retrieve = intent.client_secret or "", browser.v1.payment_intents.retrieve
    seen = retrieve(intent.id, {"client_secret": secret, "expand": ["payment_method"]}).to_dict()
    assert (seen["id"], seen["status"], seen["payment_method"]["object"]) == (intent.id, "succeeded", "payment_method")
    hidden = {"customer", "metadata", "latest_charge", "amount_received", "amount_capturable", "payment_method_options"}
    assert not hidden & {*seen}
    fault = refusal(lambda: retrieve(intent.id, {"client_secret": secret, "expand": ["latest_charge"]}))
    assert (fault.http_status, fault.error and fault.error.param) == (400, "expand")


def test_publishable_key_needs_the_client_secret(merchant: Caller, browser: Caller) -> None:
    intent, other = merchant.intent(), merchant.intent()
    absent = refusal(lambda: browser.v1.payment_intents.retrieve(intent.id))
    assert (absent.http_status, absent.code) == (400, "parameter_missing")
    wrong = refusal(lambda: browser.confirm(intent, client_secret=other.client_secret))
    assert (wrong.http_status, wrong.error and wrong.error.param) == (400, "client_secret")
    assert merchant.found(intent).status == "requires_payment_method"


def test_publishable_key_sees_no_secret_members_in_errors(merchant: Caller, browser: Caller) -> None:
    intent = merchant.intent(metadata={"wallet": "0x1"})
    declined = {"method": "pm_card_visa_chargeDeclined", "client_secret": intent.client_secret}
    fault: Any = refusal(lambda: browser.confirm(intent, **declined))
    assert fault.http_status == 402
    shown = fault.json_body["error"]["payment_intent"]
    assert shown["id"] == intent.id
    assert "metadata" not in shown


@pytest.mark.parametrize("operation", NOT_PUBLISHABLE, ids=lambda operation: f"{operation.method} {operation.path}")
def test_publishable_key_may_do_nothing_else(
    simulator: CheckedSimulator, merchant: Caller, operation: Operation
) -> None:
    assert len(NOT_PUBLISHABLE) == len(OPERATIONS) - 2
    intent = merchant.intent()
    secret = f"client_secret={intent.client_secret}".encode()
    path = operation.path.replace("{}", intent.id)
    answer = Raw(simulator, KEYS.publishable).send(operation.method, path, secret)
    assert (answer.status, answer.error["code"]) == (403, "secret_key_required")


def test_browser_may_send_its_key_as_a_parameter(simulator: CheckedSimulator, merchant: Caller) -> None:
    intent = merchant.intent()
    body = f"key={KEYS.publishable}&client_secret={intent.client_secret}&payment_method=pm_card_visa"
    answer = Raw(simulator, None).send("POST", f"/v1/payment_intents/{intent.id}/confirm", body.encode())
    assert (answer.status, answer.json["status"]) == (200, "succeeded")


@pytest.mark.parametrize("key", [None, "", "sk_test_other", "sk_live_secret", "pk_test_other", KEYS.secret + "x"])
def test_unknown_keys_are_refused(simulator: CheckedSimulator, key: str | None) -> None:
    answer = Raw(simulator, key).send("GET", CUSTOMERS)
    assert (answer.status, answer.error["type"]) == (401, "invalid_request_error")
    assert KEYS.secret not in answer.text


def test_key_may_be_a_user_name(simulator: CheckedSimulator) -> None:
    basic = {"authorization": "Basic c2tfdGVzdF9zZWNyZXQ6"}
    assert Raw(simulator, None).send("GET", CUSTOMERS, headers=basic).status == 200


def test_version_is_told_and_checked(raw: Raw) -> None:
    assert raw.send("GET", CUSTOMERS).headers["stripe-version"] == "2026-10-28.endive"
    older = raw.send("GET", CUSTOMERS, headers={"stripe-version": "2024-06-20"})
    assert (older.status, older.headers["stripe-version"]) == (200, "2024-06-20")
    assert raw.send("GET", CUSTOMERS, headers={"stripe-version": "newest"}).status == 400


def test_connected_accounts_are_refused(raw: Raw) -> None:
    answer = raw.send("GET", CUSTOMERS, headers={"stripe-account": "acct_1"})
    assert (answer.status, answer.error["code"]) == (403, "account_invalid")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/subscriptions"),
        ("GET", "/v1/disputes"),
        ("POST", "/v1/payment_methods"),
        ("PUT", CUSTOMERS),
        ("GET", "/v1/customers/a/b"),
        ("GET", "/"),
    ],
)
def test_what_is_not_served_is_said_so(raw: Raw, method: str, path: str) -> None:
    answer = raw.send(method, path)
    assert answer.status == 404
    assert "Unrecognized request URL" in str(answer.error["message"])


@pytest.mark.parametrize(
    "body",
    [
        b"amount",
        b"amount=%ff&currency=usd",
        b"amount=1000&amount=2000&currency=usd",
        b"metadata[a]=1&metadata=x",
        b"[a]=1",
        b"a[b=1",
        b"a[b]c=1",
        b"&".join(b"metadata[%d]=1" % number for number in range(1001)),
        b"a" + b"[a]" * 16 + b"=1",
        "amount=€".encode(),
    ],
)
def test_body_that_is_no_form_is_refused(raw: Raw, body: bytes) -> None:
    answer = raw.send("POST", INTENTS, body)
    assert (answer.status, answer.error["type"]) == (400, "invalid_request_error")


def test_json_body_is_refused(raw: Raw) -> None:
    body = json.dumps({"amount": 1000, "currency": "usd"}).encode()
    answer = raw.send("POST", INTENTS, body, {"content-type": "application/json"})
    assert (answer.status, "content type" in str(answer.error["message"]).lower()) == (400, True)


@pytest.mark.parametrize(
    ("path", "body", "code", "param"),
    [
        (CUSTOMERS, b"foo=1", "parameter_unknown", "foo"),
        (CUSTOMERS, b"foo[bar]=1&baz=2", "parameter_unknown", "foo"),
        (CUSTOMERS, b"email[a]=1", None, "email"),
        (CUSTOMERS, b"name=" + b"1" * 257, "parameter_invalid_string_length", "name"),
        (CUSTOMERS, b"metadata=x", None, "metadata"),
        (CUSTOMERS, b"metadata[a][b]=x", None, "metadata[a]"),
        (CUSTOMERS, b"metadata[" + b"k" * 41 + b"]=x", None, f"metadata[{'k' * 41}]"),
        (CUSTOMERS, b"metadata[a]=" + b"x" * 501, None, "metadata[a]"),
        (CUSTOMERS, b"&".join(b"metadata[%d]=1" % number for number in range(51)), None, "metadata"),
        (CUSTOMERS, b"expand=balance", None, "expand"),
        (CUSTOMERS, b"expand[a]=balance", None, "expand"),
        (CUSTOMERS, b"expand[]=balance", None, "expand"),
        (INTENTS, b"amount=1000&currency=", "parameter_invalid_empty", "currency"),
        (INTENTS, b"amount=1000", "parameter_missing", "currency"),
        (INTENTS, b"amount=&currency=usd", "parameter_invalid_empty", "amount"),
        (INTENTS, VALID + b"&confirm=1", None, "confirm"),
        (INTENTS, VALID + b"&payment_method_types[]=card", "parameter_unknown", "payment_method_types"),
        (INTENTS, VALID + b"&automatic_payment_methods=1", None, AUTOMATIC),
        (INTENTS, VALID + b"&automatic_payment_methods[x]=1", "parameter_unknown", f"{AUTOMATIC}[x]"),
        (INTENTS, VALID + b"&automatic_payment_methods[enabled]=", "parameter_invalid_empty", f"{AUTOMATIC}[enabled]"),
        (
            INTENTS,
            VALID + b"&automatic_payment_methods[allow_redirects]=never",
            "parameter_missing",
            f"{AUTOMATIC}[enabled]",
        ),
        (
            INTENTS,
            VALID + b"&automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=no",
            None,
            f"{AUTOMATIC}[allow_redirects]",
        ),
    ],
)
def test_parameters_with_a_fault_are_refused(raw: Raw, path: str, body: bytes, code: str | None, param: str) -> None:
    answer = raw.send("POST", path, body)
    assert (answer.status, answer.error.get("code"), answer.error.get("param")) == (400, code, param)


def test_unknown_parameters_are_named_within_bounds(raw: Raw) -> None:
    told = raw.send("POST", CUSTOMERS, b"one=1&two=2")
    assert told.error["message"] == "Received unknown parameters: one, two"
    answer = raw.send("POST", CUSTOMERS, b"x" * 100_000 + b"=1")
    assert (answer.status, len(answer.text) < 4000) == (400, True)


@pytest.mark.parametrize(
    "query", [b"expand[]=customer&expand[]=latest_charge", b"expand[1]=latest_charge&expand[0]=customer"]
)
def test_lists_may_have_positions_or_none(raw: Raw, merchant: Caller, query: bytes) -> None:
    intent = merchant.paid(customer=merchant.v1.customers.create().id)
    shown = raw.send("GET", f"/v1/payment_intents/{intent.id}", query).json
    assert (shown["customer"]["object"], shown["latest_charge"]["object"]) == ("customer", "charge")
