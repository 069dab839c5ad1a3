"""The calls of these tests are calls that stripe-mock takes: its description is Stripe's own."""

from __future__ import annotations

import pytest
import stripe
from simulators import AUTOMATIC

FORGOTTEN = "pi_123"


@pytest.fixture
def mock(stripe_mock_url: str) -> stripe.StripeClient:
    """The SDK, before stripe-mock."""
    return stripe.StripeClient("sk_test_123", base_addresses={"api": stripe_mock_url})


def test_stripe_mock_takes_what_the_simulator_takes(mock: stripe.StripeClient) -> None:
    customer = mock.v1.customers.create({"email": "a@example.com", "metadata": {"wallet": "0x1"}})
    intent = mock.v1.payment_intents.create(
        {
            "amount": 1000,
            "currency": "usd",
            "customer": customer.id,
            "automatic_payment_methods": AUTOMATIC,  # type: ignore[typeddict-item]
            "metadata": {"wallet": "0x1"},
        }
    )
    assert intent.object == "payment_intent"
    assert mock.v1.payment_intents.retrieve(FORGOTTEN, {"expand": ["latest_charge"]}).object == "payment_intent"
    assert mock.v1.payment_intents.confirm(FORGOTTEN, {"payment_method": "pm_card_visa"}).object == "payment_intent"
    assert mock.v1.refunds.create({"payment_intent": FORGOTTEN, "amount": 1}).object == "refund"


def test_stripe_mock_refuses_what_the_simulator_refuses(mock: stripe.StripeClient) -> None:
    with pytest.raises(stripe.InvalidRequestError):
        mock.v1.payment_intents.create({"amount": "many", "currency": "usd"})  # type: ignore[typeddict-item]
    with pytest.raises(stripe.InvalidRequestError):
        mock.v1.customers.create({"unknown": "1"})  # type: ignore[typeddict-unknown-key]
