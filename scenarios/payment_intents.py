"""Intents, with which buying credit begins: the publishable key, and which amounts may be asked for.

Specification: "Billing", "Limits", "Authentication" 4, "Errors" 11.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service import Accounts, Refusals, Session
from conformance.service.derivations import random_key
from conformance.service.node import Node
from conformance.service.payments import ILL_FORMED, PaymentIntent, Payments
from conformance.service.refusal import was_accepted
from conformance.values.ids import Cents

BUYS = ("managed_accounts", "billing", "payment_sandbox")
TOO_FEW = (499, 1, 0, -1, -500, -(2**64) + 500)


@case("publishable-key", requirements=["BILL-010", "AUTH-060", "AUTH-070"], needs=["payment_sandbox"])
def publishable_key(judge: Judge, session: Session) -> None:
    """stripe_config answers a publishable key and no secret one, whoever asks."""
    with judge("BILL-010", "AUTH-060"):
        answer = session.call("stripe_config")
    with judge("BILL-010"):
        key = answer.at(("publishable_key",))
        judge.that(isinstance(key, str) and key.startswith("pk_"), "a publishable key (pk_…)", key)
        judge.that("sk_" not in answer.text and "rk_" not in answer.text, "no secret key of the provider", answer.text)
        judge.same(session.call("stripe_config").at(("publishable_key",)), key, "the key when it is asked for again")
    with judge("AUTH-070"):
        for via in ("x-api-key", "bearer"):
            asked = replace(session.request("stripe_config", random_key(session.random)), via=via)
            again, _ = session.accept(asked)
            judge.same(again.value, answer.value, f"the answer to a key that nobody owns, by {via}")


@case("amounts-from-the-minimum", requirements=["BILL-030", "BILL-040", "LIM-030"], needs=BUYS)
def amounts_from_the_minimum(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An intent is made over each amount of whole cents from 500 on, and each has an intent of its own."""
    alice = accounts.new(spends=False)
    with judge("BILL-030"):
        made = [payments.intend(alice.key, Cents(cents)) for cents in (501, 1_234, 100_000)]
    with judge("BILL-040", "LIM-030"):
        made.append(payments.intend(alice.key, Cents(500)))
    with judge("BILL-030"):
        ids = [intent.id for intent in made]
        judge.that(len(set(ids)) == len(ids), "an intent of its own for each request", ids)
        shown = [payments.at_provider(intent) for intent in made]
        judge.same(
            [intent["amount"] for intent in shown], [str(one.cents) for one in made], "the amounts at the provider"
        )
    currencies = {intent["currency"] for intent in shown}
    judge.set_up(currencies == {session.profile.payments.currency}, "intents in the profile's payments.currency")


