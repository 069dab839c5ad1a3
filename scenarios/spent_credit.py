"""Calls of an account that comes to the end of its credit, or has none.

Specification: "What the service does" 6, "Billing".
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import JsonValue

from conformance.cases import Judge, case
from conformance.service.acceptance import must_accept
from conformance.service.at_once import accepted_at_once
from conformance.service.lists import unchanged_list
from conformance.service.node import Node
from conformance.service.payments import NOT_PAID
from conformance.service.refusal import Refusals
from conformance.service.sample_calls import SampleObjects, sample_objects, sample_reads, sample_writes
from conformance.values.ids import Cents
from conformance.values.json_values import printed

BILLS = ("managed_accounts", "billing")
BUYS = (*BILLS, "payment_sandbox")
BOUGHT = {"accounts.credits": "bought"}
SHORT = "billing.insufficient_credit_behaviour.write"
NEGATIVE = "billing.insufficient_credit_behaviour.may_go_negative"
STARTING = "billing.insufficient_credit_behaviour.starting_cents"
SHORT_OF_CREDIT: dict[str, JsonValue] = {SHORT: ["insufficient_credit", "forbidden", "conflict", "invalid"]}
"""For nodes that refuse what the credits do not cover."""
SPENDS_BY = "update_usage_api_key_metadata"
"""The write with which an account comes to zero: it leaves nothing behind."""
BURST = 16
RACES, RACERS = 3, 8
"""A race shows in some rounds only."""
MOST_BURSTS = 75


def with_least_credit(judge: Judge, node: Node) -> SampleObjects:
    """What a fresh account has for requests that has bought the least that can be bought."""
    alice = node.accounts.new(spends=False)
    judge.set_up(node.payments.balance(alice.key) == 0, "a fresh account without credit")
    node.payments.buy(alice.key, Cents(500))
    return with_reads(judge, node, sample_objects(node, alice))


def with_reads(judge: Judge, node: Node, objects: SampleObjects) -> SampleObjects:
    """The objects, once each read about them was accepted while there is credit, and a run by the weak key refused."""
    for request in sample_reads(node, objects).values():
        node.session.accept(request)
    ran = node.session.send(node.runs.request(objects.removable, objects.action.code)).accepted
    judge.set_up(not ran, "a usage key without permissions that runs nothing")
    return objects


@case("last-cents-are-spent-once", requirements=["BILL-220"], needs=BUYS, uses=[BOUGHT])
def last_cents_are_spent_once(judge: Judge, node: Node) -> None:
    """An account pays each accepted write, also when many are sent at once and its credit runs out."""
    objects = with_least_credit(judge, node)
    write = sample_writes(node, objects)[SPENDS_BY]
    left = node.payments.balance(objects.alice.key)
    node.session.accept(write)
    price = left - node.payments.balance(objects.alice.key)
    judge.set_up(price > 0, "a write that costs something")
    for _ in range(MOST_BURSTS):
        before = node.payments.balance(objects.alice.key)
        with judge("BILL-220"):
            accepted = accepted_at_once(node.session, [write] * BURST)
            left = node.payments.balance(objects.alice.key)
            judge.same(left, before - price * accepted, f"the balance after {accepted} of {BURST} writes at once")
        if accepted < BURST:
            return
    judge.set_up(False, "an account that comes to the end of its credit")


@case("fresh-account-has-what-is-stated", requirements=["BILL-200"], needs=BILLS, uses=[STARTING])
def fresh_account_has_what_is_stated(judge: Judge, node: Node) -> None:
    """A fresh account has the credits that the profile states."""
    alice = node.accounts.new(spends=False)
    with judge():
        judge.same(node.payments.balance(alice.key), node.session.stated(STARTING), "the balance of a fresh account")


@case(
    "balance-stays-above-zero",
    requirements=["BILL-200"],
    needs=[*BILLS, "credit_control"],
    uses=[{NEGATIVE: False}],
)
def balance_stays_above_zero(judge: Judge, node: Node) -> None:
    """Where the profile states that balances do not fall below zero, neither writes nor runs without credit do that."""
    alice = node.accounts.new()
    objects = sample_objects(node, alice)
    write, run = sample_writes(node, objects)[SPENDS_BY], node.runs.request(objects.usage_key, objects.action.code)
    for request in (write, run):
        node.session.accept(request)
    node.accounts.spend_all(alice)
    judge.set_up(node.payments.balance(alice.key) == 0, "an account that has spent all of its credit")
    for request, what in ((write, "a write"), (run, "a run")):
        node.session.send(request)
        with judge():
            left = node.payments.balance(alice.key)
            judge.that(left >= 0, f"a balance of at least zero after {what} without credit", left)


def spend_all(node: Node, objects: SampleObjects) -> None:
    """Write until nothing is left, several times at once."""
    request = sample_writes(node, objects)[SPENDS_BY]
    for _ in range(MOST_BURSTS):
        if accepted_at_once(node.session, [request] * BURST) < BURST:
            return


@case(
    "without-credit",
    requirements=["BILL-030", "BILL-150", "BILL-180", "BILL-190"],
    needs=BUYS,
    uses=[BOUGHT, SHORT_OF_CREDIT],
)
def without_credit(judge: Judge, node: Node) -> None:
    """At a balance of zero writes and runs are refused without effect; reads and buying credit work."""
    with judge.apart("BILL-030"):
        fresh = node.accounts.new(spends=False)
        answer = node.session.send(node.payments.intent_request(fresh.key, 1000))
        judge.that(answer.accepted, "create_payment_intent to be accepted by an account without credit", answer.status)
    objects = with_least_credit(judge, node)
    spend_all(node, objects)
    at_zero(judge, node, objects)


@case("last-cent-pays-a-write", requirements=["BILL-140"], needs=["managed_accounts", "billing", "credit_control"])
def last_cent_pays_a_write(judge: Judge, node: Node) -> None:
    """A write that costs all of the credit that is left is billed against it, and not refused."""
    alice = node.accounts.new()
    made = node.usage_keys.add(alice.key)
    labels: dict[str, object] = {"name": node.label, "description": "d"}
    write = node.session.request(SPENDS_BY, alice.key, usage_api_key=made.key, **labels)
    balances = [node.payments.balance(alice.key)]
    for _ in range(2):
        node.session.accept(write)
        balances.append(node.payments.balance(alice.key))
    price = balances[0] - balances[1]
    judge.set_up(price > 0 and price == balances[1] - balances[2], "a write that costs the same each time")
    node.accounts.spend_all(alice, leave=price)
    judge.set_up(node.payments.balance(alice.key) == price, f"an account that has {price} cents left")
    with judge("BILL-140"):
        answer = node.session.send(write)
        judge.that(answer.accepted, f"{SPENDS_BY} to be accepted by an account that has its price left", answer.status)


@case(
    "credit-for-one-write-pays-one", requirements=["BILL-220"], needs=["managed_accounts", "billing", "credit_control"]
)
def credit_for_one_write_pays_one(judge: Judge, node: Node) -> None:
    """An account with credit for one write gets no more than one of many writes that are sent at once."""
    for _ in range(RACES):
        alice = node.accounts.new()
        made = node.usage_keys.add(alice.key)
        labels: dict[str, object] = {"name": node.label, "description": "d"}
        write = node.session.request(SPENDS_BY, alice.key, usage_api_key=made.key, **labels)
        before = node.payments.balance(alice.key)
        node.session.accept(write)
        price = before - node.payments.balance(alice.key)
        judge.set_up(price > 0, "a write that costs something")
        node.accounts.spend_all(alice, leave=price)
        judge.set_up(node.payments.balance(alice.key) == price, f"an account that has {price} cents left")
        with judge():
            accepted = accepted_at_once(node.session, [write] * RACERS)
            # Where one alone needs no credit, either, that has nothing to do with the others.
            if accepted > 1 and node.payments.balance(alice.key) < price:
                judge.set_up(not node.session.send(write).accepted, "a write without credit to be refused")
            judge.that(
                accepted <= 1, f"one of {RACERS} writes at once to be accepted, for which there is credit", accepted
            )


@case(
    "once-credit-is-spent",
    requirements=["BILL-030", "BILL-150", "BILL-180", "BILL-190"],
    needs=[*BUYS, "credit_control"],
    uses=[SHORT_OF_CREDIT],
)
def once_credit_is_spent(judge: Judge, node: Node) -> None:
    """With its credit spent by the test control, writes and runs are refused; reads and buying credit work."""
    alice = node.accounts.new()
    objects = with_reads(judge, node, sample_objects(node, alice))
    node.accounts.spend_all(alice)
    with judge.apart("BILL-030"):
        answer = node.session.send(node.payments.intent_request(alice.key, 1000))
        judge.that(answer.accepted, "create_payment_intent to be accepted by an account without credit", answer.status)
    at_zero(judge, node, objects)


def at_zero(judge: Judge, node: Node, objects: SampleObjects) -> None:
    """Judge what costs and what is free in an account that has spent its credit; it buys some for the control.

    Then the usage key runs at once, and the one that was refused the right to does not.
    """
    session, key = node.session, objects.alice.key
    judge.set_up(node.payments.balance(key) == 0, "an account that has spent all of its credit")
    for name, request in sample_reads(node, objects).items():
        with judge.apart("BILL-150"):
            answer = session.send(request)
            judge.that(answer.accepted, f"{name} to be accepted without credit", answer.status)
    writes = sample_writes(node, objects)
    by_usage_key = replace(writes["add_group"], credential=objects.usage_key)
    run, by_weak = (node.runs.request(each, objects.action.code) for each in (objects.usage_key, objects.removable))
    writes["update_usage_api_key"] = writes["update_usage_api_key"].changed(execute_in_groups=[objects.group])
    refused = [run, by_usage_key, *writes.values()]
    unpaid: list[str] = []
    gained: list[str] = []

    def with_credit() -> None:
        node.payments.buy(key, Cents(500))
        answer = session.send(run)
        if answer.status == NOT_PAID and node.payments.balance(key) > 0:
            unpaid.append(answer.summary)
            return
        must_accept(answer)
        if (by_weak_key := session.send(by_weak)).accepted:
            gained.append(by_weak_key.summary)
        for request in refused[1:]:
            session.accept(request)

    reads = [unchanged_list(session, name, key) for name in ("list_groups", "list_wallets", "list_actions")]
    reads += [unchanged_list(session, "list_api_keys", key), node.payments.unchanged_balance(key)]
    reads += [unchanged_list(session, "list_wallets_in_group", key, group_id=objects.group)]
    reads += [unchanged_list(session, "list_actions", key, group_id=objects.group)]
    with judge("BILL-190"), Refusals(session, control=with_credit, unchanged=reads) as refusals:
        for request in refused:
            refusals.send(request, [printed(session.stated(SHORT))])
    with judge.apart("BILL-180"):
        judge.that(not unpaid, "a run by the usage key that the credit bought since pays", unpaid)
    with judge.apart("BILL-190"):
        judge.that(not gained, "no run by a usage key that was refused the right to for lack of credit", gained)
