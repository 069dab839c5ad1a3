"""Actions by which tests change a simulator outside of Stripe's API.

Each action is a class, for use in the same process, and a JSON object for `POST /control/NAME`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from reference_node.stripe_simulator.conditions import Fault, Latency, RateLimit
from reference_node.stripe_simulator.customers import Customer
from reference_node.stripe_simulator.errors import Object, StripeError
from reference_node.stripe_simulator.payment_intents import PaymentIntent, check_currency
from reference_node.stripe_simulator.simulator import StripeSimulator
from reference_node.stripe_simulator.store import Resource, new_id
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


class ConditionsAction(Action):
    """An action on the conditions or the clock, which are its answer."""

    def _do(self, simulator: StripeSimulator) -> Object:
        self._set(simulator)
        return conditions_view(simulator)

    def _set(self, simulator: StripeSimulator) -> None:
        raise NotImplementedError


class IntentAction(Action):
    """An action on a payment intent, which is its answer unless the action names another object."""

    payment_intent: Annotated[str, Field(max_length=255)]

    def _do(self, simulator: StripeSimulator) -> Object:
        intent = simulator.store.get(PaymentIntent, self.payment_intent, "payment_intent")
        return (self._change(simulator, intent) or intent).view()

    def _change(self, simulator: StripeSimulator, intent: PaymentIntent) -> Resource | None:
        raise NotImplementedError


class SetLatencies(ConditionsAction):
    """Delay answers. The first latency that matches a request counts; without a match there is no delay."""

    name: ClassVar[str] = "latency"
    latencies: list[Latency]

    def _set(self, simulator: StripeSimulator) -> None:
        simulator.conditions.latencies = list(self.latencies)


class AddFault(ConditionsAction):
    """Add a fault behind those that are set already."""

    name: ClassVar[str] = "fault"
    fault: Fault

    def _set(self, simulator: StripeSimulator) -> None:
        simulator.conditions.add_fault(self.fault)


class SetRateLimit(ConditionsAction):
    """Limit the rate of requests; null removes the limit."""

    name: ClassVar[str] = "rate_limit"
    rate_limit: RateLimit | None

    def _set(self, simulator: StripeSimulator) -> None:
        simulator.conditions.limit(self.rate_limit)


class ClearConditions(ConditionsAction):
    """Remove all latencies, faults and limits."""

    name: ClassVar[str] = "clear"

    def _set(self, simulator: StripeSimulator) -> None:
        simulator.conditions.clear()


class MoveClock(ConditionsAction):
    """Move the simulator's clock; each call counts from the right time."""

    name: ClassVar[str] = "clock"
    offset_seconds: Annotated[int, Field(ge=-OFFSET_LIMIT, le=OFFSET_LIMIT)]

    def _set(self, simulator: StripeSimulator) -> None:
        simulator.clock.offset_seconds = self.offset_seconds
        simulator.payments.settle_due()


class Reset(ConditionsAction):
    """Forget all objects, idempotency keys and the log, and clear the conditions."""

    name: ClassVar[str] = "reset"

    def _set(self, simulator: StripeSimulator) -> None:
        simulator.clear()
        simulator.conditions.clear()
        simulator.clock.offset_seconds = 0


class Authenticate(IntentAction):
    """Have the customer pass, or fail, the 3D Secure that an intent waits for."""

    name: ClassVar[str] = "authenticate"
    succeeds: bool = True

    def _change(self, simulator: StripeSimulator, intent: PaymentIntent) -> None:
        simulator.payments.authenticate(intent, succeeds=self.succeeds)


class Settle(IntentAction):
    """End the processing of a payment with success or failure."""

    name: ClassVar[str] = "settle"
    succeeds: bool = True

    def _change(self, simulator: StripeSimulator, intent: PaymentIntent) -> None:
        simulator.payments.settle(intent, None if self.succeeds else GENERIC)


class Cancel(IntentAction):
    """Cancel an intent that is not paid, as from the Dashboard."""

    name: ClassVar[str] = "cancel"

    def _change(self, simulator: StripeSimulator, intent: PaymentIntent) -> None:
        simulator.payments.cancel(intent, None)


class RefundPayment(IntentAction):
    """Refund a payment, or a part of it, as from the Dashboard."""

    name: ClassVar[str] = "refund"
    amount: Cents | None = None

    def _change(self, simulator: StripeSimulator, intent: PaymentIntent) -> Resource:
        return simulator.payments.refund(simulator.payments.charge_of(intent), self.amount, None, {})


class DisputePayment(IntentAction):
    """Have the customer dispute a payment. Shows the charge."""

    name: ClassVar[str] = "dispute"

    def _change(self, simulator: StripeSimulator, intent: PaymentIntent) -> Resource:
        charge = simulator.payments.charge_of(intent)
        simulator.payments.dispute(charge)
        return charge


class CapturePart(IntentAction):
    """Reduce the received amount of a payment, whether it is captured or not."""

    name: ClassVar[str] = "capture"
    amount: Cents

    def _change(self, simulator: StripeSimulator, intent: PaymentIntent) -> None:
        charge = simulator.payments.charge_of(intent)
        if self.amount > charge.amount:
            raise StripeError(400, f"The payment is one of {charge.amount}.", param="amount")
        simulator.payments.take(intent, self.amount)


class Change(IntentAction):
    """Change members of an intent and its latest charge that no operation of the API changes."""

    name: ClassVar[str] = "change"
    currency: Annotated[str, Field(max_length=3)] | None = None
    livemode: bool | None = None
    another_customer: bool = False
    """Give it a new customer."""

    def _change(self, simulator: StripeSimulator, intent: PaymentIntent) -> None:
        changes = self.model_dump(exclude_none=True, exclude={"payment_intent", "another_customer"})
        if self.currency is not None:
            changes["currency"] = check_currency(self.currency)
        if self.another_customer:
            customer = Customer(id=new_id(Customer.prefix, Customer.id_length), created=simulator.store.now())
            simulator.store.add(customer)
            changes["customer"] = customer.id
        changed = [intent] if intent.latest_charge is None else [intent, simulator.payments.charge_of(intent)]
        for member, value in changes.items():
            for resource in changed:
                if hasattr(resource, member):
                    setattr(resource, member, value)


class MakeIntent(Action):
    """Make a payment intent as another integration of the account would: without customer and metadata."""

    name: ClassVar[str] = "payment_intent"
    amount: Cents
    currency: Annotated[str, Field(max_length=3)] = "usd"

    def _do(self, simulator: StripeSimulator) -> Object:
        intent = PaymentIntent.new(self.amount, check_currency(self.currency), simulator.store.now())
        intent.redirects = "never"
        simulator.store.add(intent)
        return intent.view()


class ShowCustomer(IntentAction):
    """Show the customer of a payment intent, as the Dashboard would."""

    name: ClassVar[str] = "customer"

    def _change(self, simulator: StripeSimulator, intent: PaymentIntent) -> Customer:
        if intent.customer is None:
            raise StripeError(400, f"The PaymentIntent {intent.id} has no customer.", param="payment_intent")
        return simulator.store.get(Customer, intent.customer, "customer")


class DeleteCustomer(ShowCustomer):
    """Delete the customer of a payment intent."""

    name: ClassVar[str] = "delete_customer"

    def _change(self, simulator: StripeSimulator, intent: PaymentIntent) -> Customer:
        deleted = super()._change(simulator, intent)
        deleted.deleted = True
        return deleted


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
