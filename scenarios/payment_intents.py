"""Intents, with which buying credit begins: the publishable key, and which amounts may be asked for.

Specification: "Billing", "Limits", "Authentication" 4, "Errors" 11.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service import Accounts, Refusals, Session
from conformance.service.derivations import random_key
from conformance.service.envelopes import billing_auth
from conformance.service.node import Node
from conformance.service.payments import PaymentIntent, Payments
from conformance.service.refusal import ILL_FORMED, was_accepted
from conformance.service.sizes import NUMBERS
from conformance.values.ids import Cents

BILLS = ("managed_accounts", "billing")
BUYS = (*BILLS, "payment_sandbox")
TOO_FEW = (499, 100, 1, 0, -500, -(2**64) + 500)


@case("publishable-key", requirements=["BILL-010", "AUTH-060", "AUTH-070"], needs=["billing"])
def publishable_key(judge: Judge, session: Session) -> None:
    """stripe_config answers a publishable key and no secret one, whoever asks."""
    with judge("BILL-010", "AUTH-060"):
        answer = session.call("stripe_config")
    with judge("BILL-010"):
        key = answer.at(("publishable_key",))
        if session.profile.offers("payment_sandbox"):  # another provider may write its keys otherwise
            judge.that(isinstance(key, str) and key.startswith("pk_"), "a publishable key (pk_…)", key)
        judge.that(isinstance(key, str) and key != "", "a publishable key", key)
        judge.that("sk_" not in answer.text and "rk_" not in answer.text, "no secret key of the provider", answer.text)
        judge.same(session.call("stripe_config").at(("publishable_key",)), key, "the key when it is asked for again")
    for via in ("x-api-key", "bearer"):
        with judge.apart("AUTH-070"):
            asked = replace(session.request("stripe_config", random_key(session.random)), via=via)
            again, _ = session.accept(asked)
            judge.same(again.at(("publishable_key",)), key, f"the key for a key that nobody owns, by {via}")


@case(
    "publishable-key-beside-a-proof",
    requirements=["AUTH-070"],
    needs=["billing"],
    uses=["wire.typed_data.form", "wire.x_wallet_auth.encoding"],
)
def publishable_key_beside_a_proof(judge: Judge, node: Node) -> None:
    """stripe_config answers a page that sends X-Wallet-Auth with every call, also a proof that is worth nothing."""
    session, carol, erin = node.session, node.wallets.new("carol"), node.wallets.new("erin")
    key = session.call("stripe_config").at(("publishable_key",))
    for what, proof in {
        "of this minute": billing_auth(session, carol),
        "of an hour ago": billing_auth(session, carol, issued=-3600),
        "of another signer": billing_auth(session, carol, signed_by=erin),
    }.items():
        with judge.apart():
            again, _ = session.accept(replace(session.request("stripe_config"), headers=proof))
            judge.same(again.at(("publishable_key",)), key, f"the key beside a proof {what}")


@case("amounts-from-the-minimum", requirements=["BILL-030", "BILL-040", "LIM-030"], needs=BILLS)
def amounts_from_the_minimum(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An intent is made over each amount of whole cents from 500 on, and each has a secret of its own."""
    alice = accounts.new(spends=False)
    secrets = []
    for cents in (501, 1_234, 100_000, 500):
        with judge(*(("BILL-040", "LIM-030") if cents == 500 else ("BILL-030",))):
            answer, _ = session.accept(payments.intent_request(alice.key, cents))
        with judge("BILL-030"):
            secrets.append(answer.at(("client_secret",)))
    with judge("BILL-030"):
        texts = all(isinstance(secret, str) and secret for secret in secrets)
        judge.that(texts and len(set(secrets)) == len(secrets), "a client_secret of its own for each request", secrets)


