"""Buying credits at a node over HTTP, as its users do, with the embedded simulator as the payment provider."""

from __future__ import annotations

from typing import Any

import httpx
from nodes import Running


def balance(shop: Running, key: str) -> int:
    return int(shop.read("billing/balance", key)["balance_cents"])


def intend(shop: Running, key: str, cents: int = 500) -> tuple[str, str]:
    """A new intent: its id and its secret."""
    secret = str(shop.done("billing/create_payment_intent", key, amount_cents=cents)["client_secret"])
    return secret.partition("_secret_")[0], secret


def pay(shop: Running, secret: str, method: str = "pm_card_visa") -> httpx.Response:
    """Pay as a browser does, with what is public."""
    publishable = shop.read("billing/stripe_config")["publishable_key"]
    return shop.http.post(
        f"/stripe/v1/payment_intents/{secret.partition('_secret_')[0]}/confirm",
        data={"client_secret": secret, "payment_method": method},
        headers={"Authorization": f"Bearer {publishable}"},
    )


def confirm(shop: Running, key: str, intent: str) -> httpx.Response:
    return shop.post("billing/confirm_payment", key, payment_intent_id=intent)


def bought(shop: Running, key: str, cents: int = 500) -> str:
    """Buy credit, and return the intent."""
    intent, secret = intend(shop, key, cents)
    assert pay(shop, secret).json()["status"] == "succeeded"
    assert confirm(shop, key, intent).json() == {"success": True}
    return intent


def simulator(shop: Running) -> Any:
    return shop.node.simulator
