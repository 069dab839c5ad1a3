"""Faults of the billing endpoints about headers, bodies, refusals and answers ("Billing", "Authentication")."""

from __future__ import annotations

import json
from dataclasses import replace
from http import HTTPStatus

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer_instead,
    change_accepted,
    change_answer,
    change_refused,
    change_request,
    intercept,
    refusal,
)
from conformance.selftest.tools.alter_payments import (
    BALANCE,
    CONFIG,
    CONFIRM,
    INTEND,
    charge_otherwise,
    take,
    wallet_of,
)
from conformance.selftest.tools.api_keys import ask_as, header, key_book, live, presented, under
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node

PURCHASES = (row("create", INTEND), row("confirm", CONFIRM))
CALLS = (row("balance", BALANCE), *PURCHASES)


@mutant("BILL-010", "AUTH-060")
def publishable_key_needs_a_key(node: Node) -> None:
    """Answer the publishable key only to whoever presents some key."""
    answer_instead(node, CONFIG, refusal(401), lambda request: not presented(request))


@mutant("BILL-020", also="AUTH-030")
def bearers_see_the_first_balance(node: Node) -> None:
    """Answer each Bearer the balance that it saw first."""
    first: dict[str, Answered] = {}

    def seen(request: Received, given: Answered) -> Answered:
        key = header(request, b"authorization")
        return first.setdefault(key, given) if key else given

    change_accepted(node, BALANCE, seen)


@mutant("AUTH-070")
def publishable_key_is_kept_from_unknown_keys(node: Node) -> None:
    """Refuse the publishable key to whoever presents a key that nobody owns."""

    async def handler(request: Received, forward: Forward) -> Answered:
        unknown = presented(request) and wallet_of(node, request) is None
        return refusal(401) if unknown else await forward(request)

    intercept(node, CONFIG, handler)


