"""Actions by which tests change a simulator outside of Stripe's API.

Each action is a class, for use in the same process, and a JSON object for `POST /control/NAME`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from reference_node.stripe_simulator.conditions import Fault, Latency, RateLimit
from reference_node.stripe_simulator.currencies import check_currency
from reference_node.stripe_simulator.customers import Customer
from reference_node.stripe_simulator.errors import Object, StripeError
from reference_node.stripe_simulator.payment_intents import PaymentIntent
from reference_node.stripe_simulator.simulator import StripeSimulator
from reference_node.stripe_simulator.store import new_id
from reference_node.stripe_simulator.test_methods import GENERIC

OFFSET_LIMIT = 10 * 365 * 24 * 3600
"""Seconds that the clock may be moved either way."""

Cents = Annotated[int, Field(ge=0, le=99_999_999)]


class Action(BaseModel):
    """An action on a simulator."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    name: ClassVar[str]

    def carry_out(self, simulator: StripeSimulator) -> Object:
        """Carry it out. Returns the new state. Raises `StripeError`."""
        with simulator.lock:
            simulator.payments.settle_due()
            told = self._do(simulator)
            simulator.keep()
            return told

    def _do(self, simulator: StripeSimulator) -> Object:
        raise NotImplementedError


class IntentAction(Action):
    """An action on a payment intent."""

    payment_intent: Annotated[str, Field(max_length=255)]

    def _intent(self, simulator: StripeSimulator) -> PaymentIntent:
        return simulator.store.get(PaymentIntent, self.payment_intent, "payment_intent")


class SetLatencies(Action):
    """Delay answers. The first latency that matches a request counts; without a match there is no delay."""

    name: ClassVar[str] = "latency"
    latencies: list[Latency]

    def _do(self, simulator: StripeSimulator) -> Object:
        simulator.conditions.latencies = list(self.latencies)
        return conditions_view(simulator)


class AddFault(Action):
    """Add a fault behind those that are set already."""

    name: ClassVar[str] = "fault"
    fault: Fault

    def _do(self, simulator: StripeSimulator) -> Object:
        simulator.conditions.add_fault(self.fault)
        return conditions_view(simulator)


class SetRateLimit(Action):
    """Limit the rate of requests; null removes the limit."""

    name: ClassVar[str] = "rate_limit"
    rate_limit: RateLimit | None

    def _do(self, simulator: StripeSimulator) -> Object:
        simulator.conditions.limit(self.rate_limit)
        return conditions_view(simulator)


class ClearConditions(Action):
    """Remove all latencies, faults and limits."""

    name: ClassVar[str] = "clear"

    def _do(self, simulator: StripeSimulator) -> Object:
        simulator.conditions.clear()
        return conditions_view(simulator)


class MoveClock(Action):
    """Move the simulator's clock; each call counts from the right time."""

    name: ClassVar[str] = "clock"
    offset_seconds: Annotated[int, Field(ge=-OFFSET_LIMIT, le=OFFSET_LIMIT)]

    def _do(self, simulator: StripeSimulator) -> Object:
        simulator.clock.offset_seconds = self.offset_seconds
        simulator.payments.settle_due()
        return conditions_view(simulator)


class Reset(Action):
    """Forget all objects, idempotency keys and the log, and clear the conditions."""

    name: ClassVar[str] = "reset"

    def _do(self, simulator: StripeSimulator) -> Object:
        simulator.clear()
        simulator.conditions.clear()
        simulator.clock.offset_seconds = 0
        return conditions_view(simulator)


class Authenticate(IntentAction):
    """Have the customer pass, or fail, the 3D Secure that an intent waits for."""

    name: ClassVar[str] = "authenticate"
    succeeds: bool = True

    def _do(self, simulator: StripeSimulator) -> Object:
        intent = self._intent(simulator)
        simulator.payments.authenticate(intent, succeeds=self.succeeds)
        return intent.view()


class Settle(IntentAction):
    """End the processing of a payment with success or failure."""

    name: ClassVar[str] = "settle"
    succeeds: bool = True

    def _do(self, simulator: StripeSimulator) -> Object:
        intent = self._intent(simulator)
        simulator.payments.settle(intent, None if self.succeeds else GENERIC)
        return intent.view()


class Cancel(IntentAction):
    """Cancel an intent that is not paid, as from the Dashboard."""

    name: ClassVar[str] = "cancel"

    def _do(self, simulator: StripeSimulator) -> Object:
        intent = self._intent(simulator)
        simulator.payments.cancel(intent, None)
        return intent.view()


class RefundPayment(IntentAction):
    """Refund a payment, or a part of it, as from the Dashboard."""

    name: ClassVar[str] = "refund"
    amount: Cents | None = None

    def _do(self, simulator: StripeSimulator) -> Object:
        charge = simulator.payments.charge_of(self._intent(simulator))
        return simulator.payments.refund(charge, self.amount, None, {}).view()


