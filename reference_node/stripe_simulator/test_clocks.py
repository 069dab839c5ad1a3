"""Test clocks, which give their customers a time of their own (docs.stripe.com/api/test_clocks)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reference_node.stripe_simulator.customers import Customer
from reference_node.stripe_simulator.errors import Object
from reference_node.stripe_simulator.store import Resource, Store

LIFETIME_SECONDS = 30 * 24 * 3600


@dataclass(slots=True, kw_only=True)
class TestClock(Resource):
    """A clock that stands still until it is advanced."""

    name: ClassVar[str] = "testclock"
    prefix: ClassVar[str] = "clock_1"

    frozen_time: int
    label: str | None = None
    deleted: bool = False

    @property
    def exists(self) -> bool:
        """Whether it can be found by its id."""
        return not self.deleted

    def view(self) -> Object:
        """The object as the API shows it."""
        if self.deleted:
            return {"id": self.id, "object": "test_helpers.test_clock", "deleted": True}
        return {
            "id": self.id,
            "object": "test_helpers.test_clock",
            "created": self.created,
            "deletes_after": self.created + LIFETIME_SECONDS,
            "frozen_time": self.frozen_time,
            "livemode": self.livemode,
            "name": self.label,
            "status": "ready",
            "status_details": {},
        }


def time_for(store: Store, customer_id: str | None) -> int:
    """The time for a customer's objects: that of the customer's clock, else the simulator's."""
    customer = store.find(customer_id) if customer_id else None
    clock = store.find(customer.test_clock) if isinstance(customer, Customer) and customer.test_clock else None
    return clock.frozen_time if isinstance(clock, TestClock) else store.now()
