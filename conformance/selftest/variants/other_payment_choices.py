"""Correct nodes that make other choices about credits and how they are bought."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    body_of,
    change_answer,
    intercept,
    members,
    refusal,
    silence,
    wrap,
)
from conformance.selftest.tools.alter_payments import BALANCE, CONFIRM, INTEND, ledger_of, payments_of
from conformance.selftest.tools.api_keys import live, promote
from conformance.selftest.variants.variant import choices
from reference_node.billing.ledger import Intent
from reference_node.billing.provider import CURRENCY, Payment
from reference_node.chain.interface import Address
from reference_node.node import Node

PAYS: list[JsonValue] = [
    "managed_accounts",
    "wallet_signed",
    "chain_rpc",
    "clock_control",
    "funded_wallet",
    "billing",
    "payment_sandbox",
]
"""What a node offers whose OpenAPI description and attestation are not looked at."""
DELAY_SECONDS = 0.2
MOST_CENTS = 5_000_000
"""Of one payment intent."""


@choices(
    {
        "capabilities": PAYS,
        "wire": {
            "billing": {"fields": {"balance_cents": "owed_cents", "balance_display": None, "positive_is_credit": False}}
        },
    }
)
def balances_are_owed(node: Node) -> None:
    """Show credit as a negative balance, as Stripe does for customers."""

    def owed(value: JsonValue) -> JsonValue:
        cents = members(value)["balance_cents"]
        return {"owed_cents": -cents if isinstance(cents, int) else None}

    change_answer(node, BALANCE, owed)


@choices({"payments": {"confirmed_again": "conflict"}})
def unpaid_is_a_conflict(node: Node) -> None:
    """Answer 409 to the confirmation of what is not paid yet, or has been credited; overlook unknown members.

    So much as 50,000.00 is bought in parts.
    """

    async def confirm(request: Received, forward: Forward) -> Answered:
        stated = body_of(request).get("payment_intent_id")
        known = ledger_of(node).intent(stated) if isinstance(stated, str) else None
        given = await forward(request)
        again = given.accepted and known is not None and known.state == "credited"
        return refusal(409) if again or given.status == 402 else given

    async def known_members(request: Received, forward: Forward) -> Answered:
        name = "amount_cents" if request.operation == INTEND else "payment_intent_id"
        body = body_of(request)
        if name not in body:
            return await forward(request)
        if (cents := body.get("amount_cents")) and isinstance(cents, int) and cents > MOST_CENTS:
            return refusal(422)
        return await forward(replace(request, body=json.dumps({name: body[name]}).encode()))

    intercept(node, CONFIRM, confirm)
    intercept(node, (INTEND, CONFIRM), known_members)


@choices({"billing": {"credits_after_conversion": "left"}})
def credits_stay_behind(node: Node) -> None:
    """Leave an account's credit with its former admin wallet at a conversion."""
    silence(node.billing, "move")


@choices({"auth": {"billing_credentials": {"usage_key": "accepted"}}})
def usage_keys_use_billing(node: Node) -> None:
    """Let usage keys of managed accounts see and buy their account's credit."""
    promote(node, (BALANCE, INTEND, CONFIRM), live)


@choices({})
def unpaid_is_answered_in_the_body(node: Node) -> None:
    """Answer 200 to a confirmation that credits nothing, and say in its body that it does not."""

    async def confirm(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return answer(200, {"success": False}) if given.status in {402, 404} else given

    intercept(node, CONFIRM, confirm)


@choices(
    {
        "capabilities": [*PAYS, "attestation", "app_authorisation_contract", "tls", "caa_dns"],
        "wire": {
            "billing": {"fields": {"balance_cents": "balance", "balance_display": None, "balance_form": "units_text"}}
        },
    }
)
def balances_are_decimals(node: Node) -> None:
    """Show the balance as the text of a decimal number of dollars."""

    def in_dollars(value: JsonValue) -> JsonValue:
        cents = members(value)["balance_cents"]
        return {"balance": f"{cents / 100:.2f}" if isinstance(cents, int) else None}

    change_answer(node, BALANCE, in_dollars)


@choices({"payments": {"credited_within_seconds": DELAY_SECONDS + 0.05}})
def credit_shows_later(node: Node) -> None:
    """Show credit only some time after it was given."""
    given: list[tuple[Address, int, float]] = []

    def credit(original: Callable[[str], bool], intent_id: str) -> bool:
        intent = ledger_of(node).intent(intent_id)
        done = original(intent_id)
        if done and intent is not None:
            given.append((intent.wallet, intent.cents, time.monotonic()))
        return done

    def balance(original: Callable[[Address], int], wallet: Address) -> int:
        since = time.monotonic() - DELAY_SECONDS
        hidden = sum(cents for credited, cents, at in given if credited == wallet and at > since)
        return max(0, original(wallet) - hidden)

    wrap(ledger_of(node), "credit", credit)
    wrap(node.billing, "balance", balance)


@choices({"capabilities": PAYS, "payments": {"intents_have_customer": False, "methods": {"processing": None}}})
def intents_without_customer(node: Node) -> None:
    """Make intents that belong to no customer of the provider's."""
    provider = payments_of(node)._provider

    def create_intent(_: object, customer: str, wallet: str, cents: int) -> tuple[str, str]:
        del customer
        with provider._answers():
            made = provider._client.payment_intents.create(
                {
                    "amount": cents,
                    "currency": CURRENCY,
                    "automatic_payment_methods": {"enabled": True, "allow_redirects": "never"},
                    "metadata": {"wallet": wallet},
                }
            )
        return made.id, str(made.client_secret)

    def look_up(original: Callable[[str], Payment | None], intent_id: str) -> Payment | None:
        found, known = original(intent_id), ledger_of(node).intent(intent_id)
        return replace(found, customer=_customer(known)) if found else None

    wrap(provider, "create_intent", create_intent)
    wrap(provider, "look_up", look_up)


def _customer(known: Intent | None) -> str | None:
    return known.customer if known else None