class DisputePayment(IntentAction):
    """Have the customer dispute a payment."""

    name: ClassVar[str] = "dispute"
    amount: Cents | None = None
    reason: Annotated[str, Field(max_length=100)] = "fraudulent"

    def _do(self, simulator: StripeSimulator) -> Object:
        charge = simulator.payments.charge_of(self._intent(simulator))
        return simulator.payments.dispute(charge, self.amount, self.reason).view()


class CapturePart(IntentAction):
    """Reduce the received amount of a payment, whether it is captured or not."""

    name: ClassVar[str] = "capture"
    amount: Cents

    def _do(self, simulator: StripeSimulator) -> Object:
        intent = self._intent(simulator)
        charge = simulator.payments.charge_of(intent)
        if self.amount > charge.amount:
            raise StripeError(400, f"The payment is one of {charge.amount}.", param="amount")
        simulator.payments.take(intent, self.amount)
        return intent.view()


class Change(IntentAction):
    """Change members of an intent and its latest charge that no operation of the API changes."""

    name: ClassVar[str] = "change"
    amount: Cents | None = None
    amount_received: Cents | None = None
    currency: Annotated[str, Field(max_length=3)] | None = None
    livemode: bool | None = None
    metadata: dict[str, str] | None = None
    capture_method: Annotated[str, Field(pattern="^(automatic|automatic_async|manual)$")] | None = None
    another_customer: bool = False
    """Give it a new customer."""

    def _do(self, simulator: StripeSimulator) -> Object:
        intent = self._intent(simulator)
        changes = self.model_dump(exclude_none=True, exclude={"payment_intent", "another_customer"})
        if self.currency is not None:
            changes["currency"] = check_currency(self.currency)
        if self.another_customer:
            customer = Customer(id=new_id(Customer.prefix, Customer.id_length), created=simulator.store.now())
            simulator.store.add(customer)
            changes["customer"] = customer.id
            simulator.store.assign(intent, customer.id)
        changed = [intent] if intent.latest_charge is None else [intent, simulator.payments.charge_of(intent)]
        for member, value in changes.items():
            for resource in changed:
                if hasattr(resource, member):
                    setattr(resource, member, value)
        return intent.view()


class MakeIntent(Action):
    """Make a payment intent as another integration of the account would: without customer and metadata."""

    name: ClassVar[str] = "payment_intent"
    amount: Cents
    currency: Annotated[str, Field(max_length=3)] = "usd"

    def _do(self, simulator: StripeSimulator) -> Object:
        intent_id = new_id(PaymentIntent.prefix)
        intent = PaymentIntent(
            id=intent_id,
            created=simulator.store.now(),
            amount=self.amount,
            currency=check_currency(self.currency),
            client_secret=new_id(f"{intent_id}_secret_", 25),
            redirects="never",
        )
        simulator.store.add(intent)
        return intent.view()


class ShowCustomer(IntentAction):
    """Show the customer of a payment intent, as the Dashboard would."""

    name: ClassVar[str] = "customer"

    def _do(self, simulator: StripeSimulator) -> Object:
        return _customer_of(self._intent(simulator), simulator).view()


class DeleteCustomer(IntentAction):
    """Delete the customer of a payment intent."""

    name: ClassVar[str] = "delete_customer"

    def _do(self, simulator: StripeSimulator) -> Object:
        deleted = _customer_of(self._intent(simulator), simulator)
        deleted.deleted = True
        return deleted.view()


def _customer_of(intent: PaymentIntent, simulator: StripeSimulator) -> Customer:
    if intent.customer is None:
        raise StripeError(400, f"The PaymentIntent {intent.id} has no customer.", param="payment_intent")
    return simulator.store.get(Customer, intent.customer, "customer")


ACTIONS: dict[str, type[Action]] = {
    action.name: action
    for action in (
        SetLatencies,
        AddFault,
        SetRateLimit,
        ClearConditions,
        MoveClock,
        Reset,
        Authenticate,
        Settle,
        Cancel,
        RefundPayment,
        DisputePayment,
        CapturePart,
        Change,
        MakeIntent,
        ShowCustomer,
        DeleteCustomer,
    )
}


def conditions_view(simulator: StripeSimulator) -> Object:
    """The current conditions and the clock."""
    conditions = simulator.conditions
    limit = conditions.rate_limit
    return {
        "latencies": [latency.model_dump() for latency in conditions.latencies],
        "faults": [fault.model_dump() for fault in conditions.faults()],
        "rate_limit": None if limit is None else limit.model_dump(),
        "offset_seconds": simulator.clock.offset_seconds,
    }
