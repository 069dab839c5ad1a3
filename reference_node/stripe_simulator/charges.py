"""Charges, refunds of them and disputes about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from reference_node.stripe_simulator.errors import Object
from reference_node.stripe_simulator.store import Resource
from reference_node.stripe_simulator.test_methods import Decline

EVIDENCE = [
    "access_activity_log",
    "billing_address",
    "cancellation_policy",
    "cancellation_policy_disclosure",
    "cancellation_rebuttal",
    "customer_communication",
    "customer_email_address",
    "customer_name",
    "customer_purchase_ip",
    "customer_signature",
    "duplicate_charge_documentation",
    "duplicate_charge_explanation",
    "duplicate_charge_id",
    "product_description",
    "receipt",
    "refund_policy",
    "refund_policy_disclosure",
    "refund_refusal_explanation",
    "service_date",
    "service_documentation",
    "shipping_address",
    "shipping_carrier",
    "shipping_date",
    "shipping_documentation",
    "shipping_tracking_number",
    "uncategorized_file",
    "uncategorized_text",
]

RESPONSE_SECONDS = 9 * 24 * 3600
"""How long evidence may be submitted."""


@dataclass(slots=True, kw_only=True)
class Refund(Resource):
    """Money given back."""

    name: ClassVar[str] = "refund"
    prefix: ClassVar[str] = "re_3"
    expandable: ClassVar[frozenset[str]] = frozenset(
        {"balance_transaction", "charge", "customer", "payment_intent", "payment_method"}
        | {"source_transfer_reversal", "transfer_reversal"}
    )

    amount: int
    currency: str
    charge: str
    payment_intent: str | None
    reason: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)

    def view(self) -> Object:
        """The object as the API shows it."""
        return {
            "id": self.id,
            "object": "refund",
            "amount": self.amount,
            "balance_transaction": None,
            "charge": self.charge,
            "created": self.created,
            "currency": self.currency,
            "customer": None,
            "customer_account": None,
            "destination_details": {"card": {"type": "refund"}, "type": "card"},
            "metadata": dict(self.metadata),
            "payment_intent": self.payment_intent,
            "payment_method": None,
            "reason": self.reason,
            "receipt_number": None,
            "source_transfer_reversal": None,
            "status": "succeeded",
            "transfer_reversal": None,
        }


@dataclass(slots=True, kw_only=True)
class Charge(Resource):
    """An attempt to move money, successful or not."""

    name: ClassVar[str] = "charge"
    prefix: ClassVar[str] = "ch_3"
    expandable: ClassVar[frozenset[str]] = frozenset(
        {"application", "application_fee", "balance_transaction", "customer", "failure_balance_transaction"}
        | {"on_behalf_of", "payment_intent", "review", "source_transfer"}
    )
    lists: ClassVar[dict[str, type[Resource]]] = {"refunds": Refund}

    amount: int
    currency: str
    customer: str | None
    payment_intent: str
    payment_method: str
    payment_method_details: Object
    billing_details: Object
    description: str | None = None
    receipt_email: str | None = None
    shipping: Object | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    statement_descriptor: str | None = None
    statement_descriptor_suffix: str | None = None
    status: str = "pending"
    captured: bool = False
    disputed: bool = False
    amount_captured: int = 0
    amount_refunded: int = 0
    decline: Decline | None = None

    @property
    def paid(self) -> bool:
        """Whether the money was taken or set aside."""
        return self.status == "succeeded"

    @property
    def refunded(self) -> bool:
        """Whether all of it was given back."""
        return self.paid and self.amount_refunded >= self.amount

    def view(self) -> Object:
        """The object as the API shows it."""
        return {
            "id": self.id,
            "object": "charge",
            "amount": self.amount,
            "amount_captured": self.amount_captured,
            "amount_refunded": self.amount_refunded,
            "application": None,
            "application_fee": None,
            "application_fee_amount": None,
            "balance_transaction": None,
            "billing_details": dict(self.billing_details),
            "calculated_statement_descriptor": self.statement_descriptor or "SIMULATED",
            "captured": self.captured,
            "created": self.created,
            "currency": self.currency,
            "customer": self.customer,
            "description": self.description,
            "disputed": self.disputed,
            "failure_balance_transaction": None,
            "failure_code": self.decline.code if self.decline else None,
            "failure_message": self.decline.message if self.decline else None,
            "fraud_details": {},
            "livemode": self.livemode,
            "metadata": dict(self.metadata),
            "on_behalf_of": None,
            "outcome": self._outcome(),
            "paid": self.paid,
            "payment_intent": self.payment_intent,
            "payment_method": self.payment_method,
            "payment_method_details": dict(self.payment_method_details),
            "receipt_email": self.receipt_email,
            "receipt_number": None,
            "receipt_url": None,
            "refunded": self.refunded,
            "review": None,
            "shipping": self.shipping,
            "source_transfer": None,
            "statement_descriptor": self.statement_descriptor,
            "statement_descriptor_suffix": self.statement_descriptor_suffix,
            "status": self.status,
            "transfer_data": None,
            "transfer_group": None,
        }

    def _outcome(self) -> Object | None:
        if self.status == "pending":
            return None
        declined = self.decline is not None
        return {
            "advice_code": None,
            "network_advice_code": None,
            "network_decline_code": None,
            "network_status": "declined_by_network" if declined else "approved_by_network",
            "reason": (self.decline.decline_code or self.decline.code) if self.decline else None,
            "risk_level": "normal",
            "seller_message": "The bank declined the payment." if declined else "Payment complete.",
            "type": "issuer_declined" if declined else "authorized",
        }


@dataclass(slots=True, kw_only=True)
class Dispute(Resource):
    """A customer's claim to have money back."""

    name: ClassVar[str] = "dispute"
    prefix: ClassVar[str] = "du_1"
    expandable: ClassVar[frozenset[str]] = frozenset({"charge", "payment_intent"})

    amount: int
    currency: str
    charge: str
    payment_intent: str
    method_type: str
    brand: str
    reason: str
    status: str = "needs_response"
    evidence: Object = field(default_factory=dict)
    submissions: int = 0
    metadata: dict[str, str] = field(default_factory=dict)

    def view(self) -> Object:
        """The object as the API shows it."""
        view: Object = {
            "id": self.id,
            "object": "dispute",
            "amount": self.amount,
            "balance_transactions": [],
            "charge": self.charge,
            "created": self.created,
            "currency": self.currency,
            "enhanced_eligibility_types": [],
            "evidence": {**dict.fromkeys(EVIDENCE), "enhanced_evidence": {}, **self.evidence},
            "evidence_details": {
                "due_by": self.created + RESPONSE_SECONDS,
                "enhanced_eligibility": {},
                "has_evidence": any(self.evidence.values()),
                "past_due": False,
                "submission_count": self.submissions,
            },
            "is_charge_refundable": False,
            "livemode": self.livemode,
            "metadata": dict(self.metadata),
            "payment_intent": self.payment_intent,
            "reason": self.reason,
            "status": self.status,
        }
        if self.method_type == "card":
            card: Object = {
                "brand": self.brand,
                "case_type": "chargeback",
                "network": self.brand,
                "network_reason_code": "10.4",
            }
            view["payment_method_details"] = {"card": card, "type": "card"}
        return view
