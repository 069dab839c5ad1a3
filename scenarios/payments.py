"""Payments become credit: those that succeeded, once, for the account that began them, and as much as was paid.

Specification: "Billing". The suite pays as a browser does, in the provider's test mode. The specification says which
confirmations credit nothing. It does not say that they are refused, so a node may accept them without credit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from conformance.cases import Judge, case
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.service import Accounts, Groups, Refusals, Session
from conformance.service.at_once import at_once
from conformance.service.payments import NO_SUCH_INTENT, NOT_YET_PAID, PaymentIntent, Payments
from conformance.service.refusal import was_accepted
from conformance.service.sizes import NUMBERS
from conformance.values.ids import Cents

BUYS = ("managed_accounts", "billing", "payment_sandbox")
AT_ONCE, RACES = 8, 3
"""A race shows in some rounds only: so many confirmations at once, so often."""
ODD = 1_999
"""Cents: as dollars in floating point, they come back as one less."""
(GREAT,) = NUMBERS["amount_cents"]


def sent_at_once(session: Session, requests: Sequence[OutgoingRequest]) -> list[Answer]:
    """The answers to requests that go out at the same moment."""
    branches = [session.branch(f"request {number}") for number in range(len(requests))]
    return at_once([partial(branch.send, request) for branch, request in zip(branches, requests, strict=True)])


@case(
    "payment-becomes-credit",
    requirements=["BILL-020", "BILL-030", "BILL-070", "BILL-130", "BILL-160", "ERR-150"],
    needs=BUYS,
)
def payment_becomes_credit(
    judge: Judge, accounts: Accounts, payments: Payments, groups: Groups, session: Session
) -> None:
    """A paid and confirmed intent adds to the balance, and a larger amount adds more.

    A write that is charged tells a payment without credit from a balance that stands still. A great amount is tried
    where the run may buy so much, and paid where the node takes it.
    """
    alice = accounts.new(spends=False)
    with judge("BILL-020"):
        balances = [payments.balance(alice.key)]
    amounts = [600, 1_200, 600, ODD, *[GREAT] * payments.affords(Cents(2 * GREAT))]
    paid: list[str] = []
    for number, cents in enumerate(amounts, 1):
        with judge("BILL-030"):
            intend = payments.intend_where_taken if cents == GREAT else payments.intend
            intent = intend(alice.key, Cents(cents))
            if intent is not None:
                judge.that(intent.id not in paid, "an intent that is not paid yet", "one that was paid before")
        if intent is None:
            break
        with judge("BILL-160", "BILL-070"):
            judge.same(payments.balance(alice.key), balances[-1], "the balance before the intent is paid")
        if not paid:
            refused = not session.send(payments.intent_request(alice.key, 499)).accepted
            status = payments.pay(intent)
            with judge("ERR-150"):
                canceled = refused and status == "canceled"
                judge.that(not canceled, "an intent as it was before another one was refused", status)
            judge.set_up(status == "succeeded", "a payment that succeeds")
        else:
            payments.must_pay(intent)
        paid.append(intent.id)
        with judge("BILL-070"):
            payments.confirm(alice.key, intent)
        with judge("BILL-020"):
            balances.append(payments.balance(alice.key))
            if balances[-1] <= balances[-2]:
                groups.add(alice.key)
                judge.that(
                    payments.balance(alice.key) < balances[-1],
                    "a balance that rises with each confirmed payment",
                    balances[-1],
                )
        with judge("BILL-070"):
            expected = f"more than {balances[-2]}, the balance before payment {number} of the account was confirmed"
            judge.that(balances[-1] > balances[-2], expected, balances[-1])
    first, double, again, odd, *great = (after - before for before, after in pairwise(balances))
    with judge("BILL-130"):
        judge.same(double, 2 * first, "the credit of a payment of 1,200 cents")
        judge.same(again, first, "the credit of the second payment of 600 cents")
        for credit, cents in zip((odd, *great), amounts[3:], strict=False):
            due = f"{cents * first / 600:.15g} for a payment of {cents} cents, as {first} for one of 600"
            judge.that(600 * credit == cents * first, f"a credit of {due}", credit)


@case("amount-is-the-intents", requirements=["BILL-130"], needs=BUYS)
def amount_is_the_intents(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """A confirmation that names an amount is refused, or credits what was paid."""
    alice = accounts.new(spends=False)
    credit = payments.usual_credit(alice.key)
    before = payments.balance(alice.key)
    intent = payments.paid_intent(alice.key)
    request = payments.confirm_request(alice.key, intent.id)
    with judge("BILL-130"):
        for name in ("amount_cents", "amount", "credit_cents"):
            answer = session.send(replace(request, members={**request.members, name: 50_000}))
            was_accepted(session, answer, or_refused=["any"])
        was_accepted(session, session.send(request), or_refused=["any"])
        payments.wait_for_credit()
        judge.same(payments.balance(alice.key), before + credit, "the balance, by what was paid alone")


@case("unpaid-intents-credit-nothing", requirements=["BILL-080"], needs=BUYS)
def unpaid_intents_credit_nothing(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An intent that is not paid, declined, waits for the customer or is in processing is confirmed without credit."""
    alice = accounts.new(spends=False)
    methods = session.profile.payments.methods
    control = payments.confirm(alice.key, payments.paid_intent(alice.key))
    tried = [method for method in (methods.declined, methods.authentication, methods.processing) if method]
    intents = [payments.intend(alice.key) for _ in range(1 + len(tried))]
    for method, intent in zip(tried, intents[1:], strict=True):
        judge.set_up(payments.pay(intent, method) != "succeeded", f"a payment by {method} that does not succeed")
    reads = [payments.uncredited_balance(alice.key)]
    with judge("BILL-080"), Refusals(session, control=control, unchanged=reads) as refusals:
        for intent in intents:
            refusals.send_without_effect(payments.confirm_request(alice.key, intent.id), NOT_YET_PAID)
        payments.wait_for_credit()


