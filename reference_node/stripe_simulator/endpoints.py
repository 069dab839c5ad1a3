"""The operations on customers, payment methods, charges, refunds and disputes, and the table of all that are served."""

from __future__ import annotations

from reference_node.stripe_simulator import intent_endpoints
from reference_node.stripe_simulator.charges import EVIDENCE, Charge, Dispute, Refund
from reference_node.stripe_simulator.customers import MEMBERS, Customer
from reference_node.stripe_simulator.errors import StripeError
from reference_node.stripe_simulator.operations import Call, Operation, Routes, listing
from reference_node.stripe_simulator.paging import CURSORS, Page
from reference_node.stripe_simulator.parameters import Boolean, Choice, Integer, Kind, Metadata, Nested, Text
from reference_node.stripe_simulator.payment_intents import PaymentIntent
from reference_node.stripe_simulator.payment_methods import FROM_TOKEN, PaymentMethod, from_token, named
from reference_node.stripe_simulator.store import Resource, new_id

ID = Text(unsets=False)


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


def list_customers(call: Call) -> Page:
    """All customers, or those with an e-mail address."""
    email, customers = call.values.text("email"), call.store.newest_first(Customer)
    return call.page_of(customer for customer in customers if email is None or customer.members.get("email") == email)


def create_payment_method(call: Call) -> PaymentMethod:
    """Make a payment method from a test token."""
    return from_token(call.store, call.values)


def retrieve_payment_method(call: Call) -> PaymentMethod:
    """The payment method; a test name makes a new one each time."""
    return named(call.store, call.target, "payment_method", 404)


def attach_payment_method(call: Call) -> PaymentMethod:
    """Make a payment method one of a customer's."""
    customer = call.store.get(Customer, call.values.text("customer") or "", "customer", 400)
    method = named(call.store, call.target, "payment_method", 404)
    if method.customer not in {None, customer.id}:
        raise StripeError(400, "The payment method you provided has already been attached to a customer.")
    method.customer = customer.id
    call.store.assign(method, customer.id)
    return method


def detach_payment_method(call: Call) -> PaymentMethod:
    """Take a payment method away from its customer."""
    method = call.store.get(PaymentMethod, call.target, "payment_method")
    if method.customer is None:
        message = "The payment method you provided is not attached to a customer so detachment is impossible."
        raise StripeError(400, message)
    method.customer = None
    return method


def list_payment_methods(call: Call) -> Page:
    """The payment methods of a customer."""
    customer, kind = call.values.text("customer"), call.values.text("type")
    methods = call.store.newest_first(PaymentMethod, customer)
    shown = (
        method for method in methods if method.customer is not None and method.customer == (customer or method.customer)
    )
    return call.page_of(method for method in shown if kind is None or method.test.type == kind)


def retrieve_charge(call: Call) -> Charge:
    """The charge."""
    return call.store.get(Charge, call.target, "charge")


def list_charges(call: Call) -> Page:
    """The charges, or those of a customer or a payment intent."""
    return call.page_of(call.belonging(Charge, "customer", "payment_intent"))


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


def retrieve_refund(call: Call) -> Refund:
    """The refund."""
    return call.store.get(Refund, call.target, "refund")


def update_refund(call: Call) -> Refund:
    """Change a refund's metadata."""
    refund = call.store.get(Refund, call.target, "refund")
    refund.metadata = call.values.change(refund.metadata)
    return refund


def list_refunds(call: Call) -> Page:
    """The refunds, or those of a charge or a payment intent."""
    return call.page_of(call.belonging(Refund, "charge", "payment_intent"))


def retrieve_dispute(call: Call) -> Dispute:
    """The dispute."""
    return call.store.get(Dispute, call.target, "dispute")


def list_disputes(call: Call) -> Page:
    """The disputes, or those about a charge or a payment intent."""
    return call.page_of(call.belonging(Dispute, "charge", "payment_intent"))


def update_dispute(call: Call) -> Dispute:
    """Give evidence; submitted, the text `winning_evidence` or `losing_evidence` decides, as in Stripe's test mode."""
    dispute = call.store.get(Dispute, call.target, "dispute")
    if dispute.status != "needs_response":
        raise StripeError(400, f"This dispute has the status {dispute.status}: it takes no evidence.", param="evidence")
    metadata = call.values.change(dispute.metadata)
    given = call.values.nested("evidence")
    dispute.metadata = metadata
    dispute.evidence |= given.members if given else {}
    if call.values.members.get("submit") is not False:
        verdicts = {"winning_evidence": "won", "losing_evidence": "lost"}
        dispute.submissions += 1
        dispute.status = verdicts.get(str(dispute.evidence.get("uncategorized_text")), "under_review")
    return dispute


def close_dispute(call: Call) -> Dispute:
    """Accept that a dispute is lost."""
    dispute = call.store.get(Dispute, call.target, "dispute")
    if dispute.status != "needs_response":
        raise StripeError(400, f"This dispute has the status {dispute.status}: it can't be closed.")
    dispute.status = "lost"
    return dispute


EVIDENCE_MEMBERS: dict[str, Kind] = {name: Text() for name in EVIDENCE}

OPERATIONS = (
    *intent_endpoints.OPERATIONS,
    Operation("POST", "/v1/customers", create_customer, MEMBERS),
    listing("/v1/customers", list_customers, email=Text(512, unsets=False)),
    Operation("GET", "/v1/customers/{}", retrieve_customer),
    Operation("POST", "/v1/customers/{}", update_customer, MEMBERS),
    Operation("DELETE", "/v1/customers/{}", delete_customer),
    Operation("POST", "/v1/payment_methods", create_payment_method, FROM_TOKEN, required=("type",), publishable=True),
    Operation(
        "GET",
        "/v1/payment_methods",
        list_payment_methods,
        {**CURSORS, "customer": ID, "type": Choice(("card", "us_bank_account"))},
    ),
    Operation("GET", "/v1/payment_methods/{}", retrieve_payment_method),
    Operation("POST", "/v1/payment_methods/{}/attach", attach_payment_method, {"customer": ID}, required=("customer",)),
    Operation("POST", "/v1/payment_methods/{}/detach", detach_payment_method),
    listing("/v1/charges", list_charges, customer=ID, payment_intent=ID),
    Operation("GET", "/v1/charges/{}", retrieve_charge),
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
    listing("/v1/refunds", list_refunds, charge=ID, payment_intent=ID),
    Operation("GET", "/v1/refunds/{}", retrieve_refund),
    Operation("POST", "/v1/refunds/{}", update_refund, {"metadata": Metadata()}),
    listing("/v1/disputes", list_disputes, charge=ID, payment_intent=ID),
    Operation("GET", "/v1/disputes/{}", retrieve_dispute),
    Operation(
        "POST",
        "/v1/disputes/{}",
        update_dispute,
        {"evidence": Nested(EVIDENCE_MEMBERS), "metadata": Metadata(), "submit": Boolean()},
    ),
    Operation("POST", "/v1/disputes/{}/close", close_dispute),
)

ROUTES = Routes(OPERATIONS)
