"""Faults about the intents that payments begin with: what the provider is asked for, and for whom ("Billing")."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from itertools import count

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    body_of,
    change_answer,
    change_body,
    intercept,
    members,
    wrap,
)
from conformance.selftest.tools.alter_payments import (
    CONFIG,
    INTEND,
    give,
    ledger_of,
    obey_member,
    payments_of,
    settle_whatever,
    simulator_of,
    wallet_of,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.billing.provider import MINIMUM_CENTS
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.stripe_simulator.actions import Cancel, Change
from reference_node.stripe_simulator.errors import StripeError


@mutant("BILL-010", also="VER-050")
def publishable_key_is_empty(node: Node) -> None:
    """Answer an empty publishable key."""
    change_answer(node, CONFIG, lambda _: {"publishable_key": ""})


@mutant("BILL-010")
def publishable_key_comes_with_the_secret_one(node: Node) -> None:
    """Answer the secret key beside the publishable one."""
    secret = simulator_of(node).keys.secret
    change_answer(node, CONFIG, lambda value: {**members(value), "note": secret})


@mutant("BILL-050", "ERR-110", "LIM-030")
def wallets_may_pay_less_than_the_minimum(node: Node) -> None:
    """Take any amount from 1 for 500 where no key is presented."""

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        cents = body.get("amount_cents")
        if type(cents) is int and 0 < cents < MINIMUM_CENTS and not presented(request):
            request = request.having({**body, "amount_cents": MINIMUM_CENTS})
        return await forward(request)

    intercept(node, INTEND, handler)


@mutant("BILL-040")
def least_amount_is_refused(node: Node) -> None:
    """Refuse 500 cents, as if the minimum were more."""
    change_body(
        node,
        INTEND,
        lambda body: {**members(body), "amount_cents": 499} if members(body).get("amount_cents") == 500 else body,
    )


@mutant("BILL-130", also="BILL-060")
def amounts_are_read_into_32_bits(node: Node) -> None:
    """Ask the provider for the lowest 32 bits of an amount."""

    def low(value: JsonValue) -> JsonValue:
        cents = members(value).get("amount_cents")
        return {**members(value), "amount_cents": cents % 2**32} if type(cents) is int and cents > 0 else value

    change_body(node, INTEND, low)


@mutant("BILL-060")
def fraction_of_a_cent_is_cut(node: Node) -> None:
    """Take the amount 500.5 for 500 cents."""
    change_body(
        node,
        INTEND,
        lambda body: {**members(body), "amount_cents": 500} if members(body).get("amount_cents") == 500.5 else body,
    )


@mutant("BILL-060")
def missing_amount_is_500_cents(node: Node) -> None:
    """Take a missing amount for 500 cents."""
    change_body(node, INTEND, lambda body: {"amount_cents": 500, **body} if isinstance(body, dict) else body)


@mutant("BILL-010")
def publishable_key_is_another_each_time(node: Node) -> None:
    """Answer another publishable key to each request."""
    number = count()

    def made_up(value: JsonValue) -> JsonValue:
        return {"publishable_key": f"{str(members(value)['publishable_key'])[:-4]}{next(number):04}"}

    change_answer(node, CONFIG, made_up)


@mutant("BILL-130")
def currency_is_the_customers_choice(node: Node) -> None:
    """Make an intent in the currency of the request's member `currency`, and credit as many cents for it."""
    asked: dict[str, str] = {}

    def create_intent(original: object, customer: str, wallet: str, cents: int) -> tuple[str, str]:
        made: tuple[str, str] = original(customer, wallet, cents)  # type: ignore[operator]
        if currency := asked.pop(wallet, None):
            Change(payment_intent=made[0], currency=currency).carry_out(simulator_of(node))
            foreign.add(made[0])
        return made

    foreign: set[str] = set()
    obey_member(node, INTEND, "currency", lambda wallet, value, _: asked.update({wallet.hex(): str(value)}))
    wrap(payments_of(node)._provider, "create_intent", create_intent)
    settle_whatever(node, lambda intent: intent.id in foreign)


def _succeeded(node: Node, intent: str) -> bool:
    found = payments_of(node)._provider.look_up(intent)
    return found is not None and found.status == "succeeded"


