"""Customers; lists with cursors, expansion, and files of earlier versions."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import stripe
from simulators import KEYS, Caller, Raw, refusal

from reference_node.kept_file import KeptFile
from reference_node.stripe_simulator.kept_payments import PAYMENTS_FILE, KeptPayments
from reference_node.stripe_simulator.simulator import StripeSimulator


def test_customer_is_made_changed_and_deleted(merchant: Caller) -> None:
    customers = merchant.v1.customers
    customer = customers.create({"email": "a@example.com", "metadata": {"a": "1", "b": "2"}})
    assert (customer.email, customer.name) == ("a@example.com", None)
    updated = customers.update(customer.id, {"email": "", "name": "A", "metadata": {"a": "", "c": "3"}})
    assert (updated.email, updated.name) == (None, "A")
    assert (updated.metadata and updated.metadata.to_dict()) == {"b": "2", "c": "3"}
    emptied = customers.update(customer.id, {"metadata": ""}).metadata
    assert (emptied and emptied.to_dict()) == {}
    assert customers.delete(customer.id).deleted
    assert customers.retrieve(customer.id).deleted
    assert customers.list().data == []
    for refused in (lambda: customers.update(customer.id, {"name": "B"}), lambda: customers.delete(customer.id)):
        assert refusal(refused).http_status == 404
    fault = refusal(lambda: merchant.intent(customer=customer.id))
    assert (fault.http_status, fault.code) == (400, "resource_missing")


def test_unknown_ids_are_not_found(merchant: Caller, raw: Raw) -> None:
    intent = merchant.intent()
    for kind in ("customers", "payment_intents", "charges", "refunds"):
        for unknown in ("x", intent.id if kind != "payment_intents" else "pi_", "%2e%2e", "%00", f"a%2F{intent.id}"):
            answer = raw.send("GET", f"/v1/{kind}/{unknown}")
            assert (answer.status, answer.error["code"]) == (404, "resource_missing")


def test_lists_have_pages_both_ways(merchant: Caller) -> None:
    ids = [merchant.v1.customers.create().id for _ in range(25)][::-1]
    first = merchant.v1.customers.list()
    assert ([entry.id for entry in first.data], first.has_more, first.url) == (ids[:10], True, "/v1/customers")
    assert [entry.id for entry in first.auto_paging_iter()] == ids
    for given, shown, more in (
        ({"limit": 10, "starting_after": ids[9]}, ids[10:20], True),
        ({"limit": 100, "starting_after": ids[19]}, ids[20:], False),
        ({"limit": 5, "ending_before": ids[20]}, ids[15:20], True),
        ({"limit": 5, "ending_before": ids[5]}, ids[:5], False),
    ):
        page = merchant.v1.customers.list(given)  # type: ignore[arg-type]
        assert ([entry.id for entry in page.data], page.has_more) == (shown, more)
    both = refusal(lambda: merchant.v1.customers.list({"starting_after": ids[0], "ending_before": ids[0]}))
    assert both.http_status == 400


@pytest.mark.parametrize(
    ("query", "param"),
    [
        (b"limit=0", "limit"),
        (b"limit=101", "limit"),
        (b"limit=ten", "limit"),
        (b"starting_after=cus_unknown", "starting_after"),
        (b"created[gt]=1", "created"),
    ],
)
def test_list_with_a_fault_is_refused(raw: Raw, query: bytes, param: str) -> None:
    answer = raw.send("GET", "/v1/customers", query)
    assert (answer.status, answer.error["param"]) == (400, param)


def test_expansion_reaches_four_levels(merchant: Caller) -> None:
    customer = merchant.v1.customers.create({"email": "a@example.com"})
    intent = merchant.paid(customer=customer.id)
    charge = merchant.found(intent, "latest_charge.customer", "latest_charge.payment_intent.customer").latest_charge
    assert charge.customer.email == charge.payment_intent.customer.email == "a@example.com"
    listed = merchant.v1.payment_intents.list({"expand": ["data.customer"]}).data[0].customer
    assert isinstance(listed, stripe.Customer)


@pytest.mark.parametrize(
    "path", ["amount", "customer.email", "latest_charge.nothing", ".", "a.b.c.d.e", "data.customer"]
)
def test_expansion_of_what_names_nothing_is_refused(merchant: Caller, path: str) -> None:
    intent = merchant.paid(customer=merchant.v1.customers.create().id)
    fault = refusal(lambda: merchant.found(intent, path))
    assert (fault.http_status, fault.error and fault.error.param) == (400, "expand")


def test_file_of_an_earlier_version_is_read_without_what_is_no_longer_kept(tmp_path: Path) -> None:
    path = tmp_path / "payments.sqlite"
    KeptFile(path, PAYMENTS_FILE, create=True).close()
    kept = KeptPayments(path)
    merchant = Caller(StripeSimulator(KEYS, kept=kept), KEYS.secret)
    customer = merchant.v1.customers.create({"email": "a@example.com"})
    intent = merchant.paid(customer=customer.id)
    kept.close()
    with closing(sqlite3.connect(path)) as database, database:
        for member, value in (("test_clock", "clock_1a"), ("capture_method", "manual"), ("billing_details", "{}")):
            database.execute("UPDATE resource SET members = json_set(members, ?, ?)", (f"$.{member}", value))
        for sequence, kind in enumerate(("testclock", "dispute"), 90):
            made = json.dumps({"id": kind, "created": 0, "livemode": False, "sequence": sequence})
            database.execute("INSERT INTO resource VALUES (?, ?, ?, ?)", (kind, kind, sequence, made))
        database.execute("INSERT INTO belonging VALUES (?, ?)", (intent.id, customer.id))
        due = (99, 0.0, "expiry", intent.id, str(intent.latest_charge))
        database.execute("INSERT INTO due (sequence, at, what, intent, charge) VALUES (?, ?, ?, ?, ?)", due)

    again = KeptPayments(path)
    v1 = Caller(StripeSimulator(KEYS, kept=again), KEYS.secret).v1
    (customer_found,) = v1.customers.list().data
    (intent_found,) = v1.payment_intents.list({"customer": customer.id}).data
    again.close()
    assert (customer_found.id, customer_found.email, customer_found.test_clock) == (customer.id, "a@example.com", None)
    assert (intent_found.id, intent_found.status, intent_found.amount_received) == (intent.id, "succeeded", 1000)
