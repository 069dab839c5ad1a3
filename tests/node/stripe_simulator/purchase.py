"""As `js/purchase.mjs`: `python purchase.py BASE_URL SECRET_KEY PUBLISHABLE_KEY CLIENT_SECRET`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import stripe

BASE_URL, SECRET_KEY, PUBLISHABLE_KEY, CLIENT_SECRET = sys.argv[1:]
INTENT = CLIENT_SECRET.partition("_secret_")[0]
WANTED: Any = {
    "amount": 1000,
    "currency": "usd",
    "automatic_payment_methods": {"enabled": True, "allow_redirects": "never"},
}
merchant, browser = (
    stripe.StripeClient(key, base_addresses={"api": BASE_URL}).v1 for key in (SECRET_KEY, PUBLISHABLE_KEY)
)


def pay(method: str) -> stripe.PaymentIntent:
    return browser.payment_intents.confirm(INTENT, {"client_secret": CLIENT_SECRET, "payment_method": method})


def refusal(call: Callable[[], object]) -> list[object]:
    try:
        call()
    except stripe.StripeError as error:
        told: Any = error.error
        return [type(error).__name__, error.http_status, told.code, told.decline_code or ""]
    raise AssertionError("the call was not refused")


declined = refusal(lambda: pay("pm_card_visa_chargeDeclined"))
paid = pay("pm_card_visa")
found: Any = merchant.payment_intents.retrieve(INTENT, {"expand": ["latest_charge"]})
given, again = (merchant.payment_intents.create(WANTED, {"idempotency_key": CLIENT_SECRET}) for _ in range(2))
other = merchant.payment_intents.create({**WANTED, "confirm": True, "payment_method": "pm_card_visa"})
refund = merchant.refunds.create({"payment_intent": other.id, "amount": 400})
listed = [each.id for each in merchant.payment_intents.list({"limit": 2}).auto_paging_iter()]

print(
    json.dumps(
        {
            "declined": declined,
            "paid": paid.status,
            "found": [found.amount_received, found.latest_charge.paid],
            "replayed": again.id == given.id,
            "canceled": merchant.payment_intents.cancel(given.id).status,
            "refunded": [refund.amount, refund.status],
            "listed": listed[:3] == [other.id, given.id, INTENT],
            "forbidden": refusal(lambda: browser.payment_intents.create(WANTED)),
            "unknown": refusal(lambda: merchant.payment_intents.retrieve("pi_unknown")),
        }
    )
)
