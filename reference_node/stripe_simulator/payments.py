"""The transitions of payment intents, from confirmation to refunds and disputes."""

from __future__ import annotations

from reference_node.stripe_simulator.charges import Charge, Refund
from reference_node.stripe_simulator.errors import Object, StripeError
from reference_node.stripe_simulator.payment_intents import CONFIRMABLE, PaymentIntent
from reference_node.stripe_simulator.payment_methods import PaymentMethod
from reference_node.stripe_simulator.store import Due, Store, new_id
from reference_node.stripe_simulator.test_methods import AUTHENTICATION_FAILED, Decline


class Payments:
    """The transitions of payment intents in a store. Each is carried out completely or raises `StripeError`."""

    def __init__(self, store: Store, processing_seconds: float) -> None:
        self._store = store
        self.processing_seconds = processing_seconds

    def confirm(self, intent: PaymentIntent, method: PaymentMethod) -> None:
        """Pay with this method, up to a step that needs the customer. A decline is a `StripeError` with 402."""
        self.require_acceptable(intent, method)
        intent.payment_method, intent.next_action, intent.last_payment_error = method.id, None, None
        if not method.test.authentication:
            self._charge(intent, method)
        else:
            intent.status = "requires_action"
            intent.next_action = {"type": "use_stripe_sdk", "use_stripe_sdk": {"type": "three_d_secure_redirect"}}

    def require_acceptable(self, intent: PaymentIntent, method: PaymentMethod) -> None:
        """Refuse a method that this intent can't be paid with. Raises `StripeError`."""
        if method.test.type not in intent.payment_method_types:
            message = (
                f"The PaymentMethod provided ({method.test.type}) is not allowed for this PaymentIntent. Please attach "
                f"a PaymentMethod of one of the following types: {', '.join(intent.payment_method_types)}."
            )
            raise StripeError(400, message, code="payment_intent_invalid_parameter", param="payment_method")

    def authenticate(self, intent: PaymentIntent, *, succeeds: bool) -> None:
        """Have the customer pass or fail 3D Secure. A later decline raises nothing: the intent shows it."""
        if intent.status != "requires_action" or intent.payment_method is None:
            raise unexpected_state(intent, "This PaymentIntent does not wait for authentication.")
        method = self._store.get(PaymentMethod, intent.payment_method, "payment_method", 400)
        intent.next_action = None
        if not succeeds:
            self._fail(intent, method, AUTHENTICATION_FAILED)
            return
        try:
            self._charge(intent, method)
        except StripeError as declined:
            if declined.status != 402:
                raise

    def settle(self, intent: PaymentIntent, decline: Decline | None = None) -> None:
        """End the processing of a payment: it succeeds, or fails for this reason."""
        if intent.status != "processing" or intent.latest_charge is None or intent.payment_method is None:
            raise unexpected_state(intent, "This PaymentIntent is not being processed.")
        charge = self.charge_of(intent)
        if decline is None:
            self._receive(intent, charge)
            return
        charge.status, charge.decline = "failed", decline
        self._fail(
            intent, self._store.get(PaymentMethod, intent.payment_method, "payment_method", 400), decline, charge
        )

    def take(self, intent: PaymentIntent, amount: int) -> None:
        """Record that this much of the payment was received and the rest returned."""
        charge = self.charge_of(intent)
        charge.status, charge.captured, charge.amount_captured = "succeeded", True, amount
        charge.amount_refunded = charge.amount - amount
        intent.status, intent.amount_received = "succeeded", amount

    def cancel(self, intent: PaymentIntent, reason: str | None) -> None:
        """End an intent that is not paid."""
        if intent.status not in CONFIRMABLE:
            allowed = ", ".join(CONFIRMABLE)
            raise unexpected_state(
                intent,
                f"You cannot cancel this PaymentIntent because it has a status of {intent.status}. Only a "
                f"PaymentIntent with one of the following statuses may be canceled: {allowed}.",
            )
        intent.status, intent.cancellation_reason, intent.canceled_at = "canceled", reason, self._store.now()
        intent.next_action = None

    def refund(self, charge: Charge, amount: int | None, reason: str | None, metadata: dict[str, str]) -> Refund:
        """Refund this amount, by default all that is left of the captured amount."""
        left = charge.amount_captured - (charge.amount_refunded - (charge.amount - charge.amount_captured))
        if charge.disputed:
            raise StripeError(
                400, f"Charge {charge.id} has been charged back; cannot issue a refund.", code="charge_disputed"
            )
        if not charge.captured or left == 0:
            why = "has already been refunded" if charge.captured else "has not been captured"
            code = "charge_already_refunded" if charge.captured else "charge_not_refundable"
            raise StripeError(400, f"Charge {charge.id} {why}.", code=code)
        if (amount or left) > left:
            message = f"Refund amount ({amount}) is greater than unrefunded amount on charge ({left})"
            raise StripeError(400, message, param="amount")
        refund = Refund(
            id=new_id(Refund.prefix),
            created=self._store.now(),
            livemode=charge.livemode,
            amount=amount or left,
            currency=charge.currency,
            charge=charge.id,
            payment_intent=charge.payment_intent,
            reason=reason,
            metadata=metadata,
        )
        charge.amount_refunded += refund.amount
        self._store.add(refund)
        return refund

    def dispute(self, charge: Charge) -> None:
        """Have the customer dispute the payment."""
        if not charge.captured or charge.disputed:
            raise StripeError(400, f"Charge {charge.id} can't be disputed: it is not captured, or disputed already.")
        charge.disputed = True

    def charge_of(self, intent: PaymentIntent) -> Charge:
        """The latest charge of an intent."""
        if intent.latest_charge is None:
            raise StripeError(400, f"The PaymentIntent {intent.id} does not have a charge.", param="payment_intent")
        return self._store.get(Charge, intent.latest_charge, "charge", 400)

    def _charge(self, intent: PaymentIntent, method: PaymentMethod) -> None:
        charge = self._new_charge(intent, method)
        intent.latest_charge = charge.id
        decline = method.test.decline
        if method.test.bank:
            intent.status = "processing"
            if not method.test.stays:
                self._store.later(self.processing_seconds, intent, charge)
        elif decline is not None:
            charge.status, charge.decline = "failed", decline
            self._fail(intent, method, decline, charge)
            raise StripeError(
                402,
                decline.message,
                kind=decline.kind,
                code=decline.code,
                intent=intent,
                members={**decline.view(), "charge": charge.id, "payment_method": method.view()},
            )
        else:
            self._receive(intent, charge)

    def _receive(self, intent: PaymentIntent, charge: Charge) -> None:
        self.take(intent, intent.amount)
        method = self._store.get(PaymentMethod, charge.payment_method, "payment_method", 400)
        if method.test.disputed:
            self.dispute(charge)

    def settle_due(self) -> None:
        """Have happen what is due."""
        self._store.settle_due(self._carry_out)

    def _carry_out(self, due: Due) -> None:
        intent = self._store.get(PaymentIntent, due.intent, "payment_intent")
        if intent.latest_charge == due.charge and intent.status == "processing":
            method = self._store.get(PaymentMethod, self.charge_of(intent).payment_method, "payment_method")
            self.settle(intent, method.test.decline)

    def _fail(
        self, intent: PaymentIntent, method: PaymentMethod, decline: Decline, charge: Charge | None = None
    ) -> None:
        error: Object = {**decline.view(), "payment_method": method.view()}
        if charge is not None:
            error["charge"] = charge.id
        intent.status, intent.payment_method, intent.last_payment_error = "requires_payment_method", None, error

    def _new_charge(self, intent: PaymentIntent, method: PaymentMethod) -> Charge:
        charge = Charge(
            id=new_id("py_3" if method.test.bank else Charge.prefix),
            created=self._store.now(),
            livemode=intent.livemode,
            amount=intent.amount,
            currency=intent.currency,
            customer=intent.customer,
            payment_intent=intent.id,
            payment_method=method.id,
            payment_method_details=method.details(),
            description=intent.description,
            metadata=dict(intent.metadata),
        )
        self._store.add(charge)
        return charge


def require_confirmable(intent: PaymentIntent) -> None:
    """Raise `StripeError` for an intent that is paid, processing or canceled."""
    if intent.status in CONFIRMABLE:
        return
    if intent.status == "succeeded":
        why = "it has already succeeded after being previously confirmed"
    else:
        why = f"it has a status of {intent.status}. Only a PaymentIntent with one of the following statuses may be "
        why += f"confirmed: {', '.join(CONFIRMABLE)}"
    raise unexpected_state(intent, f"You cannot confirm this PaymentIntent because {why}.")


def unexpected_state(intent: PaymentIntent, message: str, param: str | None = None) -> StripeError:
    """The error for an operation that the intent's status does not permit."""
    return StripeError(400, message, code="payment_intent_unexpected_state", param=param, intent=intent)
