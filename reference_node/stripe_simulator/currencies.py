"""Currencies, and the amounts that can be charged in them (docs.stripe.com/currencies)."""

from __future__ import annotations

from reference_node.stripe_simulator.errors import StripeError

LEAST = {
    "aed": 200,
    "aud": 50,
    "brl": 50,
    "cad": 50,
    "chf": 50,
    "czk": 1500,
    "dkk": 250,
    "eur": 50,
    "gbp": 30,
    "hkd": 400,
    "huf": 17500,
    "inr": 50,
    "jpy": 50,
    "mxn": 1000,
    "myr": 200,
    "nok": 300,
    "nzd": 50,
    "pln": 200,
    "ron": 200,
    "sek": 300,
    "sgd": 50,
    "thb": 1000,
    "usd": 50,
}
"""The smallest charge in each currency that the simulator knows, in the currency's smallest unit."""

MOST = 99_999_999


def check_currency(currency: str | None) -> str:
    """The currency in lower case. Raises `StripeError` where there is no such."""
    name = (currency or "").lower()
    if name not in LEAST:
        message = f"Invalid currency: {currency}. The simulator supports these currencies: {', '.join(LEAST)}"
        raise StripeError(400, message, param="currency")
    return name


def check_amount(amount: int | None, currency: str) -> tuple[int, str]:
    """The amount with its currency. Raises `StripeError` where it can't be charged."""
    if amount is None or amount < 0:
        raise StripeError(400, "Invalid non-negative integer", code="parameter_invalid_integer", param="amount")
    if amount < LEAST[currency]:
        least = f"Amount must be at least {LEAST[currency]} in the smallest unit of {currency}"
        raise StripeError(400, least, code="amount_too_small", param="amount")
    if amount > MOST:
        raise StripeError(400, f"Amount must be no more than {MOST}", code="amount_too_large", param="amount")
    return amount, currency
