"""Customers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from reference_node.stripe_simulator.errors import Object
from reference_node.stripe_simulator.parameters import Kind, Metadata, Text, Values
from reference_node.stripe_simulator.store import Resource

MEMBERS: dict[str, Kind] = {"description": Text(), "email": Text(512), "metadata": Metadata(), "name": Text(256)}
"""The parameters that a customer can be made and changed with."""

NEVER_SET = (
    "address",
    "currency",
    "customer_account",
    "default_source",
    "discount",
    "phone",
    "shipping",
    "test_clock",
)

INVOICE_SETTINGS: Object = dict.fromkeys(("custom_fields", "default_payment_method", "footer", "rendering_options"))


@dataclass(slots=True, kw_only=True)
class Customer(Resource):
    """A customer. `members` are those of `MEMBERS` that are set, without the metadata."""

    name: ClassVar[str] = "customer"
    prefix: ClassVar[str] = "cus_"
    id_length: ClassVar[int] = 14
    constant: ClassVar[Object] = {
        **dict.fromkeys(NEVER_SET),
        "object": "customer",
        "balance": 0,
        "delinquent": False,
        "invoice_settings": INVOICE_SETTINGS,
        "next_invoice_sequence": 1,
        "preferred_locales": [],
        "tax_exempt": "none",
    }
    hidden: ClassVar[frozenset[str]] = frozenset({"sequence", "members", "deleted"})
    expandable: ClassVar[frozenset[str]] = frozenset({"default_source"})

    members: Object = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    deleted: bool = False

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
        given = {name: self.members.get(name) for name in MEMBERS if name != "metadata"}
        return {**Resource.view(self), **given}

    @property
    def exists(self) -> bool:
        """Whether other objects may name it."""
        return not self.deleted
