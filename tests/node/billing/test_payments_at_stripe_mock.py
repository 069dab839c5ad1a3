"""What the node sends to the payment provider is what Stripe's own description of its API takes.

stripe-mock refuses every request of another shape, and remembers nothing: none of its intents is ever paid.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from actions import wallet_of
from envelopes import new_wallet, signed, wallet_auth
from nodes import Running, refused, serving
from shops import confirm, ledger
from waiting import until

from reference_node.permission.typed_data import Flow
from reference_node.settings import Settings, StripeKeys


@pytest.fixture(scope="module")
def shop(stripe_mock_url: str) -> Iterator[Running]:
    """A node that sells credits through stripe-mock."""
    keys = StripeKeys("sk_test_123", "pk_test_123")
    with serving(Settings(port=0, payments="stripe", stripe_keys=keys, stripe_api_base=stripe_mock_url)) as running:
        yield running


def test_publishable_key_is_the_operators(shop: Running) -> None:
    assert shop.read("billing/stripe_config") == {"publishable_key": "pk_test_123"}
    assert shop.http.get("/stripe/v1/customers").status_code == 404


def test_intents_are_taken_and_credit_nothing_unpaid(shop: Running) -> None:
    account = shop.account()
    for cents in (500, 99_999_999):
        shop.done("billing/create_payment_intent", account, amount_cents=cents)
    made = [intent for intent in ledger(shop).open_intents() if intent.wallet == wallet_of(account)]
    assert sorted(intent.cents for intent in made) == [500, 99_999_999]
    for intent in made:
        refused(confirm(shop, account, intent.id), 402, "payment-incomplete")
    assert shop.balance(account) == 0


def test_intent_of_a_wallet_is_taken(shop: Running) -> None:
    headers = wallet_auth(signed(Flow.BILLING_AUTH, new_wallet()))
    made = shop.http.post("/core/v1/billing/create_payment_intent", json={"amount_cents": 500}, headers=headers)
    assert made.status_code == 200, made.text


@pytest.mark.parametrize("email", ["ada@example.org", "ada+stripe@exämple.org"])
def test_email_is_taken(shop: Running, email: str) -> None:
    shop.account(email=email)
    until(lambda: not ledger(shop).emails())