@case("amounts-at-the-provider", requirements=["BILL-030"], needs=BUYS)
def amounts_at_the_provider(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """The provider asks for the amounts of the intents, of which each request has one of its own."""
    alice = accounts.new(spends=False)
    with judge():
        made = [payments.intend(alice.key, Cents(cents)) for cents in (501, 1_234, 100_000)]
        ids = [intent.id for intent in made]
        judge.distinct(ids, "intents, one for each request")
        shown = [payments.at_provider(intent) for intent in made]
        judge.same(
            [intent["amount"] for intent in shown], [str(one.cents) for one in made], "the amounts at the provider"
        )
    currencies = {intent["currency"] for intent in shown}
    judge.set_up(currencies == {session.profile.payments.currency}, "intents in the profile's payments.currency")


@case("amounts-below-the-minimum", requirements=["BILL-050", "ERR-110", "LIM-030"], needs=BILLS)
def amounts_below_the_minimum(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An amount below 500 cents is refused."""
    alice = accounts.new(spends=False)
    _, least = session.accept(payments.intent_request(alice.key, 500))
    reads = [payments.unchanged_balance(alice.key)]
    with judge("BILL-050", "ERR-110", "LIM-030"), Refusals(session, control=least, unchanged=reads) as few:
        for cents in TOO_FEW:
            few.send(payments.intent_request(alice.key, cents), ILL_FORMED)


@case("wallets-amounts-below-the-minimum", requirements=["BILL-050", "ERR-110", "LIM-030"], needs=BILLS)
def wallets_amounts_below_the_minimum(judge: Judge, node: Node) -> None:
    """An amount below 500 cents is refused to a wallet that proves itself with X-Wallet-Auth, too."""
    carol, alice = node.wallets.new("carol"), node.accounts.new()
    if node.session.profile.offers("payment_sandbox"):
        node.payments.usual_credit(alice.key)
    node.accounts.convert(alice.key, carol)
    _, least = node.session.accept(node.payments.by_wallet("create_payment_intent", carol, amount_cents=500))
    reads = [node.payments.unchanged_balance_by(carol)]
    with judge("BILL-050", "ERR-110", "LIM-030"), Refusals(node.session, control=least, unchanged=reads) as few:
        for cents in TOO_FEW:
            few.send(node.payments.by_wallet("create_payment_intent", carol, amount_cents=cents), ILL_FORMED)


@case("amounts-of-other-types", requirements=["BILL-060"], needs=BILLS)
def amounts_of_other_types(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An `amount_cents` that is no whole number, is out of range or is missing is refused."""
    # Whether the text "500" is one is silent.
    alice = accounts.new(spends=False)
    _, least = session.accept(payments.intent_request(alice.key, 500))
    reads = [payments.unchanged_balance(alice.key)]
    wrong: list[object] = [500.5, 999.99, "five hundred", "", None, True, False, [500], [], {"cents": 500}]
    wrong += NUMBERS["amount_cents out of range"]
    with judge("BILL-060"), Refusals(session, control=least, unchanged=reads) as refusals:
        for amount in session.some(wrong):
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


@case("members-about-the-amount", requirements=["BILL-050", "BILL-130"], needs=BUYS)
def members_about_the_amount(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """Members that the endpoint does not have are refused, or change neither amount nor currency of the payment.

    A body that names two amounts is refused, or is not about the one that is below the minimum.
    """
    alice = accounts.new(spends=False)
    plain = payments.at_provider(payments.intend(alice.key, Cents(600)))
    other = "jpy" if plain["currency"] != "jpy" else "krw"
    for further in ({"currency": other}, {"amount": 50}, {"amount_received": 60_000}, {"amount_to_pay": 50}):
        with judge.apart("BILL-130"):
            request = with_members(payments.intent_request(alice.key, 600), further)
            if intent := intent_if_made(payments, session, request, 600):
                judge.same(payments.at_provider(intent), plain, f"what the provider asks for, with {further}")
    request = payments.intent_request(alice.key, 600)
    name = json.dumps(request.operation.request.get("amount_cents", "amount_cents"))
    for first, last in ((600, 60), (60, 600)):
        with judge.apart("BILL-050"):
            twice = replace(request, body=f"{{{name}: {first}, {name}: {last}}}")
            if intent := intent_if_made(payments, session, twice, 600):
                asked = payments.at_provider(intent)["amount"]
                judge.same(asked, "600", f"the amount that the provider asks for, with {twice.body}")
    for cents in NUMBERS["amount_cents past a word"]:
        with judge.apart("BILL-130"):
            if intent := payments.intend_where_taken(alice.key, Cents(cents)):
                asked = payments.at_provider(intent)["amount"]
                judge.same(asked, str(cents), "the amount that the provider asks for")


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


def credits_nothing(judge: Judge, payments: Payments, session: Session, key: str, intent_id: str) -> None:
    """Judge a confirmation without a payment, which may be refused or accepted."""
    before = payments.balance(key)
    answer = session.send(payments.confirm_request(key, intent_id))
    with judge.apart():
        was_accepted(session, answer, or_refused=["any", "insufficient_credit"])
        payments.wait_for_credit()
        judge.same(payments.balance(key), before, f"the balance after a confirmation of {intent_id[:40]!r}")


@case("unpaid-intent-is-confirmed", requirements=["BILL-080"], needs=BILLS)
def unpaid_intent_is_confirmed(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An intent that nobody has paid is confirmed without credit, also where the suite can pay none."""
    alice = accounts.new(spends=False)
    intent = payments.intend(alice.key)
    for _ in range(2):
        credits_nothing(judge, payments, session, alice.key, intent.id)


@case("unknown-intents-are-confirmed", requirements=["BILL-090"], needs=BILLS)
def unknown_intents_are_confirmed(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """Ids that name no intent are confirmed without credit, also where the suite can pay none."""
    alice = accounts.new(spends=False)
    payments.publishable_key()  # raises for one of live mode
    for intent_id in (f"pi_{session.random.getrandbits(96):024x}", "", "x" * 300):
        credits_nothing(judge, payments, session, alice.key, intent_id)
