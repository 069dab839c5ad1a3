"""Payment methods, behind Stripe's test names or made from test tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from reference_node.stripe_simulator.errors import Object, StripeError, missing_object
from reference_node.stripe_simulator.parameters import Choice, Kind, Metadata, Nested, Text, Values
from reference_node.stripe_simulator.store import Resource, Store, new_id
from reference_node.stripe_simulator.test_methods import TEST_METHODS, TOKENS, TestMethod

ADDRESS: dict[str, Kind] = {name: Text() for name in ("city", "country", "line1", "line2", "postal_code", "state")}

NO_ADDRESS: Object = dict.fromkeys(ADDRESS)

BILLING_DETAILS = Nested(
    {
        "address": Nested(ADDRESS, unsets=True),
        "email": Text(),
        "name": Text(),
        "phone": Text(),
        "tax_id": Text(),
    }
)

FROM_TOKEN: dict[str, Kind] = {
    "type": Choice(("card", "us_bank_account")),
    "card": Nested({"token": Text(unsets=False)}, required=("token",)),
    "billing_details": BILLING_DETAILS,
    "allow_redisplay": Choice(("always", "limited", "unspecified")),
    "metadata": Metadata(),
}
"""The members from which a payment method can be made."""

CARD_CHECKS: Object = {"address_line1_check": None, "address_postal_code_check": None, "cvc_check": "pass"}

EXPIRY: Object = {"exp_month": 12, "exp_year": 2034}


@dataclass(slots=True, kw_only=True)
class PaymentMethod(Resource):
    """A card or a bank account."""

    name: ClassVar[str] = "PaymentMethod"
    prefix: ClassVar[str] = "pm_1"
    expandable: ClassVar[frozenset[str]] = frozenset({"customer"})

    test: TestMethod
    customer: str | None = None
    billing_details: Object = field(default_factory=dict)
    allow_redisplay: str = "unspecified"
    metadata: dict[str, str] = field(default_factory=dict)

    def view(self) -> Object:
        """The object as the API shows it."""
        return {
            "id": self.id,
            "object": "payment_method",
            "allow_redisplay": self.allow_redisplay,
            "billing_details": self.billing_view(),
            "created": self.created,
            "customer": self.customer,
            "customer_account": None,
            "livemode": self.livemode,
            "metadata": dict(self.metadata),
            "type": self.test.type,
            self.test.type: self._bank() if self.test.bank else self._card(),
        }

    def billing_view(self) -> Object:
        """The billing details."""
        given: Object = {"email": None, "name": None, "phone": None, "tax_id": None, **self.billing_details}
        address = self.billing_details.get("address")
        return given | {"address": {**NO_ADDRESS, **address} if isinstance(address, dict) else dict(NO_ADDRESS)}

    def details(self) -> Object:
        """The details that a charge shows."""
        if self.test.bank:
            bank = {**self._account(), "mandate": new_id("mandate_1"), "payment_reference": None}
            return {"type": self.test.type, self.test.type: bank}
        card: Object = {
            "brand": self.test.brand,
            "checks": dict(CARD_CHECKS),
            "country": "US",
            **EXPIRY,
            "fingerprint": self._fingerprint(),
            "funding": self.test.funding,
            "installments": None,
            "last4": self.test.last4,
            "mandate": None,
            "network": self.test.brand,
            "three_d_secure": None,
            "wallet": None,
        }
        return {"type": "card", "card": card}

    def _card(self) -> Object:
        return {
            "brand": self.test.brand,
            "checks": dict(CARD_CHECKS),
            "country": "US",
            "display_brand": self.test.brand,
            **EXPIRY,
            "fingerprint": self._fingerprint(),
            "funding": self.test.funding,
            "generated_from": None,
            "last4": self.test.last4,
            "networks": {"available": [self.test.brand], "preferred": None},
            "regulated_status": "unregulated",
            "three_d_secure_usage": {"supported": True},
            "wallet": None,
        }

    def _bank(self) -> Object:
        networks: Object = {"preferred": "ach", "supported": ["ach"]}
        return {**self._account(), "financial_connections_account": None, "networks": networks, "status_details": {}}

    def _account(self) -> Object:
        return {
            "account_holder_type": "individual",
            "account_type": "checking",
            "bank_name": "STRIPE TEST BANK",
            "fingerprint": self._fingerprint(),
            "last4": self.test.last4,
            "routing_number": "110000000",
        }

    def _fingerprint(self) -> str:
        return f"simulated{self.test.brand}{self.test.last4}"


def named(store: Store, name: str, param: str, status: int = 400) -> PaymentMethod:
    """The payment method with this id; a test name makes a new one. Raises `StripeError`."""
    if name in TEST_METHODS:
        method = PaymentMethod(id=new_id(PaymentMethod.prefix), created=store.now(), test=TEST_METHODS[name])
        store.add(method)
        return method
    return store.get(PaymentMethod, name, param, status)


def from_token(store: Store, values: Values, inside: str = "") -> PaymentMethod:
    """A payment method made from a test token. Raises `StripeError`."""
    name = f"{inside}[card][token]" if inside else "card[token]"
    if values.text("type") != "card":
        message = "The simulator makes payment methods from card tokens alone: name a bank account's by its test name"
        raise StripeError(400, message, param=f"{inside}[type]" if inside else "type")
    card = values.nested("card")
    token = card.text("token") if card else None
    if token is None:
        raise StripeError(400, f"Missing required param: {name}.", code="parameter_missing", param=name)
    if token not in TOKENS:
        raise missing_object("token", token, name, 400)
    method = named(store, TOKENS[token], name)
    details = values.nested("billing_details")
    method.billing_details = details.members if details else {}
    method.allow_redisplay = values.text("allow_redisplay") or "unspecified"
    method.metadata = values.change({})
    return method