@case("amounts-below-the-minimum", requirements=["BILL-050", "ERR-110", "LIM-030"], needs=BUYS)
def amounts_below_the_minimum(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An amount below 500 cents is refused."""
    alice = accounts.new(spends=False)
    least = payments.intend(alice.key, Cents(500))
    reads = [payments.unchanged_balance(alice.key)]
    with judge("BILL-050", "ERR-110", "LIM-030"), Refusals(session, control=least.accepted, unchanged=reads) as few:
        for cents in TOO_FEW:
            few.send(payments.intent_request(alice.key, cents), ILL_FORMED)


@case("wallets-amounts-below-the-minimum", requirements=["BILL-050", "ERR-110", "LIM-030"], needs=BUYS)
def wallets_amounts_below_the_minimum(judge: Judge, node: Node) -> None:
    """An amount below 500 cents is refused to a wallet that proves itself with X-Wallet-Auth, too."""
    carol, alice = node.wallets.new("carol"), node.accounts.new()
    node.payments.usual_credit(alice.key)
    node.accounts.convert(alice.key, carol)
    least = node.payments.intend_by_wallet(carol, Cents(500))
    reads = [node.payments.unchanged_balance_by(carol)]
    with (
        judge("BILL-050", "ERR-110", "LIM-030"),
        Refusals(node.session, control=least.accepted, unchanged=reads) as few,
    ):
        for cents in TOO_FEW:
            few.send(node.payments.by_wallet("create_payment_intent", carol, amount_cents=cents), ILL_FORMED)


@case("amounts-of-other-types", requirements=["BILL-060"], needs=BUYS)
def amounts_of_other_types(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """What is no whole number, is beyond every range or is missing is refused."""
    alice = accounts.new(spends=False)
    least = payments.intend(alice.key, Cents(500))
    reads = [payments.unchanged_balance(alice.key)]
    wrong: list[object] = [500.5, 999.99, "500", "", None, True, False, [500], [], {"cents": 500}]
    wrong += [2**63, 2**64 + 500, 10**30]
    with judge("BILL-060"), Refusals(session, control=least.accepted, unchanged=reads) as refusals:
        for amount in wrong:
            refusals.send(payments.intent_request(alice.key, amount), ILL_FORMED)
        empty = replace(payments.intent_request(alice.key, 500), members={})
        refusals.send(empty, ILL_FORMED)
        for text in ("NaN", "1e999", "500,"):
            refusals.send(replace(empty, body=f'{{"amount_cents": {text}}}'), ILL_FORMED)


def with_members(request: OutgoingRequest, further: Mapping[str, object]) -> OutgoingRequest:
    """The same request with members that the endpoint does not have."""
    return replace(request, members={**request.members, **further})


def intent_if_made(payments: Payments, session: Session, request: OutgoingRequest, cents: int) -> PaymentIntent | None:
    """The intent of a request that may be refused for its further members."""
    answer = session.send(request)
    if not was_accepted(session, answer, or_refused=["any"]):
        return None
    return payments.intent_in(answer, request, Cents(cents))


@case("members-about-the-amount", requirements=["BILL-130"], needs=BUYS)
def members_about_the_amount(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """Members that the endpoint does not have are refused, or change neither amount nor currency of the payment."""
    alice = accounts.new(spends=False)
    plain = payments.at_provider(payments.intend(alice.key, Cents(600)))
    other = "jpy" if plain["currency"] != "jpy" else "krw"
    with judge("BILL-130"):
        for further in ({"currency": other}, {"amount": 50}, {"amount_received": 60_000}, {"amount_to_pay": 50}):
            request = with_members(payments.intent_request(alice.key, 600), further)
            if intent := intent_if_made(payments, session, request, 600):
                judge.same(payments.at_provider(intent), plain, f"what the provider asks for, with {further}")


@case("members-about-the-payment", requirements=["BILL-160"], needs=BUYS)
def members_about_the_payment(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """No member of the request takes the place of a payment."""
    alice = accounts.new(spends=False)
    before = payments.balance(alice.key)
    method = session.profile.payments.methods.succeeds
    claims = ({"confirm": True}, {"confirmed": True}, {"status": "succeeded"}, {"paid": True, "off_session": True})
    with judge("BILL-160"):
        for claim in claims:
            request = with_members(payments.intent_request(alice.key, 600), {"payment_method": method, **claim})
            intent_if_made(payments, session, request, 600)
            payments.wait_for_credit()
            judge.same(payments.balance(alice.key), before, f"the balance after an intent with {claim}")


@case("members-about-whom-it-is-for", requirements=["BILL-120"], needs=BUYS)
def members_about_whom_it_is_for(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """No member of the request makes the intent another account's."""
    alice, mallory = accounts.new(spends=False), accounts.new(spends=False)
    before = payments.balance(mallory.key)
    with judge("BILL-120"):
        for name in ("customer", "account", "wallet_address", "metadata"):
            value: object = mallory.wallet_address if name != "metadata" else {"wallet": mallory.wallet_address}
            request = with_members(payments.intent_request(alice.key, 600), {name: value})
            if intent := intent_if_made(payments, session, request, 600):
                payments.must_pay(intent)
                for key in (mallory.key, alice.key):
                    session.send(payments.confirm_request(key, intent.id))
                payments.wait_for_credit()
                judge.same(payments.balance(mallory.key), before, f"the balance of the account that {name} names")
