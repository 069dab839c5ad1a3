"""Buying credits over HTTP at the embedded simulator (specification, "Billing")."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from nodes import Running, refused, serving
from shops import bought, confirm, simulator
from waiting import Held

from reference_node.settings import Settings


@pytest.mark.parametrize("intent", ["pi_unknown", "x", "../customers", "pi_1?expand=1", "pi_ü", "pi_1/confirm"])
def test_intent_that_nobody_made_is_not_found_without_asking_the_provider(shop: Running, intent: str) -> None:
    account = shop.account()
    refused(confirm(shop, account, intent), 404, "unknown-payment-intent")
    assert len(simulator(shop).log) == 0


def test_write_waits_for_no_payment(shop: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    account = shop.account()
    bought(shop, account)
    held = Held(monkeypatch, simulator(shop), "begin")
    with ThreadPoolExecutor(60) as pool:
        paying = [pool.submit(shop.post, "billing/create_payment_intent", account, amount_cents=500) for _ in range(60)]
        shop.done("create_wallet", account)
        assert not any(one.done() for one in paying)
        held.let_go()
        assert {one.result().status_code for one in paying} == {200}


def test_node_that_sells_nothing_says_so() -> None:
    with serving(Settings(port=0, payments="none", starter_credits=5)) as running:
        account = running.account()
        refused(running.get("billing/stripe_config"), 503, "no-payments")
        refused(running.post("billing/create_payment_intent", account, amount_cents=500), 503, "no-payments")
        assert running.balance(account) == 5
        assert running.http.get("/stripe/v1/customers").status_code == 404
        assert running.ready["stripe_url"] is None
