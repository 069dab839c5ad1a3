"""Charges and refunds of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from reference_node.stripe_simulator.errors import Object
from reference_node.stripe_simulator.payment_methods import BILLING_DETAILS
from reference_node.stripe_simulator.store import Resource
from reference_node.stripe_simulator.test_methods import Decline

NEVER_SET = (
    "application",
    "application_fee",
    "application_fee_amount",
    "balance_transaction",
    "failure_balance_transaction",
    "on_behalf_of",
    "receipt_email",
    "receipt_number",
    "receipt_url",
    "review",
    "shipping",
    "source_transfer",
    "statement_descriptor",
    "statement_descriptor_suffix",
    "transfer_data",
    "transfer_group",
)


@dataclass(slots=True, kw_only=True)
class Charge(Resource):
    """An attempt to move money, successful or not."""

    name: ClassVar[str] = "charge"
    prefix: ClassVar[str] = "ch_3"
    constant: ClassVar[Object] = {
        **dict.fromkeys(NEVER_SET),
        "object": "charge",
        "billing_details": BILLING_DETAILS,
        "calculated_statement_descriptor": "SIMULATED",
        "fraud_details": {},
    }
    hidden: ClassVar[frozenset[str]] = frozenset({"sequence", "decline"})
    expandable: ClassVar[frozenset[str]] = frozenset(
        {"application", "application_fee", "balance_transaction", "customer", "failure_balance_transaction"}
        | {"on_behalf_of", "payment_intent", "review", "source_transfer"}
    )

    amount: int
    currency: str
    customer: str | None
    payment_intent: str
    payment_method: str
    payment_method_details: Object
    description: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    status: str = "pending"
    captured: bool = False
    disputed: bool = False
    amount_captured: int = 0
    amount_refunded: int = 0
    decline: Decline | None = None

    def view(self) -> Object:
        """The object as the API shows it."""
        paid, decline = self.status == "succeeded", self.decline
        return {
            **Resource.view(self),
            "failure_code": decline.code if decline else None,
            "failure_message": decline.message if decline else None,
            "outcome": None if self.status == "pending" else self._outcome(),
            "paid": paid,
            "refunded": paid and self.amount_refunded >= self.amount,
        }

    def _outcome(self) -> Object:
        decline = self.decline
        return {
            "advice_code": None,
            "network_advice_code": None,
            "network_decline_code": None,
            "network_status": "declined_by_network" if decline else "approved_by_network",
            "reason": (decline.decline_code or decline.code) if decline else None,
            "risk_level": "normal",
            "seller_message": "The bank declined the payment." if decline else "Payment complete.",
            "type": "issuer_declined" if decline else "authorized",
        }


@dataclass(slots=True, kw_only=True)
class Refund(Resource):
    """Money given back."""

    name: ClassVar[str] = "refund"
    prefix: ClassVar[str] = "re_3"
    expandable: ClassVar[frozenset[str]] = frozenset(
        {"balance_transaction", "charge", "customer", "payment_intent", "payment_method"}
        | {"source_transfer_reversal", "transfer_reversal"}
    )
    constant: ClassVar[Object] = {
        **dict.fromkeys([*expandable, "customer_account", "receipt_number"]),
        "object": "refund",
        "destination_details": {"card": {"type": "refund"}, "type": "card"},
        "status": "succeeded",
    }
    hidden: ClassVar[frozenset[str]] = frozenset({"sequence", "livemode"})

    amount: int
    currency: str
    charge: str
    payment_intent: str | None
    reason: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
