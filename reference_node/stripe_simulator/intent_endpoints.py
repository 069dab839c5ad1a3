"""The operations on payment intents (docs.stripe.com/api/payment_intents)."""

from __future__ import annotations

import secrets

from reference_node.stripe_simulator.currencies import check_amount, check_currency
from reference_node.stripe_simulator.customers import Customer, shipping_view
from reference_node.stripe_simulator.errors import Object, StripeError
from reference_node.stripe_simulator.intent_parameters import CAPTURE_METHODS, CONFIRMATION, DESCRIBED, ID
from reference_node.stripe_simulator.operations import Call, Operation, listing
from reference_node.stripe_simulator.paging import Page
from reference_node.stripe_simulator.parameters import (
    Boolean,
    Choice,
    Integer,
    Metadata,
    Nested,
    Text,
    Texts,
    Values,
)
from reference_node.stripe_simulator.payment_intents import UPDATABLE, PaymentIntent
from reference_node.stripe_simulator.payment_methods import PaymentMethod, from_token, named
from reference_node.stripe_simulator.payments import require_confirmable, unexpected_state
from reference_node.stripe_simulator.store import new_id

COPIED = (
    "capture_method",
    "confirmation_method",
    "description",
    "receipt_email",
    "setup_future_usage",
    "statement_descriptor",
    "statement_descriptor_suffix",
)


def create(call: Call) -> PaymentIntent:
    """Create an intent, and confirm it if requested."""
    values = call.values
    amount, currency = check_amount(values.integer("amount"), check_currency(values.text("currency")))
    _require_customer(call)
    if not values.flag("confirm"):
        _refuse_confirmation_parameters(values)
    intent_id = new_id(PaymentIntent.prefix)
    intent = PaymentIntent(
        id=intent_id,
        created=call.store.now(),
        amount=amount,
        currency=currency,
        client_secret=new_id(f"{intent_id}_secret_", 25),
        customer=values.text("customer"),
        redirects=_redirects(values),
        allowed_types=values.texts("allowed_payment_method_types") or None,
        shipping=_shipping(values),
        metadata=values.change({}),
    )
    _describe(intent, values)
    method = _given_method(call)
    if method is not None:
        intent.payment_method, intent.status = method.id, "requires_confirmation"
    if values.flag("confirm"):
        _require_return_url(intent, values)
        method = _method(call, intent)
    call.store.add(intent, intent.customer)
    if values.flag("confirm") and method is not None:
        _confirm(call, intent, method)
    return intent


def retrieve(call: Call) -> PaymentIntent:
    """The intent, for holders of a secret key or the client secret."""
    return _accessible(call)


def update(call: Call) -> PaymentIntent:
    """Change an intent. Once it is paid, only its metadata and description can be changed."""
    intent, values = _accessible(call), call.values
    fixed = next((name for name in values.members if name not in {"metadata", "description", "expand"}), None)
    if fixed is not None and intent.status not in UPDATABLE:
        message = (
            f"This PaymentIntent's {fixed} could not be updated because it has a status of {intent.status}. You may "
            f"only update the {fixed} of a PaymentIntent with one of the following statuses: {', '.join(UPDATABLE)}."
        )
        raise unexpected_state(intent, message, fixed)
    currency = check_currency(values.text("currency")) if "currency" in values else intent.currency
    amount = values.integer("amount")
    check_amount(intent.amount if amount is None else amount, currency)
    _require_customer(call)
    metadata = values.change(intent.metadata)
    method = _given_method(call)
    intent.metadata, intent.currency = metadata, currency
    intent.amount = intent.amount if amount is None else amount
    _describe(intent, values)
    if "shipping" in values:
        intent.shipping = _shipping(values)
    if "customer" in values:
        intent.customer = values.text("customer")
        call.store.assign(intent, intent.customer)
    if "payment_method" in values or method is not None:
        intent.payment_method, intent.next_action = method.id if method else None, None
        intent.status = "requires_confirmation" if method else "requires_payment_method"
    return intent


def confirm(call: Call) -> PaymentIntent:
    """Pay: with a secret key, or as the customer with a publishable key and the client secret."""
    intent, values = _accessible(call), call.values
    require_confirmable(intent)
    if call.publishable and intent.confirmation_method == "manual":
        message = (
            "This PaymentIntent's confirmation_method is manual, so it can be confirmed with a secret key alone. To "
            "confirm it on the client, set confirmation_method to automatic."
        )
        raise StripeError(400, message, code="payment_intent_invalid_parameter", intent=intent)
    _require_return_url(intent, values)
    method = _given_method(call) or _method(call, intent)
    call.payments.require_acceptable(intent, method)
    _describe(intent, values)
    if "shipping" in values:
        intent.shipping = _shipping(values)
    _confirm(call, intent, method)
    return intent


def cancel(call: Call) -> PaymentIntent:
    """Cancel an intent."""
    intent = _accessible(call)
    call.payments.cancel(intent, call.values.text("cancellation_reason"))
    return intent


def capture(call: Call) -> PaymentIntent:
    """Capture an authorized payment."""
    intent = _accessible(call)
    metadata = call.values.change(intent.metadata)
    call.payments.capture(intent, call.values.integer("amount_to_capture"))
    intent.metadata = metadata
    return intent


