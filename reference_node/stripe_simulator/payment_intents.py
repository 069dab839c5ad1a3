"""Payment intents and their views. `payments` contains their transitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from reference_node.stripe_simulator.errors import Object
from reference_node.stripe_simulator.store import Resource

UPDATABLE = ("requires_payment_method", "requires_confirmation", "requires_action")
"""Statuses in which an intent can be changed and confirmed."""

CANCELABLE = (*UPDATABLE, "requires_capture")

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


@dataclass(slots=True, kw_only=True)
class PaymentIntent(Resource):
    """A payment, from its creation to the received money."""

    name: ClassVar[str] = "payment_intent"
    prefix: ClassVar[str] = "pi_3"
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
    allowed_types: list[str] | None = None
    capture_method: str = "automatic_async"
    confirmation_method: str = "automatic"
    description: str | None = None
    receipt_email: str | None = None
    setup_future_usage: str | None = None
    shipping: Object | None = None
    statement_descriptor: str | None = None
    statement_descriptor_suffix: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    status: str = "requires_payment_method"
    amount_capturable: int = 0
    amount_received: int = 0
    canceled_at: int | None = None
    cancellation_reason: str | None = None
    last_payment_error: Object | None = None
    latest_charge: str | None = None
    next_action: Object | None = None

    @property
    def payment_method_types(self) -> list[str]:
        """The types of payment methods that can pay it."""
        offered = ["card", "us_bank_account"] if self.currency == "usd" else ["card"]
        return offered if self.allowed_types is None else [kind for kind in offered if kind in self.allowed_types]

    def view(self) -> Object:
        """The object as the API shows it to the holder of a secret key."""
        automatic: Object | None = {"enabled": True, "allow_redirects": self.redirects} if self.redirects else None
        return {
            "id": self.id,
            "object": "payment_intent",
            "allowed_payment_method_types": [*self.allowed_types] if self.allowed_types is not None else None,
            "amount": self.amount,
            "amount_capturable": self.amount_capturable,
            "amount_details": {"tip": {}},
            "amount_received": self.amount_received,
            "application": None,
            "application_fee_amount": None,
            "automatic_payment_methods": automatic,
            "canceled_at": self.canceled_at,
            "cancellation_reason": self.cancellation_reason,
            "capture_method": self.capture_method,
            "client_secret": self.client_secret,
            "confirmation_method": self.confirmation_method,
            "created": self.created,
            "currency": self.currency,
            "customer": self.customer,
            "customer_account": None,
            "description": self.description,
            "excluded_payment_method_types": None,
            "last_payment_error": self.last_payment_error,
            "latest_charge": self.latest_charge,
            "livemode": self.livemode,
            "metadata": dict(self.metadata),
            "next_action": self.next_action,
            "on_behalf_of": None,
            "payment_method": self.payment_method,
            "payment_method_configuration_details": None,
            "payment_method_options": {},
            "payment_method_types": [*self.payment_method_types],
            "processing": None,
            "receipt_email": self.receipt_email,
            "review": None,
            "setup_future_usage": self.setup_future_usage,
            "shipping": self.shipping,
            "statement_descriptor": self.statement_descriptor,
            "statement_descriptor_suffix": self.statement_descriptor_suffix,
            "status": self.status,
            "transfer_data": None,
            "transfer_group": None,
        }

    def publishable_view(self) -> Object:
        """The members that the holder of a publishable key and the client secret sees."""
        return {name: value for name, value in self.view().items() if name in PUBLISHABLE_MEMBERS}
