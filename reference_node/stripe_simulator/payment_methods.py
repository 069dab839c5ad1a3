"""Payment methods, behind Stripe's test names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reference_node.stripe_simulator.errors import Object
from reference_node.stripe_simulator.store import Resource, Store, new_id
from reference_node.stripe_simulator.test_methods import TEST_METHODS, TestMethod

NO_ADDRESS: Object = dict.fromkeys(("city", "country", "line1", "line2", "postal_code", "state"))

BILLING_DETAILS: Object = {"address": NO_ADDRESS, "email": None, "name": None, "phone": None, "tax_id": None}


@dataclass(slots=True, kw_only=True)
class PaymentMethod(Resource):
    """A card or a bank account."""

    name: ClassVar[str] = "PaymentMethod"
    prefix: ClassVar[str] = "pm_1"
    constant: ClassVar[Object] = {
        "object": "payment_method",
        "allow_redisplay": "unspecified",
        "billing_details": BILLING_DETAILS,
        "customer": None,
        "customer_account": None,
        "metadata": {},
    }
    hidden: ClassVar[frozenset[str]] = frozenset({"sequence", "test"})
    expandable: ClassVar[frozenset[str]] = frozenset({"customer"})

    test: TestMethod

    def view(self) -> Object:
        """The object as the API shows it."""
        return {**Resource.view(self), "type": self.test.type, self.test.type: self._shown()}

    def _shown(self) -> Object:
        if self.test.bank:
            networks: Object = {"preferred": "ach", "supported": ["ach"]}
            return {
                **self._bank(),
                "financial_connections_account": None,
                "networks": networks,
                "status_details": {},
            }
        return {
            **self._card(),
            "display_brand": self.test.brand,
            "generated_from": None,
            "networks": {"available": [self.test.brand], "preferred": None},
            "regulated_status": "unregulated",
            "three_d_secure_usage": {"supported": True},
        }

    def details(self) -> Object:
        """The details that a charge shows."""
        if self.test.bank:
            of_charge = {**self._bank(), "mandate": new_id("mandate_1"), "payment_reference": None}
        else:
            of_card = {"installments": None, "mandate": None, "network": self.test.brand, "three_d_secure": None}
            of_charge = {**self._card(), **of_card}
        return {"type": self.test.type, self.test.type: of_charge}

    def _card(self) -> Object:
        return {
            "brand": self.test.brand,
            "checks": {"address_line1_check": None, "address_postal_code_check": None, "cvc_check": "pass"},
            "country": "US",
            "exp_month": 12,
            "exp_year": 2034,
            "fingerprint": self._fingerprint(),
            "funding": self.test.funding,
            "last4": self.test.last4,
            "wallet": None,
        }

    def _bank(self) -> Object:
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


def named(store: Store, name: str) -> PaymentMethod:
    """The payment method with this id; a test name makes a new one. Raises `StripeError`."""
    if name in TEST_METHODS:
        method = PaymentMethod(id=new_id(PaymentMethod.prefix), created=store.now(), test=TEST_METHODS[name])
        store.add(method)
        return method
    return store.get(PaymentMethod, name, "payment_method", 400)
