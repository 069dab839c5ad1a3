"""Buying credits over HTTP at the embedded simulator (specification, "Billing")."""

from __future__ import annotations

import base64
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from envelopes import conversion, new_wallet, signed, wallet_auth
from nodes import Running, refused, serving
from shops import balance, bought, confirm, intend, pay, simulator

from reference_node.billing.payments import Payments
from reference_node.permission.keys import address_of
from reference_node.permission.typed_data import Flow
from reference_node.settings import Settings


@pytest.mark.parametrize("amount", [499, 1, 0, -500, 500.5, "500", None, True, [500], 100_000_000, 10**30])
def test_amount_that_is_no_whole_number_of_at_least_500_is_refused(shop: Running, amount: object) -> None:
    account = shop.account()
    refused(shop.post("billing/create_payment_intent", account, amount_cents=amount), 422)
    assert len(simulator(shop).log) == 0


@pytest.mark.parametrize("more", [{"currency": "eur"}, {"customer": "cus_1"}, {"confirm": True}])
def test_member_that_would_steer_the_provider_is_refused(shop: Running, more: dict[str, object]) -> None:
    refused(shop.post("billing/create_payment_intent", shop.account(), amount_cents=500, **more), 422)


@pytest.mark.parametrize("intent", ["pi_unknown", "x", "../customers", "pi_1?expand=1", "pi_ü", "pi_1/confirm"])
def test_intent_that_nobody_made_is_not_found_without_asking_the_provider(shop: Running, intent: str) -> None:
    account = shop.account()
    refused(confirm(shop, account, intent), 404, "unknown-payment-intent")
    assert len(simulator(shop).log) == 0


def test_payment_is_credited_once_however_often_it_is_confirmed(shop: Running) -> None:
    account = shop.account()
    intent, secret = intend(shop, account)
    pay(shop, secret)
    with ThreadPoolExecutor(20) as pool:
        statuses = [answer.status_code for answer in pool.map(lambda _: confirm(shop, account, intent), range(40))]
    assert set(statuses) == {200}
    assert balance(shop, account) == 500


def test_two_accounts_of_one_email_have_credits_of_their_own(shop: Running) -> None:
    twins = [
        shop.done("new_account", account_name="n", account_description="d", email="twin@example.org")["api_key"]
        for _ in range(2)
    ]
    bought(shop, twins[0])
    assert [balance(shop, twin) for twin in twins] == [500, 0]


def test_email_reaches_the_provider_and_leaves_the_ledger(shop: Running) -> None:
    shop.done("new_account", account_name="n", account_description="d", email="ada@example.org")
    payments = shop.node.payments
    assert payments is not None
    ledger = shop.node.billing.ledger  # type: ignore[attr-defined]
    while ledger.emails():
        threading.Event().wait(0.05)
    assert [entry.path for entry in simulator(shop).log][:1] == ["/v1/customers"]
    assert simulator(shop).log[-1].status == 200


def test_usage_key_neither_sees_nor_fills_the_credit(shop: Running) -> None:
    account = shop.account()
    bought(shop, account)
    key = shop.usage_key(account)
    refused(shop.get("billing/balance", key), 403)
    refused(shop.post("billing/create_payment_intent", key, amount_cents=500), 403)
    refused(confirm(shop, key, "pi_1"), 403)


def test_wallet_of_a_converted_account_buys_and_confirms_what_the_key_began(shop: Running) -> None:
    account, wallet = shop.account(), new_wallet()
    credited = bought(shop, account)
    intent, secret = intend(shop, account)
    shop.done("convert_to_chain_secured_account", account, **conversion(wallet))
    pay(shop, secret)
    headers = wallet_auth(signed(Flow.BILLING_AUTH, wallet))
    for paid in (intent, credited):
        answer = shop.http.post("/core/v1/billing/confirm_payment", json={"payment_intent_id": paid}, headers=headers)
        assert answer.status_code == 200, answer.text
    answered = shop.http.get("/core/v1/billing/balance", headers=headers)
    assert answered.json()["balance_cents"] == 999
    refused(confirm(shop, account, intent), 401)


def test_payment_that_was_never_confirmed_is_found_at_the_next_start(shop: Running) -> None:
    account = shop.account()
    _, secret = intend(shop, account)
    canceled, _ = intend(shop, account)
    pay(shop, secret)
    ledger = shop.node.billing.ledger  # type: ignore[attr-defined]
    assert shop.node.payments is not None
    with closing(Payments(ledger, shop.node.payments._provider)) as restarted:
        restarted.recover()
        while balance(shop, account) == 0:
            threading.Event().wait(0.05)
    assert balance(shop, account) == 500
    assert [intent.id for intent in ledger.open_intents()] == [canceled]


def test_write_waits_for_no_payment(shop: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    account = shop.account()
    bought(shop, account)
    release, begin = threading.Event(), simulator(shop).begin

    def slow(request: object) -> object:
        assert release.wait(60)
        return begin(request)

    monkeypatch.setattr(simulator(shop), "begin", slow)
    with ThreadPoolExecutor(60) as pool:
        paying = [pool.submit(shop.post, "billing/create_payment_intent", account, amount_cents=500) for _ in range(60)]
        shop.done("create_wallet", account)
        assert not any(one.done() for one in paying)
        release.set()
        assert {one.result().status_code for one in paying} == {200}


def test_node_that_sells_nothing_says_so() -> None:
    with serving(Settings(port=0, payments="none", starter_credits=5)) as running:
        account = running.account()
        refused(running.get("billing/stripe_config"), 503, "no-payments")
        refused(running.post("billing/create_payment_intent", account, amount_cents=500), 503, "no-payments")
        assert balance(running, account) == 5
        assert running.http.get("/stripe/v1/customers").status_code == 404
        assert running.ready["stripe_url"] is None


def test_record_is_keyed_by_the_accounts_wallet(shop: Running) -> None:
    account = shop.account()
    bought(shop, account)
    assert shop.node.billing.balance(address_of(base64.b64decode(account))) == 500
