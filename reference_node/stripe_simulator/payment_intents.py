"""Payment intents, their views and what they can be over. `payments` contains their transitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from reference_node.stripe_simulator.errors import Object, StripeError
from reference_node.stripe_simulator.store import Resource, new_id

CONFIRMABLE = ("requires_payment_method", "requires_confirmation", "requires_action")
"""Statuses in which an intent can be confirmed and canceled."""

PUBLISHABLE_MEMBERS = frozenset(
    [
        "id",
        "object",
        "amount",
        "amount_details",
        "automatic_payment_methods",
        "canceled_at",
        "cancellation_reason",
        "capture_method",
        "client_secret",
        "confirmation_method",
        "created",
        "currency",
        "description",
        "last_payment_error",
        "livemode",
        "next_action",
        "payment_method",
        "payment_method_configuration_details",
        "payment_method_types",
        "processing",
        "receipt_email",
        "setup_future_usage",
        "shipping",
        "status",
    ]
)
"""What the holder of a publishable key and the client secret sees."""

NEVER_SET = (
    "allowed_payment_method_types",
    "application",
    "application_fee_amount",
    "customer_account",
    "excluded_payment_method_types",
    "on_behalf_of",
    "payment_method_configuration_details",
    "processing",
    "review",
    "shipping",
    "transfer_data",
    "transfer_group",
)


@dataclass(slots=True, kw_only=True)
class PaymentIntent(Resource):
    """A payment, from its creation to the received money."""

    name: ClassVar[str] = "payment_intent"
    prefix: ClassVar[str] = "pi_3"
    constant: ClassVar[Object] = {
        **dict.fromkeys(NEVER_SET),
        "object": "payment_intent",
        "amount_capturable": 0,
        "amount_details": {"tip": {}},
        "confirmation_method": "automatic",
        "payment_method_options": {},
    }
    hidden: ClassVar[frozenset[str]] = frozenset({"sequence", "redirects"})
    expandable: ClassVar[frozenset[str]] = frozenset(
        {"application", "customer", "latest_charge", "on_behalf_of", "payment_method", "review"}
    )

    amount: int
    currency: str
    client_secret: str
    customer: str | None = None
    payment_method: str | None = None
    redirects: str | None = None
    """The redirects of its automatic payment methods, `always` or `never`; `None` without automatic methods."""
    capture_method: str = "automatic_async"
    description: str | None = None
    receipt_email: str | None = None
    setup_future_usage: str | None = None
    statement_descriptor: str | None = None
    statement_descriptor_suffix: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    status: str = "requires_payment_method"
    amount_received: int = 0
    canceled_at: int | None = None
    cancellation_reason: str | None = None
    last_payment_error: Object | None = None
    latest_charge: str | None = None
    next_action: Object | None = None

    @classmethod
    def new(cls, amount: int, currency: str, created: int) -> PaymentIntent:
        """An intent with a new id and client secret."""
        intent_id = new_id(cls.prefix)
        secret = new_id(f"{intent_id}_secret_", 25)
        return cls(id=intent_id, created=created, amount=amount, currency=currency, client_secret=secret)

    @property
    def payment_method_types(self) -> list[str]:
        """The types of payment methods that can pay it."""
        return ["card", "us_bank_account"] if self.currency == "usd" else ["card"]

    def view(self) -> Object:
        """The object as the API shows it to the holder of a secret key."""
        automatic: Object | None = {"enabled": True, "allow_redirects": self.redirects} if self.redirects else None
        return {
            **Resource.view(self),
            "automatic_payment_methods": automatic,
            "payment_method_types": [*self.payment_method_types],
        }

    def publishable_view(self) -> Object:
        """The members that the holder of a publishable key and the client secret sees."""
        return {name: value for name, value in self.view().items() if name in PUBLISHABLE_MEMBERS}


LEAST = {"aud": 50, "cad": 50, "chf": 50, "eur": 50, "gbp": 30, "jpy": 50, "usd": 50}
"""The smallest charge in each currency, in its smallest unit (docs.stripe.com/currencies)."""

MOST = 99_999_999


def check_currency(currency: str | None) -> str:
    """The currency in lower case. Raises `StripeError` where there is no such."""
    name = (currency or "").lower()
    if name not in LEAST:
        message = f"Invalid currency: {currency}. The simulator supports these currencies: {', '.join(LEAST)}"
        raise StripeError(400, message, param="currency")
    return name


def check_amount(amount: int | None, currency: str) -> int:
    """The amount. Raises `StripeError` where it can't be charged in the currency."""
    if amount is None or amount < 0:
        raise StripeError(400, "Invalid non-negative integer", code="parameter_invalid_integer", param="amount")
    if amount < LEAST[currency]:
        least = f"Amount must be at least {LEAST[currency]} in the smallest unit of {currency}"
        raise StripeError(400, least, code="amount_too_small", param="amount")
    if amount > MOST:
        raise StripeError(400, f"Amount must be no more than {MOST}", code="amount_too_large", param="amount")
    return amount
