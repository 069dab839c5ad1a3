"""The operations on customers, charges and refunds, and the table of all that are served."""

from __future__ import annotations

from reference_node.stripe_simulator import intent_endpoints
from reference_node.stripe_simulator.charges import Charge, Refund
from reference_node.stripe_simulator.customers import MEMBERS, Customer
from reference_node.stripe_simulator.errors import StripeError
from reference_node.stripe_simulator.operations import ID, Call, Operation, Routes, listing, retrieval
from reference_node.stripe_simulator.parameters import Choice, Integer, Metadata
from reference_node.stripe_simulator.payment_intents import PaymentIntent
from reference_node.stripe_simulator.store import Resource, new_id


def create_customer(call: Call) -> Customer:
    """Make a customer."""
    customer = Customer(id=new_id(Customer.prefix, Customer.id_length), created=call.store.now())
    customer.change(call.values)
    call.store.add(customer)
    return customer


def retrieve_customer(call: Call) -> Resource:
    """The customer; a deleted one says that it is."""
    found = call.store.find(call.target)
    return found if isinstance(found, Customer) else call.store.get(Customer, call.target, "id")


def update_customer(call: Call) -> Customer:
    """Change a customer."""
    customer = call.store.get(Customer, call.target, "id")
    customer.change(call.values)
    return customer


def delete_customer(call: Call) -> Customer:
    """Delete a customer for good."""
    customer = call.store.get(Customer, call.target, "id")
    customer.deleted = True
    return customer


def create_refund(call: Call) -> Refund:
    """Give money back, by the charge or its payment intent."""
    values = call.values
    charge_id, intent_id = values.text("charge"), values.text("payment_intent")
    if (charge_id is None) == (intent_id is None):
        message = "One of the following params should be provided for this request: payment_intent or charge."
        raise StripeError(400, message, code="parameter_missing", param="charge")
    if intent_id is not None:
        charge = call.payments.charge_of(call.store.get(PaymentIntent, intent_id, "payment_intent", 404))
    else:
        charge = call.store.get(Charge, charge_id or "", "charge", 404)
    return call.payments.refund(charge, values.integer("amount"), values.text("reason"), values.change({}))


OPERATIONS = (
    *intent_endpoints.OPERATIONS,
    Operation("POST", "/v1/customers", create_customer, MEMBERS),
    listing("/v1/customers", Customer),
    Operation("GET", "/v1/customers/{}", retrieve_customer),
    Operation("POST", "/v1/customers/{}", update_customer, MEMBERS),
    Operation("DELETE", "/v1/customers/{}", delete_customer),
    listing("/v1/charges", Charge, "customer", "payment_intent"),
    retrieval("/v1/charges/{}", Charge),
    Operation(
        "POST",
        "/v1/refunds",
        create_refund,
        {
            "amount": Integer(1),
            "charge": ID,
            "metadata": Metadata(),
            "payment_intent": ID,
            "reason": Choice(("duplicate", "fraudulent", "requested_by_customer")),
        },
    ),
    listing("/v1/refunds", Refund, "charge", "payment_intent"),
    retrieval("/v1/refunds/{}", Refund),
)

ROUTES = Routes(OPERATIONS)
