"""What each key may do and see, and what is no request of the API at all."""

from __future__ import annotations

import json

import pytest
from simulators import KEYS, Caller, CheckedSimulator, Raw, refusal


def test_publishable_key_sees_a_part_of_an_intent(merchant: Caller, browser: Caller) -> None:
    customer = merchant.v1.customers.create()
    intent = merchant.paid(customer=customer.id, metadata={"wallet": "0x1"})
    seen = browser.v1.payment_intents.retrieve(intent.id, {"client_secret": intent.client_secret or ""}).to_dict()
    assert (seen["id"], seen["status"], seen["amount"]) == (intent.id, "succeeded", 1000)
    hidden = {"customer", "metadata", "latest_charge", "amount_received", "amount_capturable", "payment_method_options"}
    assert not hidden & {*seen}


def test_publishable_key_needs_the_client_secret(merchant: Caller, browser: Caller) -> None:
    intent, other = merchant.intent(), merchant.intent()
    absent = refusal(lambda: browser.v1.payment_intents.retrieve(intent.id))
    assert (absent.http_status, absent.code) == (400, "parameter_missing")
    wrong = refusal(
        lambda: browser.v1.payment_intents.confirm(
            intent.id, {"client_secret": other.client_secret or "", "payment_method": "pm_card_visa"}
        )
    )
    assert (wrong.http_status, wrong.error and wrong.error.param) == (400, "client_secret")
    assert merchant.v1.payment_intents.retrieve(intent.id).status == "requires_payment_method"


def test_publishable_key_sees_no_secret_members_in_errors(merchant: Caller, browser: Caller) -> None:
    intent = merchant.intent(metadata={"wallet": "0x1"})
    fault = refusal(
        lambda: browser.v1.payment_intents.confirm(
            intent.id, {"client_secret": intent.client_secret or "", "payment_method": "pm_card_visa_chargeDeclined"}
        )
    )
    assert fault.http_status == 402
    assert isinstance(fault.json_body, dict)
    shown = fault.json_body["error"]["payment_intent"]
    assert shown["id"] == intent.id
    assert "metadata" not in shown


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/payment_intents"),
        ("POST", "/v1/payment_intents"),
        ("POST", "/v1/payment_intents/{}"),
        ("POST", "/v1/payment_intents/{}/cancel"),
        ("POST", "/v1/payment_intents/{}/capture"),
        ("GET", "/v1/customers"),
        ("POST", "/v1/customers"),
        ("POST", "/v1/refunds"),
        ("GET", "/v1/charges"),
        ("GET", "/v1/disputes"),
    ],
)
def test_publishable_key_may_do_nothing_else(
    simulator: CheckedSimulator, merchant: Caller, method: str, path: str
) -> None:
    intent = merchant.intent()
    secret = f"client_secret={intent.client_secret}".encode()
    answer = Raw(simulator, KEYS.publishable).send(method, path.replace("{}", intent.id), secret)
    assert (answer.status, answer.error["code"]) == (403, "secret_key_required")


def test_publishable_key_expands_no_more_than_the_payment_method(merchant: Caller, browser: Caller) -> None:
    intent = merchant.paid()
    secret = intent.client_secret or ""
    shown = browser.v1.payment_intents.retrieve(intent.id, {"client_secret": secret, "expand": ["payment_method"]})
    assert shown.payment_method is not None
    fault = refusal(
        lambda: browser.v1.payment_intents.retrieve(intent.id, {"client_secret": secret, "expand": ["latest_charge"]})
    )
    assert fault.http_status == 400


def test_browser_may_send_its_key_as_a_parameter(simulator: CheckedSimulator, merchant: Caller) -> None:
    intent = merchant.intent()
    body = f"key={KEYS.publishable}&client_secret={intent.client_secret}&payment_method=pm_card_visa"
    answer = Raw(simulator, None).send("POST", f"/v1/payment_intents/{intent.id}/confirm", body.encode())
    assert (answer.status, answer.json["status"]) == (200, "succeeded")


@pytest.mark.parametrize("key", [None, "", "sk_test_other", "sk_live_secret", "pk_test_other", KEYS.secret + "x"])
def test_unknown_keys_are_refused(simulator: CheckedSimulator, key: str | None) -> None:
    answer = Raw(simulator, key).send("GET", "/v1/customers")
    assert (answer.status, answer.error["type"]) == (401, "invalid_request_error")
    assert KEYS.secret not in answer.text


def test_key_may_be_a_user_name(simulator: CheckedSimulator) -> None:
    basic = {"authorization": "Basic c2tfdGVzdF9zZWNyZXQ6"}
    assert Raw(simulator, None).send("GET", "/v1/customers", headers=basic).status == 200