@mutant("AUTH-070")
def publishable_key_is_kept_from_worthless_proofs(node: Node) -> None:
    """Refuse the publishable key beside a proof in X-Wallet-Auth that shows no balance."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if header(request, b"x-wallet-auth"):
            balance = await forward(replace(request, path=request.path.replace("stripe_config", "balance")))
            if not balance.accepted:
                return refusal(401)
        return await forward(request)

    intercept(node, CONFIG, handler)


@mutant("AUTH-020", each=CALLS, also="AUTH-030")
def billing_reads_one_header_alone(node: Node, operation: str) -> None:
    """Ignore `Authorization: Bearer` in `{operation}`."""
    change_request(
        node, operation, lambda request: under(request, "") if header(request, b"authorization") else request
    )


@mutant("AUTH-020", also="AUTH-030 BILL-070")
def confirmation_by_bearer_credits_nothing(node: Node) -> None:
    """Accept a confirmation with the key in `Authorization: Bearer`, and credit nothing."""

    async def handler(request: Received, forward: Forward) -> Answered:
        wallet = wallet_of(node, request) if header(request, b"authorization") else None
        before = node.billing.balance(wallet) if wallet is not None else 0
        given = await forward(request)
        if wallet is not None:
            take(node, wallet, node.billing.balance(wallet) - before)
        return given

    intercept(node, CONFIRM, handler)


@mutant("AUTH-010", each=CALLS, also="AUTH-030")
def billing_reads_the_other_header_alone(node: Node, operation: str) -> None:
    """Ignore `X-Api-Key` in `{operation}`."""
    change_request(node, operation, lambda request: under(request, "") if request.key else request)


@mutant("AUTH-050", each=CALLS, also="AKEY-110 MINT-110")
def billing_takes_unknown_keys_for_the_newest(node: Node, operation: str) -> None:
    """Answer `{operation}` to a key that nobody owns as if it were that of the account that was made last."""
    book = key_book(node)

    def key_for(request: Received) -> str:
        unknown = presented(request) and wallet_of(node, request) is None
        return book.accounts[-1] if unknown and book.accounts else presented(request)

    ask_as(node, operation, key_for)


@mutant("ERR-150", also="EP-030")
def refused_confirmations_cost_a_cent(node: Node) -> None:
    """Charge a cent for a confirmation that is refused because its body is no JSON."""
    charge_otherwise(node, CONFIRM, lambda _, given, __: int(given.status == HTTPStatus.BAD_REQUEST))


@mutant("ERR-140", each=PURCHASES)
def refused_payments_look_like_successes(node: Node, operation: str) -> None:
    """Refuse `{operation}` with status 200."""
    change_refused(node, operation, lambda _, given: replace(given, status=200))


@mutant("ERR-160", each=CALLS)
def refused_payments_repeat_the_key(node: Node, operation: str) -> None:
    """Refuse `{operation}` with the presented key in the answer."""

    def telling(request: Received, given: Answered) -> Answered:
        return given.having({**given.told, "detail": f"the key {presented(request)} may not do that"})

    change_refused(node, operation, telling)


@mutant("EP-030", each=PURCHASES)
def payment_bodies_may_be_arrays(node: Node, operation: str) -> None:
    """Take the first item of an array as the body of `{operation}`, and 500 cents or the latest intent for none."""
    known: dict[str, JsonValue] = {INTEND: {"amount_cents": 500}}

    async def handler(request: Received, forward: Forward) -> Answered:
        try:
            body = json.loads(request.body)
        except (ValueError, RecursionError):
            return await forward(request)
        if isinstance(body, list) and operation in known:
            return await forward(request.having(known[operation]))
        given = await forward(request)
        if given.accepted:
            known[operation] = body
        return given

    intercept(node, operation, handler)


@mutant("AKEY-050", each=CALLS, also="VER-050")
def billing_answers_hold_the_account_key(node: Node, operation: str) -> None:
    """Answer `{operation}` with the account key beside what it answers."""

    def telling(request: Received, given: Answered) -> Answered:
        key = presented(request)
        return given.having({**given.told, "account": key}) if key else given

    change_accepted(node, operation, telling)


@mutant("UKEY-360", each=CALLS, also="ERR-160")
def billing_answers_hold_the_usage_key(node: Node, operation: str) -> None:
    """Refuse `{operation}` to a usage key with the key's own value in a header of the answer."""

    def telling(request: Received, given: Answered) -> Answered:
        named = given.headed(b"x-presented-key", presented(request).encode())
        return named if given.status == HTTPStatus.FORBIDDEN else given

    change_refused(node, operation, telling)


@mutant(
    "VER-050",
    each=[
        row("create", INTEND, {"client_secret": 7}, also="BILL-030"),
        row("confirm", CONFIRM, {"success": "yes"}),
        row("config", CONFIG, ["pk_test_1"], also="BILL-010"),
    ],
)
def billing_answers_are_not_as_described(node: Node, operation: str, value: JsonValue) -> None:
    """Answer `{operation}` with {value}, which the OpenAPI description does not say."""
    change_answer(node, operation, lambda _: value)


@mutant("BILL-280", each=[row("balance", BALANCE), row("intent", INTEND)])
def usage_keys_count_in_billing(node: Node, operation: str) -> None:
    """Let usage keys stand for their account in `{operation}`, though the profile states that they are refused."""
    book = key_book(node)
    ask_as(node, operation, lambda got: book.account_of(presented(got)) if live(book, got) else presented(got))


@mutant("VER-050", also="BILL-040")
def description_rules_the_minimum_out(node: Node) -> None:
    """Describe the minimum of `amount_cents` as an amount that is too small."""

    def change(value: JsonValue) -> JsonValue:
        text = json.dumps(value)
        return json.loads(text.replace('"minimum": 500', '"exclusiveMinimum": 500'))  # type: ignore[no-any-return]

    change_answer(node, "openapi.json", change)
