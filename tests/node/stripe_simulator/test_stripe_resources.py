"""Customers, payment methods, charges, refunds, disputes; lists with cursors and expansion."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import stripe
from simulators import KEYS, START, Caller, CheckedSimulator, Raw, refusal

from reference_node.kept_file import KeptFile
from reference_node.stripe_simulator.kept_payments import PAYMENTS_FILE, KeptPayments
from reference_node.stripe_simulator.simulator import StripeSimulator


def test_customer_is_made_changed_and_deleted(merchant: Caller) -> None:
    address = {"line1": "1 Street", "country": "DE"}
    customer = merchant.v1.customers.create(
        {
            "email": "a@example.com",
            "metadata": {"a": "1"},
            "address": address,
            "shipping": {"name": "A", "address": address},
        }  # type: ignore[typeddict-item]
    )
    assert customer.address is not None
    assert (customer.address.line1, customer.address.city) == ("1 Street", None)
    updated = merchant.v1.customers.update(customer.id, {"email": "", "name": "A", "address": ""})
    assert (updated.email, updated.name, updated.address, updated.metadata) == (None, "A", None, customer.metadata)
    assert merchant.v1.customers.delete(customer.id).deleted
    assert merchant.v1.customers.retrieve(customer.id).deleted
    assert merchant.v1.customers.list().data == []
    for refused in (
        lambda: merchant.v1.customers.update(customer.id, {"name": "B"}),
        lambda: merchant.v1.customers.delete(customer.id),
    ):
        assert refusal(refused).http_status == 404
    fault = refusal(lambda: merchant.intent(customer=customer.id))
    assert (fault.http_status, fault.code) == (400, "resource_missing")


def test_unknown_ids_are_not_found(simulator: CheckedSimulator, merchant: Caller) -> None:
    intent = merchant.intent()
    for kind in ("customers", "payment_intents", "payment_methods", "charges", "refunds", "disputes"):
        for unknown in ("x", intent.id if kind != "payment_intents" else "pi_", "%2e%2e", "%00", f"a%2F{intent.id}"):
            answer = Raw(simulator, KEYS.secret).send("GET", f"/v1/{kind}/{unknown}")
            assert (answer.status, answer.error["code"]) == (404, "resource_missing")


def test_customers_are_found_by_email(merchant: Caller) -> None:
    made = [
        merchant.v1.customers.create({"email": email}) for email in ("a@example.com", "b@example.com", "a@example.com")
    ]
    found = merchant.v1.customers.list({"email": "a@example.com"}).data
    assert [customer.id for customer in found] == [made[2].id, made[0].id]


def test_lists_have_pages_both_ways(merchant: Caller) -> None:
    ids = [merchant.v1.customers.create().id for _ in range(25)][::-1]
    first = merchant.v1.customers.list()
    assert ([entry.id for entry in first.data], first.has_more, first.url) == (ids[:10], True, "/v1/customers")
    second = merchant.v1.customers.list({"limit": 10, "starting_after": ids[9]})
    assert ([entry.id for entry in second.data], second.has_more) == (ids[10:20], True)
    last = merchant.v1.customers.list({"limit": 100, "starting_after": ids[19]})
    assert ([entry.id for entry in last.data], last.has_more) == (ids[20:], False)
    back = merchant.v1.customers.list({"limit": 5, "ending_before": ids[20]})
    assert ([entry.id for entry in back.data], back.has_more) == (ids[15:20], True)
    newest = merchant.v1.customers.list({"limit": 5, "ending_before": ids[5]})
    assert ([entry.id for entry in newest.data], newest.has_more) == (ids[:5], False)
    assert [entry.id for entry in first.auto_paging_iter()] == ids


@pytest.mark.parametrize(
    ("query", "param"),
    [
        (b"limit=0", "limit"),
        (b"limit=101", "limit"),
        (b"limit=ten", "limit"),
        (b"starting_after=cus_unknown", "starting_after"),
        (b"created[since]=1", "created[since]"),
    ],
)
def test_list_with_a_fault_is_refused(simulator: CheckedSimulator, query: bytes, param: str) -> None:
    answer = Raw(simulator, KEYS.secret).send("GET", "/v1/customers", query)
    assert (answer.status, answer.error["param"]) == (400, param)


def test_both_cursors_at_once_are_refused(merchant: Caller) -> None:
    one = merchant.v1.customers.create().id
    assert refusal(lambda: merchant.v1.customers.list({"starting_after": one, "ending_before": one})).http_status == 400


def test_lists_are_bounded_by_time(simulator: CheckedSimulator, merchant: Caller) -> None:
    old = merchant.v1.customers.create().id
    simulator.clock.offset_seconds = 10
    new = merchant.v1.customers.create().id
    found = {
        bound: [entry.id for entry in merchant.v1.customers.list({"created": {bound: START + 10}}).data]  # type: ignore[misc]
        for bound in ("gt", "gte", "lt", "lte")
    }
    assert found == {"gt": [], "gte": [new], "lt": [old], "lte": [new, old]}
    assert [entry.id for entry in merchant.v1.customers.list({"created": START}).data] == [old]


def test_expansion_reaches_four_levels(merchant: Caller) -> None:
    customer = merchant.v1.customers.create({"email": "a@example.com"})
    intent = merchant.paid(customer=customer.id)
    found = merchant.v1.payment_intents.retrieve(
        intent.id,
        {"expand": ["latest_charge.customer", "latest_charge.payment_intent.customer", "latest_charge.refunds"]},
    )
    charge = found.latest_charge
    assert isinstance(charge, stripe.Charge)
    assert isinstance(charge.customer, stripe.Customer)
    assert charge.customer.email == "a@example.com"
    assert isinstance(charge.payment_intent, stripe.PaymentIntent)
    assert isinstance(charge.payment_intent.customer, stripe.Customer)
    assert charge.refunds is not None
    assert charge.refunds.data == []
    listed = merchant.v1.payment_intents.list({"expand": ["data.customer"]}).data[0].customer
    assert isinstance(listed, stripe.Customer)


@pytest.mark.parametrize(
    "path", ["amount", "customer.email", "latest_charge.nothing", ".", "a.b.c.d.e", "data.customer"]
)
def test_expansion_of_what_names_nothing_is_refused(merchant: Caller, path: str) -> None:
    intent = merchant.paid(customer=merchant.v1.customers.create().id)
    fault = refusal(lambda: merchant.v1.payment_intents.retrieve(intent.id, {"expand": [path]}))
    assert (fault.http_status, fault.error and fault.error.param) == (400, "expand")


def test_payment_method_is_made_by_a_browser_and_attached(merchant: Caller, browser: Caller) -> None:
    customer = merchant.v1.customers.create()
    method = browser.v1.payment_methods.create(
        {"type": "card", "card": {"token": "tok_mastercard"}, "billing_details": {"name": "A"}}
    )
    assert method.card is not None
    assert (method.card.brand, method.billing_details.name) == ("mastercard", "A")
    attached = merchant.v1.payment_methods.attach(method.id, {"customer": customer.id})
    assert attached.customer == customer.id
    assert [entry.id for entry in merchant.v1.payment_methods.list({"customer": customer.id}).data] == [method.id]
    attach, detach = merchant.v1.payment_methods.attach, merchant.v1.payment_methods.detach
    other = merchant.v1.customers.create()
    assert refusal(lambda: attach(method.id, {"customer": other.id})).http_status == 400
    assert detach(method.id).customer is None
    assert refusal(lambda: detach(method.id)).http_status == 400
    unknown: Any = {"type": "card", "card": {"token": "tok_unknown"}}
    assert refusal(lambda: browser.v1.payment_methods.create(unknown)).http_status == 400
    assert merchant.v1.payment_methods.list({"customer": customer.id}).data == []


def test_refund_gives_back_in_parts(merchant: Caller) -> None:
    intent = merchant.paid()
    merchant.v1.refunds.create({"payment_intent": intent.id, "amount": 400, "metadata": {"why": "a"}})
    too_much = refusal(lambda: merchant.v1.refunds.create({"payment_intent": intent.id, "amount": 601}))
    assert too_much.error is not None
    assert too_much.error.param == "amount"
    rest = merchant.v1.refunds.create({"charge": str(intent.latest_charge)})
    assert (rest.amount, rest.status, rest.payment_intent) == (600, "succeeded", intent.id)
    assert refusal(lambda: merchant.v1.refunds.create({"payment_intent": intent.id})).code == "charge_already_refunded"
    charge = merchant.v1.charges.retrieve(str(intent.latest_charge), {"expand": ["refunds"]})
    assert (charge.amount_refunded, charge.refunded) == (1000, True)
    assert charge.refunds is not None
    assert [refund.amount for refund in charge.refunds.data] == [600, 400]
    assert len(merchant.v1.refunds.list({"payment_intent": intent.id, "charge": charge.id}).data) == 2
    assert merchant.v1.payment_intents.retrieve(intent.id).status == "succeeded"


def test_refund_of_what_was_not_paid_is_refused(merchant: Caller) -> None:
    unpaid, held = merchant.intent(), merchant.paid(capture_method="manual")
    assert refusal(lambda: merchant.v1.refunds.create({"payment_intent": unpaid.id})).http_status == 400
    assert refusal(lambda: merchant.v1.refunds.create({"payment_intent": held.id})).http_status == 400
    assert refusal(merchant.v1.refunds.create).http_status == 400
    assert merchant.v1.refunds.list().data == []


def test_refund_of_a_partly_captured_payment_is_what_was_captured(merchant: Caller) -> None:
    intent = merchant.paid(capture_method="manual")
    merchant.v1.payment_intents.capture(intent.id, {"amount_to_capture": 300})
    assert merchant.v1.refunds.create({"payment_intent": intent.id}).amount == 300
    assert merchant.v1.charges.retrieve(str(intent.latest_charge)).refunded


@pytest.mark.parametrize(
    ("text", "status"), [("winning_evidence", "won"), ("losing_evidence", "lost"), ("x", "under_review")]
)
def test_dispute_is_decided_by_its_evidence(merchant: Caller, text: str, status: str) -> None:
    intent = merchant.intent(confirm=True, payment_method="pm_card_createDispute")
    assert intent.status == "succeeded"
    assert merchant.v1.charges.retrieve(str(intent.latest_charge)).disputed
    (dispute,) = merchant.v1.disputes.list({"payment_intent": intent.id}).data
    assert (dispute.amount, dispute.status, dispute.charge) == (1000, "needs_response", intent.latest_charge)
    assert refusal(lambda: merchant.v1.refunds.create({"payment_intent": intent.id})).code == "charge_disputed"
    draft = merchant.v1.disputes.update(dispute.id, {"evidence": {"uncategorized_text": text}, "submit": False})
    assert (draft.status, draft.evidence_details.has_evidence) == ("needs_response", True)
    assert merchant.v1.disputes.update(dispute.id, {"submit": True}).status == status


def test_closed_dispute_is_lost(merchant: Caller) -> None:
    intent = merchant.intent(confirm=True, payment_method="pm_card_createDispute")
    (dispute,) = merchant.v1.disputes.list({"charge": str(intent.latest_charge)}).data
    assert merchant.v1.disputes.close(dispute.id).status == "lost"
    assert refusal(lambda: merchant.v1.disputes.close(dispute.id)).http_status == 400


def test_file_with_test_clocks_of_an_earlier_version_is_read_without_them(tmp_path: Path) -> None:
    path = tmp_path / "payments.sqlite"
    KeptFile(path, PAYMENTS_FILE, create=True).close()
    kept = KeptPayments(path)
    customer = Caller(StripeSimulator(KEYS, kept=kept), KEYS.secret).v1.customers.create({"email": "a@example.com"})
    kept.close()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE resource SET members = json_set(members, '$.test_clock', 'clock_1a')")
        clock = json.dumps({"id": "clock_1a", "created": 0, "livemode": False, "sequence": 2, "frozen_time": 0})
        database.execute("INSERT INTO resource VALUES ('clock_1a', 'testclock', 2, ?)", (clock,))

    again = KeptPayments(path)
    (found,) = Caller(StripeSimulator(KEYS, kept=again), KEYS.secret).v1.customers.list().data
    again.close()
    assert (found.id, found.email, found.test_clock) == (customer.id, "a@example.com", None)