@case("refused-intents-can-still-be-paid", requirements=["BILL-070"], needs=BUYS)
def refused_intents_can_still_be_paid(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An intent that was declined and refused is credited once it is paid in a second try."""
    alice = accounts.new(spends=False)
    intents = [payments.intend(alice.key) for _ in range(2)]
    declined = payments.pay(intents[1], session.profile.payments.methods.declined)
    judge.set_up(declined != "succeeded", "a payment that is declined")
    for intent in intents:
        session.send(payments.confirm_request(alice.key, intent.id))
    for intent in intents:
        payments.must_pay(intent)
        before = payments.balance(alice.key)
        with judge("BILL-070"):
            payments.confirm(alice.key, intent)
            after = payments.balance(alice.key)
            judge.that(after > before, f"a balance above {before} once the intent is paid after all", after)


@case("unknown-intents-credit-nothing", requirements=["BILL-090"], needs=BUYS)
def unknown_intents_credit_nothing(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """Ids that name no intent, values that are no id, and paths in place of one credit nothing."""
    alice = accounts.new(spends=False)
    credited, paid = payments.paid_intent(alice.key), payments.paid_intent(alice.key)
    control = payments.confirm(alice.key, credited)
    invented = f"pi_{session.random.getrandbits(96):024x}"
    wrong: list[object] = [invented, "", "pi_", "pi_%", paid.id[:-1], "x" * 300, None, 7, [paid.id], {"id": paid.id}]
    wrong += ["../customers", f"../payment_intents/{paid.id}", f"{paid.id}/../{paid.id}", f"{invented}?{paid.id}"]
    reads = [payments.uncredited_balance(alice.key)]
    with judge("BILL-090"), Refusals(session, control=control, unchanged=reads) as refusals:
        for intent_id in wrong:
            refusals.send_without_effect(payments.confirm_request(alice.key, intent_id), NO_SUCH_INTENT)
        without = replace(payments.confirm_request(alice.key, paid.id), members={})
        refusals.send_without_effect(without, NO_SUCH_INTENT)
        payments.wait_for_credit()


def confirmed_again(session: Session, answer: Answer) -> None:
    """Raise unless a further confirmation ends as the profile's `payments.confirmed_again` says."""
    stated = session.profile.payments.confirmed_again
    if stated == "accepted":
        was_accepted(session, answer, or_refused=["any"])
    else:
        was_accepted(session, answer, or_refused=[stated, "any", "insufficient_credit"])


@case("credited-once", requirements=["BILL-070", "BILL-100", "BILL-130"], needs=BUYS)
def credited_once(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """Each payment is credited once, with its own amount, in whatever order and however often they are confirmed."""
    alice = accounts.new(spends=False)
    intents = [payments.paid_intent(alice.key, Cents(cents)) for cents in (500, 1_000)]
    balances = [payments.balance(alice.key)]
    for intent in reversed(intents):
        payments.confirm(alice.key, intent)
        balances.append(payments.balance(alice.key))
    empty, first, before = balances
    judge.set_up(first > empty, "a payment that is credited")
    with judge("BILL-070", why="the older of two payments is confirmed after the newer one"):
        judge.that(before > first, f"a balance above {first}", before)
    with judge("BILL-130"):
        judge.same(first - empty, 2 * (before - first), "the credit of a payment of 1,000 cents beside one of 500")
    with judge("BILL-100"):
        for intent in (intents[0], intents[1], intents[1], intents[0]):
            confirmed_again(session, session.send(payments.confirm_request(alice.key, intent.id)))
        payments.wait_for_credit()
        judge.same(payments.balance(alice.key), before, "the balance after the payments were confirmed again")


@case("credited-once-in-any-spelling", requirements=["BILL-100"], needs=BUYS)
def credited_once_in_any_spelling(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """A payment is not credited once more for an id that is written otherwise."""
    alice = accounts.new(spends=False)
    intent = payments.buy(alice.key, Cents(500))
    before = payments.balance(alice.key)
    endings = (" ", "\n", "\0", "/", "?expand[]=customer", "#", "%20", ";", "/../" + intent.id)
    spellings = [*(intent.id + ending for ending in endings), " " + intent.id, intent.id.upper(), intent.client_secret]
    for spelling in spellings:
        with judge.apart("BILL-100"):
            answer = session.send(payments.confirm_request(alice.key, spelling))
            was_accepted(session, answer, or_refused=[*NO_SUCH_INTENT, "any"])
    with judge("BILL-100"):
        payments.wait_for_credit()
        judge.same(payments.balance(alice.key), before, "the balance after other spellings of the credited intent")


@case("credited-once-at-the-same-time", requirements=["BILL-110"], needs=BUYS)
def credited_once_at_the_same_time(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """Many confirmations of one payment at the same time credit it once."""
    alice = accounts.new(spends=False)
    credit = payments.usual_credit(alice.key)
    after = payments.balance(alice.key)
    for _ in session.some(range(RACES), 1):
        before, raced = after, payments.paid_intent(alice.key)
        with judge("BILL-110"):
            answers = sent_at_once(session, [payments.confirm_request(alice.key, raced.id)] * AT_ONCE)
            accepted = any(answer.accepted for answer in answers)
            judge.that(accepted, "one of the confirmations at once to be accepted", None)
            payments.wait_for_credit()
            after = payments.balance(alice.key)
            judge.same(after, before + credit, f"the balance after {AT_ONCE} confirmations at once")


@case("intents-belong-to-their-account", requirements=["BILL-120"], needs=BUYS)
def intents_belong_to_their_account(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An intent that one account made is credited to no other, in no spelling, and its owner can confirm it still."""
    alice, mallory = accounts.new(spends=False), accounts.new(spends=False)
    payments.usual_credit(alice.key)
    control = payments.confirm(mallory.key, payments.paid_intent(mallory.key))
    intent = payments.paid_intent(alice.key)
    reads = [payments.uncredited_balance(mallory.key), payments.uncredited_balance(alice.key)]
    stolen = payments.confirm_request(mallory.key, intent.id)
    respelt = (intent.id.upper(), f"{intent.id}\n", intent.client_secret, f"{intent.id[:-1]}%")
    with judge("BILL-120"), Refusals(session, control=control, unchanged=reads) as refusals:
        for spelling in (intent.id, *respelt):
            refusals.send_without_effect(payments.confirm_request(mallory.key, spelling), NO_SUCH_INTENT)
        payments.wait_for_credit()
    with judge("BILL-120"):
        before = payments.balance(alice.key)
        payments.confirm(alice.key, intent)
        judge.that(payments.balance(alice.key) > before, "credit for the owner, who confirms afterwards", before)
    with judge("BILL-120"), Refusals(session, control=control, unchanged=reads) as refusals:
        refusals.send_without_effect(stolen, NO_SUCH_INTENT)
        payments.wait_for_credit()


@case("two-accounts-of-one-email", requirements=["EP-080", "BILL-120"], needs=BUYS)
def two_accounts_of_one_email(judge: Judge, accounts: Accounts, payments: Payments) -> None:
    """new_account takes an email; accounts of one email have credits of their own, whoever of them buys."""
    with judge("EP-080"):
        twins = [accounts.new(members={"email": "twin@example.org"}, spends=False) for _ in range(2)]
    for buyer, other in (twins, reversed(twins)):
        own, others = payments.balance(buyer.key), payments.balance(other.key)
        intent: PaymentIntent = payments.paid_intent(buyer.key, Cents(500))
        with judge("BILL-120"):
            payments.confirm(buyer.key, intent)
            judge.that(payments.balance(buyer.key) > own, f"a balance above {own} of the account that paid", own)
            judge.same(payments.balance(other.key), others, "the balance of the other account of this email")
