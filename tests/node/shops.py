"""Buying credits at a node over HTTP, as its users do, with the embedded simulator as the payment provider."""

from __future__ import annotations

from typing import Any

import httpx
from nodes import Running

from reference_node.billing.credits import Credits
from reference_node.billing.ledger import Ledger


def intend(shop: Running, key: str, cents: int = 500) -> tuple[str, str]:
    """A new intent: its id and its secret."""
    secret = str(shop.done("billing/create_payment_intent", key, amount_cents=cents)["client_secret"])
    return _intent(secret), secret


def pay(shop: Running, secret: str, method: str = "pm_card_visa", provider: str = "/stripe") -> httpx.Response:
    """Pay as a browser does, with what is public."""
    url, headers = _at_provider(shop, secret, provider)
    return shop.http.post(f"{url}/confirm", data={"client_secret": secret, "payment_method": method}, headers=headers)


def payment(shop: Running, secret: str) -> httpx.Response:
    """The intent as its payer sees it."""
    url, headers = _at_provider(shop, secret, "/stripe")
    return shop.http.get(url, params={"client_secret": secret}, headers=headers)


def _at_provider(shop: Running, secret: str, provider: str) -> tuple[str, dict[str, str]]:
    key = shop.read("billing/stripe_config")["publishable_key"]
    return f"{provider}/v1/payment_intents/{_intent(secret)}", {"Authorization": f"Bearer {key}"}


def _intent(secret: str) -> str:
    return secret.partition("_secret_")[0]


def confirm(shop: Running, key: str, intent: str) -> httpx.Response:
    return shop.post("billing/confirm_payment", key, payment_intent_id=intent)


def bought(shop: Running, key: str, cents: int = 500) -> str:
    """Buy credit, and return the intent."""
    intent, secret = intend(shop, key, cents)
    assert pay(shop, secret).json()["status"] == "succeeded"
    assert confirm(shop, key, intent).json() == {"success": True}
    return intent


def ledger(shop: Running) -> Ledger:
    """The ledger of a node's credits."""
    assert isinstance(shop.node.billing, Credits)
    return shop.node.billing.ledger


def simulator(shop: Running) -> Any:
    return shop.node.simulator