def test_version_is_told_and_checked(simulator: CheckedSimulator) -> None:
    raw = Raw(simulator, KEYS.secret)
    assert raw.send("GET", "/v1/customers").headers["stripe-version"] == "2026-10-28.endive"
    older = raw.send("GET", "/v1/customers", headers={"stripe-version": "2024-06-20"})
    assert (older.status, older.headers["stripe-version"]) == (200, "2024-06-20")
    assert raw.send("GET", "/v1/customers", headers={"stripe-version": "newest"}).status == 400


def test_connected_accounts_are_refused(simulator: CheckedSimulator) -> None:
    answer = Raw(simulator, KEYS.secret).send("GET", "/v1/customers", headers={"stripe-account": "acct_1"})
    assert (answer.status, answer.error["code"]) == (403, "account_invalid")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/subscriptions"),
        ("PUT", "/v1/customers"),
        ("GET", "/v1/customers/a/b"),
        ("GET", "/"),
        ("GET", "/v2"),
    ],
)
def test_what_is_not_served_is_said_so(simulator: CheckedSimulator, method: str, path: str) -> None:
    answer = Raw(simulator, KEYS.secret).send(method, path)
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
def test_body_that_is_no_form_is_refused(simulator: CheckedSimulator, body: bytes) -> None:
    answer = Raw(simulator, KEYS.secret).send("POST", "/v1/payment_intents", body)
    assert (answer.status, answer.error["type"]) == (400, "invalid_request_error")


def test_json_body_is_refused(simulator: CheckedSimulator) -> None:
    body = json.dumps({"amount": 1000, "currency": "usd"}).encode()
    headers = {"content-type": "application/json"}
    answer = Raw(simulator, KEYS.secret).send("POST", "/v1/payment_intents", body, headers)
    assert (answer.status, "content type" in str(answer.error["message"]).lower()) == (400, True)


@pytest.mark.parametrize(
    ("body", "code", "param"),
    [
        (b"foo=1", "parameter_unknown", "foo"),
        (b"foo[bar]=1&baz=2", "parameter_unknown", "foo"),
        (b"address[street]=1", "parameter_unknown", "address[street]"),
        (b"address=home", None, "address"),
        (b"email[a]=1", None, "email"),
        (b"phone=" + b"1" * 21, "parameter_invalid_string_length", "phone"),
        (b"tax_exempt=no", None, "tax_exempt"),
        (b"preferred_locales=en", None, "preferred_locales"),
        (b"preferred_locales[a]=en", None, "preferred_locales"),
        (b"metadata=x", None, "metadata"),
        (b"metadata[a][b]=x", None, "metadata[a]"),
        (b"metadata[" + b"k" * 41 + b"]=x", None, f"metadata[{'k' * 41}]"),
        (b"metadata[a]=" + b"x" * 501, None, "metadata[a]"),
        (b"&".join(b"metadata[%d]=1" % number for number in range(51)), None, "metadata"),
        (b"shipping[name]=a", "parameter_missing", "shipping[address]"),
        (b"expand[]=balance", None, "expand"),
    ],
)
def test_parameters_with_a_fault_are_refused(
    simulator: CheckedSimulator, body: bytes, code: str | None, param: str
) -> None:
    answer = Raw(simulator, KEYS.secret).send("POST", "/v1/customers", body)
    assert (answer.status, answer.error.get("code"), answer.error.get("param")) == (400, code, param)


def test_answers_to_long_names_are_short(simulator: CheckedSimulator) -> None:
    answer = Raw(simulator, KEYS.secret).send("POST", "/v1/customers", b"x" * 100_000 + b"=1")
    assert (answer.status, len(answer.text) < 4000) == (400, True)


def test_several_unknown_parameters_are_all_named(simulator: CheckedSimulator) -> None:
    answer = Raw(simulator, KEYS.secret).send("POST", "/v1/customers", b"one=1&two=2")
    assert answer.error["message"] == "Received unknown parameters: one, two"


@pytest.mark.parametrize(
    ("body", "locales"),
    [
        (b"preferred_locales[]=en&preferred_locales[]=de", ["en", "de"]),
        (b"preferred_locales[1]=de&preferred_locales[0]=en", ["en", "de"]),
        (b"preferred_locales=", []),
    ],
)
def test_lists_may_have_positions_or_none(simulator: CheckedSimulator, body: bytes, locales: list[str]) -> None:
    assert Raw(simulator, KEYS.secret).send("POST", "/v1/customers", body).json["preferred_locales"] == locales
