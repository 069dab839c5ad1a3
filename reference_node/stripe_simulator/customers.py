"""Customers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from reference_node.stripe_simulator.errors import Object
from reference_node.stripe_simulator.parameters import Choice, Kind, Metadata, Nested, Text, Texts, Values
from reference_node.stripe_simulator.payment_methods import ADDRESS, NO_ADDRESS
from reference_node.stripe_simulator.store import Resource, new_id

SHIPPING: dict[str, Kind] = {
    "address": Nested(ADDRESS),
    "name": Text(unsets=False),
    "phone": Text(),
}

MEMBERS: dict[str, Kind] = {
    "address": Nested(ADDRESS, unsets=True),
    "business_name": Text(150),
    "description": Text(),
    "email": Text(512),
    "individual_name": Text(150),
    "metadata": Metadata(),
    "name": Text(256),
    "phone": Text(20),
    "preferred_locales": Texts(),
    "shipping": Nested(SHIPPING, required=("address", "name"), unsets=True),
    "tax_exempt": Choice(("exempt", "none", "reverse"), unsets=True),
}
"""The parameters that a customer can be made and changed with."""

ABSENT_UNLESS_SET = ("business_name", "individual_name")


@dataclass(slots=True, kw_only=True)
class Customer(Resource):
    """A customer. `members` are those of `MEMBERS` that are set, without the metadata."""

    name: ClassVar[str] = "customer"
    prefix: ClassVar[str] = "cus_"
    id_length: ClassVar[int] = 14
    expandable: ClassVar[frozenset[str]] = frozenset({"default_source"})

    members: Object = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    deleted: bool = False
    invoice_prefix: str = field(default_factory=lambda: new_id("", 8).upper())

    def change(self, values: Values) -> None:
        """Take the values that a request gave. Raises `StripeError`."""
        self.metadata = values.change(self.metadata)
        self.members |= {
            name: value for name, value in values.members.items() if name in MEMBERS and name != "metadata"
        }

    def view(self) -> Object:
        """The object as the API shows it."""
        if self.deleted:
            return {"id": self.id, "object": "customer", "deleted": True}
        set_members = {name: self.members[name] for name in ABSENT_UNLESS_SET if self.members.get(name) is not None}
        return {
            "id": self.id,
            "object": "customer",
            "address": _with_address(self.members.get("address")),
            "balance": 0,
            "created": self.created,
            "currency": None,
            "customer_account": None,
            "default_source": None,
            "delinquent": False,
            "description": self.members.get("description"),
            "discount": None,
            "email": self.members.get("email"),
            "invoice_prefix": self.invoice_prefix,
            "invoice_settings": {
                "custom_fields": None,
                "default_payment_method": None,
                "footer": None,
                "rendering_options": None,
            },
            "livemode": self.livemode,
            "metadata": dict(self.metadata),
            "name": self.members.get("name"),
            "next_invoice_sequence": 1,
            "phone": self.members.get("phone"),
            "preferred_locales": self.members.get("preferred_locales", []),
            "shipping": shipping_view(self.members.get("shipping")),
            "tax_exempt": self.members.get("tax_exempt") or "none",
            "test_clock": None,
            **set_members,
        }

    @property
    def exists(self) -> bool:
        """Whether other objects may name it."""
        return not self.deleted


def shipping_view(shipping: object) -> Object | None:
    """A shipping address as objects show it."""
    if not isinstance(shipping, dict):
        return None
    return {"phone": None, **shipping, "address": _with_address(shipping.get("address"))}


def _with_address(address: object) -> Object | None:
    return {**NO_ADDRESS, **address} if isinstance(address, dict) else None
