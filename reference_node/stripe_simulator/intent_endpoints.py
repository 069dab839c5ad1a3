"""The operations on payment intents (docs.stripe.com/api/payment_intents)."""

from __future__ import annotations

import secrets

from reference_node.stripe_simulator.customers import Customer
from reference_node.stripe_simulator.errors import StripeError
from reference_node.stripe_simulator.operations import ID, Call, Operation, listing
from reference_node.stripe_simulator.parameters import Boolean, Choice, Integer, Kind, Metadata, Nested, Text, Values
from reference_node.stripe_simulator.payment_intents import PaymentIntent, check_amount, check_currency
from reference_node.stripe_simulator.payment_methods import PaymentMethod, named
from reference_node.stripe_simulator.payments import require_confirmable, unexpected_state

DESCRIBED: dict[str, Kind] = {
    "description": Text(1000),
    "receipt_email": Text(),
    "setup_future_usage": Choice(("off_session", "on_session")),
    "statement_descriptor": Text(22),
    "statement_descriptor_suffix": Text(22),
}
"""Parameters that an intent shows again, and that change nothing else here."""


def create(call: Call) -> PaymentIntent:
    """Create an intent, and confirm it if requested."""
    values = call.values
    currency = check_currency(values.text("currency"))
    amount = check_amount(values.integer("amount"), currency)
    customer, name, confirms = values.text("customer"), values.text("payment_method"), values.flag("confirm")
    if customer is not None:
        call.store.get(Customer, customer, "customer", 400)
    if "return_url" in values and not confirms:
        message = "The parameter `return_url` cannot be passed on creation unless `confirm` is set to true."
        raise StripeError(400, message, param="return_url")
    intent = PaymentIntent.new(amount, currency, call.store.now())
    intent.customer, intent.redirects = customer, _redirects(values)
    for described in DESCRIBED:
        setattr(intent, described, values.text(described))
    intent.capture_method = values.text("capture_method") or intent.capture_method
    intent.metadata = values.change({})
    if name is not None:
        intent.payment_method, intent.status = named(call.store, name).id, "requires_confirmation"
    if confirms:
        _require_return_url(intent, values)
        method = _method(call, intent)
        call.store.add(intent)
        call.payments.confirm(intent, method)
    else:
        call.store.add(intent)
    return intent


def retrieve(call: Call) -> PaymentIntent:
    """The intent, for holders of a secret key or the client secret."""
    return _accessible(call)


def update(call: Call) -> PaymentIntent:
    """Change an intent's description and metadata, such as to note that it was credited."""
    intent, values = _accessible(call), call.values
    intent.metadata = values.change(intent.metadata)
    if "description" in values:
        intent.description = values.text("description")
    return intent


def confirm(call: Call) -> PaymentIntent:
    """Pay: with a secret key, or as the customer with a publishable key and the client secret."""
    intent, values = _accessible(call), call.values
    require_confirmable(intent)
    _require_return_url(intent, values)
    name = values.text("payment_method")
    call.payments.confirm(intent, named(call.store, name) if name is not None else _method(call, intent))
    return intent


def cancel(call: Call) -> PaymentIntent:
    """Cancel an intent."""
    intent = _accessible(call)
    call.payments.cancel(intent, call.values.text("cancellation_reason"))
    return intent


OPERATIONS = (
    Operation(
        "POST",
        "/v1/payment_intents",
        create,
        {
            "amount": Integer(),
            "automatic_payment_methods": Nested(
                {"allow_redirects": Choice(("always", "never")), "enabled": Boolean()}, required=("enabled",)
            ),
            "capture_method": Choice(("automatic", "automatic_async")),
            "confirm": Boolean(),
            "currency": Text(3, unsets=False),
            "customer": Text(),
            **DESCRIBED,
            "metadata": Metadata(),
            "payment_method": Text(),
            "return_url": Text(),
        },
        required=("amount", "currency"),
    ),
    listing("/v1/payment_intents", PaymentIntent, "customer"),
    Operation("GET", "/v1/payment_intents/{}", retrieve, {"client_secret": ID}, publishable=True),
    Operation(
        "POST", "/v1/payment_intents/{}", update, {"description": DESCRIBED["description"], "metadata": Metadata()}
    ),
    Operation(
        "POST",
        "/v1/payment_intents/{}/confirm",
        confirm,
        {"client_secret": ID, "payment_method": ID, "return_url": Text()},
        publishable=True,
    ),
    Operation(
        "POST",
        "/v1/payment_intents/{}/cancel",
        cancel,
        {"cancellation_reason": Choice(("duplicate", "fraudulent", "requested_by_customer", "abandoned"))},
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


def _redirects(values: Values) -> str | None:
    """Whether an intent may send the customer elsewhere; automatic payment methods are the API's default."""
    given = values.nested("automatic_payment_methods")
    if given is None:
        return "always"
    return (given.text("allow_redirects") or "always") if given.flag("enabled") else None


def _require_return_url(intent: PaymentIntent, values: Values) -> None:
    if intent.redirects != "always" or values.text("return_url") is not None:
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