@mutant("BILL-120", each=["customer", "account", "wallet_address"])
def whom_an_intent_is_for_is_the_customers_choice(node: Node, name: str) -> None:
    """Make an intent for the wallet that the request's member `{name}` names."""
    asked: dict[Address, Address] = {}
    named: set[Address] = set()

    def obey(wallet: Address, value: object, _: int) -> None:
        asked[wallet] = bytes.fromhex(str(value).removeprefix("0x")[-40:])
        named.add(asked[wallet])

    def note(original: object, wallet: Address, *of_intent: object) -> None:
        original(asked.pop(wallet, wallet), *of_intent)  # type: ignore[operator]

    obey_member(node, INTEND, name, obey)
    wrap(ledger_of(node), "note_intent", note)
    settle_whatever(node, lambda intent: intent.wallet in named and _succeeded(node, intent.id))


@mutant("BILL-160", each=["confirm", "status"])
def payment_is_the_customers_word(node: Node, name: str) -> None:
    """Credit an intent when it is made if the request has the member `{name}`."""
    obey_member(node, INTEND, name, lambda wallet, _, cents: give(node, wallet, cents))


@mutant("BILL-030")
def open_intent_is_given_again(node: Node) -> None:
    """Answer the intent that the account has not paid yet, whatever amount is asked for."""
    last: dict[Address, str] = {}

    def create(original: object, wallet: Address, cents: int) -> str:
        former = ledger_of(node).intent(last[wallet].partition("_secret_")[0]) if wallet in last else None
        if former is None or former.state != "open":
            last[wallet] = original(wallet, cents)  # type: ignore[operator]
        return last[wallet]

    wrap(payments_of(node), "create", create)


@mutant("BILL-030", also="BILL-070 BILL-160")
def intent_is_given_again_for_its_amount(node: Node) -> None:
    """Answer the account's first intent of an amount whenever the same amount is asked for, paid or not."""
    made: dict[tuple[Address, int], str] = {}

    def create(original: Callable[[Address, int], str], wallet: Address, cents: int) -> str:
        if (wallet, cents) not in made:
            made[wallet, cents] = original(wallet, cents)
        return made[wallet, cents]

    wrap(payments_of(node), "create", create)


@mutant("BILL-050", each=[row("first", 0), row("last", -1)], also="BILL-130 EP-030 ERR-110 LIM-030")
def amount_of_a_body_that_names_two_is_checked_elsewhere(node: Node, checked: int) -> None:
    """Check the {checked}th amount of a body that names two, the last being the -1st, and take the other one."""
    taken: dict[str, int] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        amounts = [int(digits) for digits in re.findall(rb'"amount_cents": *([0-9]+)', request.body)]
        wallet = wallet_of(node, request)
        if len(amounts) != len("ab") or wallet is None:
            return await forward(request)
        taken[wallet.hex()] = amounts[-1 - checked]
        return await forward(request.having({"amount_cents": amounts[checked]}))

    def create_intent(original: Callable[..., object], customer: str, wallet: str, cents: int) -> object:
        return original(customer, wallet, taken.pop(wallet, cents))

    intercept(node, INTEND, handler)
    wrap(payments_of(node)._provider, "create_intent", create_intent)


@mutant("ERR-150", also="BILL-030 BILL-070")
def refused_amount_cancels_the_newest_intent(node: Node) -> None:
    """Cancel the intent that an account has not paid yet before the amount of the next one is looked at."""
    newest: dict[Address, str] = {}

    def create(original: Callable[[Address, int], str], wallet: Address, cents: int) -> str:
        secret = original(wallet, cents)
        newest[wallet] = secret.partition("_secret_")[0]
        return secret

    async def handler(request: Received, forward: Forward) -> Answered:
        given, wallet = await forward(request), wallet_of(node, request)
        if not given.accepted and wallet in newest:
            with suppress(StripeError):  # it is paid
                Cancel(payment_intent=newest[wallet]).carry_out(simulator_of(node))
        return given

    wrap(payments_of(node), "create", create)
    intercept(node, INTEND, handler)