def list_intents(call: Call) -> Page:
    """The intents, or those of a customer."""
    return call.page_of(call.belonging(PaymentIntent, "customer"))


OPERATIONS = (
    Operation(
        "POST",
        "/v1/payment_intents",
        create,
        {
            **DESCRIBED,
            **CONFIRMATION,
            "allowed_payment_method_types": Texts(),
            "amount": Integer(),
            "automatic_payment_methods": Nested(
                {"allow_redirects": Choice(("always", "never")), "enabled": Boolean()}, required=("enabled",)
            ),
            "capture_method": CAPTURE_METHODS,
            "confirm": Boolean(),
            "confirmation_method": Choice(("automatic", "manual")),
            "currency": Text(3, unsets=False),
        },
        required=("amount", "currency"),
    ),
    listing("/v1/payment_intents", list_intents, customer=ID),
    Operation("GET", "/v1/payment_intents/{}", retrieve, {"client_secret": ID}, publishable=True),
    Operation(
        "POST",
        "/v1/payment_intents/{}",
        update,
        {**DESCRIBED, "amount": Integer(), "capture_method": CAPTURE_METHODS, "currency": Text(3, unsets=False)},
    ),
    Operation(
        "POST",
        "/v1/payment_intents/{}/confirm",
        confirm,
        {
            **CONFIRMATION,
            "client_secret": ID,
            "payment_method": Text(unsets=False),
            **{name: DESCRIBED[name] for name in ("receipt_email", "setup_future_usage", "shipping")},
        },
        publishable=True,
    ),
    Operation(
        "POST",
        "/v1/payment_intents/{}/cancel",
        cancel,
        {"cancellation_reason": Choice(("duplicate", "fraudulent", "requested_by_customer", "abandoned"))},
    ),
    Operation(
        "POST",
        "/v1/payment_intents/{}/capture",
        capture,
        {"amount_to_capture": Integer(1), "final_capture": Choice(("true",)), "metadata": Metadata()},
    ),
)


def _accessible(call: Call) -> PaymentIntent:
    intent = call.store.get(PaymentIntent, call.target, "intent")
    given = call.values.text("client_secret")
    if call.publishable and given is None:
        raise StripeError(
            400, "Missing required param: client_secret.", code="parameter_missing", param="client_secret"
        )
    if given is not None and not secrets.compare_digest(given.encode(), intent.client_secret.encode()):
        message = "The client_secret provided does not match any associated PaymentIntent on this account."
        raise StripeError(400, message, param="client_secret")
    return intent


def _require_customer(call: Call) -> None:
    customer = call.values.text("customer")
    if customer is not None:
        call.store.get(Customer, customer, "customer", 400)


def _redirects(values: Values) -> str | None:
    """Whether an intent may send the customer elsewhere; automatic payment methods are the API's default."""
    given = values.nested("automatic_payment_methods")
    if given is None:
        return None if "allowed_payment_method_types" in values or "confirmation_method" in values else "always"
    return (given.text("allow_redirects") or "always") if given.flag("enabled") else None


def _describe(intent: PaymentIntent, values: Values) -> None:
    for name in COPIED:
        if name in values:
            setattr(intent, name, values.text(name))


def _shipping(values: Values) -> Object | None:
    given = values.nested("shipping")
    return shipping_view(given.members) if given else None


def _given_method(call: Call) -> PaymentMethod | None:
    """The payment method that a request names or describes."""
    name, described = call.values.text("payment_method"), call.values.nested("payment_method_data")
    if name is not None and described is not None:
        message = "You may only specify one of these parameters: payment_method, payment_method_data."
        raise StripeError(400, message, param="payment_method_data")
    if described is not None:
        return from_token(call.store, described, "payment_method_data")
    return None if name is None else named(call.store, name, "payment_method")


def _refuse_confirmation_parameters(values: Values) -> None:
    for name in CONFIRMATION:
        if name in values and name not in {"payment_method_data", "use_stripe_sdk"}:
            message = f"The parameter `{name}` cannot be passed on creation unless `confirm` is set to true."
            raise StripeError(400, message, param=name)


def _require_return_url(intent: PaymentIntent, values: Values) -> None:
    if intent.redirects != "always" or values.text("return_url") is not None or values.flag("use_stripe_sdk"):
        return
    message = (
        "This PaymentIntent is configured to accept payment methods that might redirect your customer off of your "
        "page, so you must provide a `return_url`. If you don't want to accept these, create it with "
        "`automatic_payment_methods[allow_redirects]` set to `never`."
    )
    raise StripeError(400, message, param="return_url", intent=intent)


def _method(call: Call, intent: PaymentIntent) -> PaymentMethod:
    if intent.payment_method is None:
        message = (
            "You cannot confirm this PaymentIntent because it's missing a payment method. Update the PaymentIntent "
            "with a payment method, or confirm it with one."
        )
        raise unexpected_state(intent, message)
    return call.store.get(PaymentMethod, intent.payment_method, "payment_method", 400)


def _confirm(call: Call, intent: PaymentIntent, method: PaymentMethod) -> None:
    call.payments.confirm(
        intent,
        method,
        off_session=call.values.text("off_session") not in {None, "false"},
        refuse_action=call.values.flag("error_on_requires_action"),
    )
