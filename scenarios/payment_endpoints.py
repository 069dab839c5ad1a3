"""The endpoints of billing as endpoints: keys, methods, bodies, and what their answers hold.

Specification: "Billing", "Authentication" 1, "Endpoints", "Errors", "Versioning". What calls of management are held to
elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from conformance.cases import Judge, case
from conformance.drivers.openapi.answers import check_answer, check_request
from conformance.drivers.openapi.description import read_description
from conformance.endpoints.messages import Answer
from conformance.endpoints.redaction import Secrets
from conformance.endpoints.requests import OutgoingRequest
from conformance.service import (
    Accepted,
    Account,
    Accounts,
    Groups,
    Permissions,
    Refusals,
    Session,
    UsageKeys,
    must_accept,
    must_refuse,
)
from conformance.service.derivations import random_key
from conformance.service.payments import Payments
from conformance.service.refusal import ILL_FORMED
from conformance.service.usage_keys import ALL_PERMISSIONS
from conformance.values.ids import Cents
from conformance.values.json_values import MISSING, member, printed

BILLS = ("managed_accounts", "billing")
BUYS = (*BILLS, "payment_sandbox")
USAGE_KEY = "auth.billing_credentials.usage_key"
HEADERS = {"x-api-key": "AUTH-010", "bearer": "AUTH-020"}
"""The two headers for keys, and which statement says that they take one."""


@dataclass(frozen=True)
class Endpoint:
    """One endpoint of billing with auth `account`, and a call of it that was accepted."""

    request: OutgoingRequest
    accepted: Accepted


def endpoints(session: Session, payments: Payments, alice: Account) -> list[Endpoint]:
    """The balance and the intents, each with a request that is refused for nothing but what a case changes.

    Also the confirmation, where the suite can pay: without a payment no confirmation is accepted.
    """
    _, asked = session.accept(session.request("balance", alice.key))
    intend = payments.intent_request(alice.key, 600)
    found = [Endpoint(session.request("balance", alice.key), asked), Endpoint(intend, session.accept(intend)[1])]
    if session.profile.offers("payment_sandbox"):
        paid, confirmed = payments.paid_intent(alice.key), payments.confirm(alice.key, payments.paid_intent(alice.key))
        found.append(Endpoint(payments.confirm_request(alice.key, paid.id), confirmed))
    return found


def one_of_them_works(judge: Judge, answers: Mapping[str, Answer]) -> None:
    """Raise trouble with the set-up where a call fails in both headers, for which they are not to blame."""
    judge.set_up(any(answer.accepted for answer in answers.values()), "a call that works with one of the headers")


@case("key-in-either-header", requirements=["AUTH-010", "AUTH-020", "AUTH-030"], needs=BILLS)
def key_in_either_header(
    judge: Judge, accounts: Accounts, payments: Payments, keys: UsageKeys, session: Session
) -> None:
    """The balance and intents take the account key in each of the two headers, and a usage key in both or none."""
    alice = accounts.new()
    requests = [session.request("balance", alice.key), payments.intent_request(alice.key, 600)]
    for request in requests:
        answers = {via: session.send(replace(request, via=via)) for via in HEADERS}
        one_of_them_works(judge, answers)
        for via, requirement in HEADERS.items():
            with judge.apart(requirement):
                must_accept(answers[via])
    reader = keys.add(alice.key).key
    for request in (session.request("balance", reader), payments.intent_request(reader, 600)):
        with judge.apart("AUTH-030"):
            one, other = (session.send(replace(request, via=via)).accepted for via in HEADERS)
            judge.same(other, one, f"whether {request.operation.name} accepts a usage key in the other header")


@case("confirmed-with-a-key-in-either-header", requirements=["AUTH-010", "AUTH-020"], needs=BUYS)
def confirmed_with_a_key_in_either_header(
    judge: Judge, accounts: Accounts, payments: Payments, session: Session
) -> None:
    """The confirmation of a payment takes the account key in each of the two headers."""
    alice = accounts.new()
    paid = [payments.confirm_request(alice.key, payments.paid_intent(alice.key).id) for _ in HEADERS]
    balances = [payments.balance(alice.key)]
    answers = {}
    for via, confirmation in zip(HEADERS, paid, strict=True):
        answers[via] = session.send(replace(confirmation, via=via))
        payments.wait_for_credit()
        balances.append(payments.balance(alice.key))
    rises = {via: after - before for via, (before, after) in zip(HEADERS, pairwise(balances), strict=True)}
    one_of_them_works(judge, answers)
    judge.set_up(any(rises.values()), "a confirmation that credits something")
    for via, requirement in HEADERS.items():
        with judge.apart(requirement):
            judge.that(answers[via].accepted, "a confirmation that is accepted", answers[via].status)
            judge.that(rises[via] > 0, "a confirmation that credits what was paid", rises[via])


@case("no-key-or-a-wrong-one", requirements=["AUTH-040", "AUTH-050", "BILL-270"], needs=BILLS)
def no_key_or_a_wrong_one(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """The billing endpoints of an account refuse a request without a key, or with an unknown key."""
    alice = accounts.new(spends=False)
    reads = [payments.unchanged_balance(alice.key)]
    for endpoint in endpoints(session, payments, alice):
        with (
            judge("AUTH-040", "BILL-270"),
            Refusals(session, control=endpoint.accepted, unchanged=reads) as refusals,
        ):
            refusals.send(replace(endpoint.request, credential=None), ["unauthenticated"])
        with judge("AUTH-050"), Refusals(session, control=endpoint.accepted, unchanged=reads) as refusals:
            for via in HEADERS:
                for key in (random_key(session.random), "no key at all", alice.key[:-4]):
                    refusals.send(replace(endpoint.request, credential=key, via=via), ["unauthenticated"])


@case("balance-is-current", requirements=["BILL-020"], needs=BILLS)
def balance_is_current(judge: Judge, accounts: Accounts, groups: Groups, keys: UsageKeys, session: Session) -> None:
    """The balance is a number of cents, the same where nothing happens, and lower after writes of several kinds.

    It is read as Bearer, and the writes are in the other header: neither may have a balance of its own.
    """
    alice, payments = accounts.new(), Payments(session.client("bearer"))
    with judge("BILL-020"):
        before = payments.balance(alice.key)
        judge.same(payments.balance(alice.key), before, "the balance when it is asked for again")
    groups.remove(alice.key, groups.add(alice.key).id)
    keys.rename(alice.key, keys.add(alice.key).key)
    with judge("BILL-020"):
        after = payments.balance(alice.key)
        judge.that(after < before, f"a balance below {before} after four writes", after)


@case("usage-key-as-stated", requirements=["BILL-280"], needs=BILLS, uses=[USAGE_KEY])
def usage_key_as_stated(
    judge: Judge, accounts: Accounts, payments: Payments, keys: UsageKeys, session: Session
) -> None:
    """A usage key sees the balance of its account and makes intents, or is refused, as the profile states."""
    alice = accounts.new()
    usage_key, stated = keys.add(alice.key, ALL_PERMISSIONS).key, printed(session.stated(USAGE_KEY))
    reads = [payments.unchanged_balance(alice.key)]
    for endpoint in endpoints(session, payments, alice)[:2]:
        request = replace(endpoint.request, credential=usage_key)
        with judge.apart("BILL-280"):
            if stated == "accepted":
                must_accept(session.send(request))
            else:
                must_refuse(session, request, [stated], control=endpoint.accepted, unchanged=reads)
    if stated == "accepted":
        own = payments.balance(alice.key)
        with judge.apart("BILL-280"):
            judge.same(payments.balance(usage_key), own, "the balance that a usage key of the account sees")


NO_JSON = ("", "{", "amount_cents=500", "{} {}", "<amount>500</amount>", "[" * 20_000)
OTHER_JSON = ("[]", "[{}]", '"text"', "5", "null", "true")


@case("malformed-bodies", requirements=["EP-030"], needs=BILLS)
def malformed_bodies(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """The billing endpoints refuse a body that is no JSON object, and accept a right request afterwards."""
    alice = accounts.new(spends=False)
    reads = [payments.unchanged_balance(alice.key)]
    for endpoint in endpoints(session, payments, alice)[1:]:
        right = json.dumps(endpoint.request.members)
        bodies = (*NO_JSON, *OTHER_JSON, right[:-1], f"{right} x", f"[{right}]", f"{right}{right}")
        with judge("EP-030"), Refusals(session, control=endpoint.accepted, unchanged=reads) as refusals:
            for body in bodies:
                refusals.send(replace(endpoint.request, body=body), ILL_FORMED)
        with judge("EP-030"):
            payments.confirm_by(replace(endpoint.request, body=right))


@case("stated-methods-alone", requirements=["EP-420"], needs=BILLS)
def stated_methods_alone(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """The endpoints of billing are served by their stated method alone, and no GET makes or credits an intent."""
    alice = accounts.new(spends=False)
    reads = [payments.unchanged_balance(alice.key)]
    balance, *with_body = endpoints(session, payments, alice)
    _, config = session.accept(session.request("stripe_config"))
    for endpoint in (balance, Endpoint(session.request("stripe_config"), config)):
        with judge("EP-420"), Refusals(session, control=endpoint.accepted, unchanged=[]) as refusals:
            refusals.send(replace(endpoint.request, method="POST"), ["any"])
    for endpoint in with_body:
        with judge("EP-420"), Refusals(session, control=endpoint.accepted, unchanged=reads) as refusals:
            for method in ("GET", "PUT", "PATCH", "DELETE"):
                refusals.send(replace(endpoint.request, method=method), ["any"])


def refused_calls(session: Session, payments: Payments, alice: Account) -> list[OutgoingRequest]:
    """Requests of every endpoint of billing that have to be refused, for different reasons."""
    unpaid = payments.intend(alice.key)
    unknown = random_key(session.random)
    return [
        session.request("balance", unknown),
        session.request("balance"),
        payments.intent_request(alice.key, 499),
        payments.intent_request(alice.key, [alice.key]),
        payments.intent_request(unknown, 600),
        replace(payments.intent_request(alice.key, 600), body="{"),
        payments.confirm_request(unknown, unpaid.id),
        replace(payments.confirm_request(alice.key, unpaid.id), body="["),
    ]


def calls_without_credit(payments: Payments, alice: Account) -> list[OutgoingRequest]:
    """Confirmations of nothing that was paid, which the specification does not say are refused."""
    wrong: list[object] = [payments.intend(alice.key).id, alice.key, {"key": alice.key}]
    return [payments.confirm_request(alice.key, intent_id) for intent_id in wrong]


def succeeded(answer: Answer) -> bool:
    """Whether an answer has a member that only a success has."""
    names = answer.operation.response if answer.operation is not None else {}
    return (
        answer.accepted
        and answer.readable
        and any(member(answer.value, name) not in (MISSING, None, False) for name in names)
    )


@case("refusals", requirements=["ERR-140", "ERR-150", "ERR-160"], needs=BUYS)
def refusals_of_payments(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """A refused billing request is answered as a refusal, changes no balance, and repeats no key."""
    alice = accounts.new(spends=False)
    payments.buy(alice.key, Cents(500))
    before = payments.balance(alice.key)
    answers = [session.send(request) for request in refused_calls(session, payments, alice)]
    others = [session.send(request) for request in calls_without_credit(payments, alice)]
    answers += [answer for answer in others if not answer.accepted]
    payments.wait_for_credit()
    with judge.apart("ERR-150"):
        judge.same(payments.balance(alice.key), before, "the balance after refused calls of billing")
    for answer in answers:
        if succeeded(answer):  # that it should have been refused is for others to say
            continue
        told = f"{answer.operation.name if answer.operation else ''}: {answer.status} {answer.text[:200]}"
        with judge.apart("ERR-140"):
            judge.that(400 <= answer.status < 500, "a refusal with a status from 400 to 499", told)
            judge.that("_secret_" not in answer.text, "a refusal without a client_secret", told)
        with judge.apart("ERR-160"):
            leaks = [text for text in (answer.text, *answer.headers.values()) if session.secrets.found_in(text)]
            judge.that(not leaks, "a refusal without a key in it", told)


@case("no-answer-holds-a-key", requirements=["AKEY-050", "UKEY-360"], needs=BUYS)
def no_answer_holds_a_key(
    judge: Judge, accounts: Accounts, payments: Payments, keys: UsageKeys, session: Session
) -> None:
    """No answer of billing holds the account key or the usage key that it was asked with."""
    alice = accounts.new()
    runner = keys.add(alice.key, Permissions(can_create_groups=True)).key
    paid = [payments.paid_intent(alice.key) for _ in range(2)]
    for key, intent, requirement in ((alice.key, paid[0], "AKEY-050"), (runner, paid[1], "UKEY-360")):
        requests = [
            session.request("balance", key),
            payments.intent_request(key, 600),
            payments.confirm_request(key, intent.id),
            session.request("stripe_config", key),
        ]
        for answer in map(session.send, requests):
            told = f"{answer.operation.name if answer.operation else ''}: status {answer.status}"
            with judge.apart(requirement):
                judge.that(not holds(answer, key), "an answer without the key", told)


def holds(answer: Answer, key: str) -> bool:
    """Whether the key stands anywhere in an answer, in one of its spellings."""
    secret = Secrets()
    secret.learn(key)
    return any(map(secret.found_in, (answer.text, *answer.headers.values())))


@case("answers-as-described", requirements=["VER-050"], needs=[*BUYS, "openapi"])
def answers_as_described(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """The answers of billing, refusals too, are as the OpenAPI description says, and so is the smallest purchase."""
    alice = accounts.new(spends=False)
    description = read_description(session)
    with judge.apart("VER-050"):
        request = session.request("stripe_config")
        check_answer(description, request, session.send(request))
    with judge("VER-050"):
        request = payments.intent_request(alice.key, 500)  # the minimum, which the description may not rule out
        answer = session.send(request)
        check_answer(description, request, answer)
        if answer.accepted:
            check_request(description, request, session.log.raw[answer.exchange - session.log.forgotten], answer)
    paid, unpaid = payments.paid_intent(alice.key), payments.intend(alice.key)
    for request in (
        payments.confirm_request(alice.key, paid.id),
        session.request("balance", alice.key),
        payments.intent_request(alice.key, 499),
        replace(payments.intent_request(alice.key, 600), body="{"),
        payments.confirm_request(alice.key, unpaid.id),
        payments.confirm_request(alice.key, "pi_unknown"),
        session.request("balance"),
    ):
        with judge.apart("VER-050"):
            check_answer(description, request, session.send(request))
