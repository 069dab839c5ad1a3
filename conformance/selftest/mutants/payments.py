"""Faults about buying credits ("Billing", "Limits")."""

from __future__ import annotations

import itertools
import threading
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
    change_body,
    intercept,
    members,
    wrap,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.billing.credits import Credits
from reference_node.billing.ledger import Intent, Ledger
from reference_node.billing.payments import Payments
from reference_node.chain.interface import Address
from reference_node.node import Node

INTEND, CONFIRM, BALANCE = "billing/create_payment_intent", "billing/confirm_payment", "billing/balance"
DONE: JsonValue = {"success": True}
_numbers = itertools.count()


def _ledger(node: Node) -> Ledger:
    """Return the ledger of a node that sells credits."""
    assert isinstance(node.billing, Credits)  # noqa: S101 - the reference node's own
    return node.billing.ledger


def _payments(node: Node) -> Payments:
    """Return what sells the credits of a node."""
    assert node.payments is not None  # noqa: S101 - nodes of the self-test sell them
    return node.payments


def _give(node: Node, wallet: Address, cents: int) -> None:
    """Give a wallet credit for a payment that never was."""
    ledger, intent = _ledger(node), f"pi_mutant{next(_numbers)}"
    ledger.note_intent(wallet, intent, "cus_mutant", cents, "usd")
    ledger.credit(intent)


@mutant("BILL-010", each=["secret", "missing", "empty"])
def publishable_key_is_wrong(node: Node, kind: str) -> None:
    """Answer a publishable key that is {kind}."""
    assert node.simulator is not None  # noqa: S101
    wrong: dict[str, JsonValue] = {
        "secret": {"publishable_key": node.simulator.keys.secret},
        "missing": {},
        "empty": {"publishable_key": ""},
    }
    change_answer(node, "billing/stripe_config", lambda _: wrong[kind])


@mutant("BILL-010")
def publishable_key_comes_with_the_secret_one(node: Node) -> None:
    """Answer the secret key beside the publishable one."""
    assert node.simulator is not None  # noqa: S101
    secret = node.simulator.keys.secret
    change_answer(node, "billing/stripe_config", lambda value: {**members(value), "note": secret})


@mutant(
    "BILL-050",
    "ERR-110",
    "LIM-030",
    each=[row("499", 499), row("1", 1), row("negative", -500), row("zero", 0)],
)
def amount_below_the_minimum_is_taken(node: Node, taken: int) -> None:
    """Take an amount of {taken} cents for 500."""
    change_body(
        node,
        INTEND,
        lambda body: {**members(body), "amount_cents": 500} if members(body).get("amount_cents") == taken else body,
    )


@mutant("BILL-040")
def least_amount_is_refused(node: Node) -> None:
    """Refuse 500 cents, as if the minimum were more."""
    change_body(
        node,
        INTEND,
        lambda body: {**members(body), "amount_cents": 499} if members(body).get("amount_cents") == 500 else body,
    )


@mutant("BILL-060", each=[row("fraction", 500.5), row("text", "500"), row("null", None), row("true", True)])
def amount_that_is_no_whole_number_is_taken(node: Node, taken: object) -> None:
    """Take the amount {taken} for 500 cents."""

    def change(body: JsonValue) -> JsonValue:
        given = members(body).get("amount_cents", 0)
        same = type(given) is type(taken) and given == taken
        return {**members(body), "amount_cents": 500} if same else body

    change_body(node, INTEND, change)


@mutant("BILL-060")
def missing_amount_is_500_cents(node: Node) -> None:
    """Take a missing amount for 500 cents."""
    change_body(node, INTEND, lambda body: {"amount_cents": 500, **members(body)})


@mutant("BILL-070")
def paid_intent_is_not_credited(node: Node) -> None:
    """Accept the confirmation of a paid intent and credit nothing."""

    async def handler(request: Received, forward: Forward) -> Answered:
        del request, forward
        return answer(200, DONE)

    intercept(node, CONFIRM, handler)


@mutant("BILL-080", each=["requires_payment_method", "requires_action"])
def intent_that_is_not_paid_is_credited(node: Node, status: str) -> None:
    """Credit an intent whose status is {status}."""

    def lenient(confirm: object, wallet: Address, intent_id: str) -> None:
        found = _payments(node)._provider.look_up(intent_id)
        intent = _ledger(node).intent(intent_id)
        if found is not None and intent is not None and intent.wallet == wallet and found.status == status:
            _ledger(node).credit(intent_id)
            return
        confirm(wallet, intent_id)  # type: ignore[operator]

    wrap(_payments(node), "confirm", lenient)


@mutant("BILL-080")
def declined_intent_can_never_be_paid(node: Node) -> None:
    """Give up an intent whose confirmation was refused once."""
    given_up: set[str] = set()

    async def handler(request: Received, forward: Forward) -> Answered:
        intent = str(body_of(request).get("payment_intent_id"))
        if intent in given_up:
            return answer(402, {"code": "payment-incomplete"})
        given = await forward(request)
        if not given.accepted:
            given_up.add(intent)
        return given

    intercept(node, CONFIRM, handler)


@mutant("BILL-090", each=[row("invented", "pi_"), row("empty", "")])
def unknown_intent_is_credited(node: Node, prefix: str) -> None:
    """Credit 500 cents for an id that names no intent and begins with {prefix}."""

    def confirm(original: object, wallet: Address, intent_id: str) -> None:
        if _ledger(node).intent(intent_id) is None and intent_id.startswith(prefix):
            _give(node, wallet, 500)
            return
        original(wallet, intent_id)  # type: ignore[operator]

    wrap(_payments(node), "confirm", confirm)


@mutant("BILL-100")
def payment_is_credited_at_each_confirmation(node: Node) -> None:
    """Credit a payment once more whenever it is confirmed again."""

    def confirm(original: object, wallet: Address, intent_id: str) -> None:
        before = _ledger(node).intent(intent_id)
        original(wallet, intent_id)  # type: ignore[operator]
        if before is not None and before.state == "credited":
            _give(node, wallet, before.cents)

    wrap(_payments(node), "confirm", confirm)


@mutant("BILL-110")
def confirmations_at_once_are_each_credited(node: Node) -> None:
    """Look whether a payment was credited, and credit it a little later."""

    def confirm(original: object, wallet: Address, intent_id: str) -> None:
        before = _ledger(node).intent(intent_id)
        time.sleep(0.3)
        original(wallet, intent_id)  # type: ignore[operator]
        with lock:
            twice = before is not None and before.state == "open" and intent_id in done
            done.add(intent_id)
        if twice and before is not None:
            _give(node, wallet, before.cents)

    lock, done = threading.Lock(), set[str]()
    wrap(_payments(node), "confirm", confirm)


@mutant("BILL-120")
def anybody_may_confirm(node: Node) -> None:
    """Credit a paid intent to whoever confirms it."""

    def look_up(original: object, intent_id: str) -> Intent | None:
        found: Intent | None = original(intent_id)  # type: ignore[operator]
        return replace(found, wallet=confirming.wallet) if found and hasattr(confirming, "wallet") else found

    def confirm(original: object, wallet: Address, intent_id: str) -> None:
        confirming.wallet = wallet
        try:
            known = _ledger(node).intent(intent_id)
            original(wallet, intent_id)  # type: ignore[operator]
            if known is not None:
                _give(node, wallet, known.cents)
        finally:
            del confirming.wallet

    confirming = threading.local()
    wrap(_ledger(node), "intent", look_up)
    wrap(_payments(node), "confirm", confirm)


@mutant("BILL-120")
def attempt_of_another_account_spoils_the_intent(node: Node) -> None:
    """Give an intent up once another account has tried to confirm it."""
    spoilt: set[str] = set()

    def confirm(original: object, wallet: Address, intent_id: str) -> None:
        intent = _ledger(node).intent(intent_id)
        if intent is not None and intent.wallet != wallet:
            spoilt.add(intent_id)
        if intent_id in spoilt and intent is not None:
            original(bytes(20), intent_id)  # type: ignore[operator]
        original(wallet, intent_id)  # type: ignore[operator]

    wrap(_payments(node), "confirm", confirm)


@mutant("BILL-130", each=[row("a_flat_500", 500, 500), row("at_most_900", 0, 900)])
def credit_is_another_amount(node: Node, least: int, most: int) -> None:
    """Credit at least {least} and at most {most} cents, whatever was paid."""

    def note(original: object, wallet: Address, intent: str, customer: str, cents: int, currency: str) -> None:
        original(wallet, intent, customer, max(least, min(most, cents)), currency)  # type: ignore[operator]

    wrap(_ledger(node), "note_intent", note)
    payments_of = _payments(node)

    def settled(_: object, intent: Intent) -> str | None:
        payment = payments_of._provider.look_up(intent.id)
        if payment is None or payment.status != "succeeded":
            return "not paid"
        _ledger(node).credit(intent.id)
        return None

    wrap(payments_of, "_settled", settled)


@mutant("BILL-160", "BILL-070")
def credit_comes_before_the_payment(node: Node) -> None:
    """Credit an intent when it is made."""

    def create(original: object, wallet: Address, cents: int) -> object:
        _give(node, wallet, cents)
        return original(wallet, cents)  # type: ignore[operator]

    wrap(_payments(node), "create", create)


@mutant("BILL-270", each=[row("balance", BALANCE), row("create", INTEND), row("confirm", CONFIRM)])
def billing_needs_no_credential(node: Node, operation: str) -> None:
    """Answer `{operation}` to a request without any key."""
    answers: dict[str, JsonValue] = {
        BALANCE: {"balance_cents": 0, "balance_display": "$0.00"},
        INTEND: {"client_secret": "pi_1_secret_1"},
        CONFIRM: DONE,
    }

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(request) if presented(request) else answer(200, answers[operation])

    intercept(node, operation, handler)


@mutant("BILL-230")
def wallets_buy_nothing(node: Node) -> None:
    """Refuse intents that an admin wallet asks for by its proof."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(request) if presented(request) else answer(401, {"code": "key-missing"})

    intercept(node, INTEND, handler)


@mutant("BILL-140", "LIM-050", each=["createWallet", "addPkpToGroup", "removeGroup", "removeUsageApiKey"])
def write_is_free(node: Node, function: str) -> None:
    """Charge nothing for a write by the contract's `{function}`."""
    paid_for: set[str] = set()

    def write(original: object, called: str, *arguments: object) -> object:
        if called == function:
            paid_for.add(threading.current_thread().name)
        return original(called, *arguments)  # type: ignore[operator]

    def settle(original: object, hold: object, cents: int) -> None:
        free = threading.current_thread().name in paid_for
        paid_for.discard(threading.current_thread().name)
        original(hold, 0 if free else cents)  # type: ignore[operator]

    wrap(node.accounts, "_write", write)
    wrap(node.billing, "settle", settle)


@mutant("BILL-150", "LIM-050", each=["list_groups", "list_api_keys", "list_actions"])
def list_is_billed(node: Node, operation: str) -> None:
    """Charge a cent for `{operation}`."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            for wallet in wallets:
                node.billing.settle(node.billing.hold(wallet, 1), 1)
        return given

    def record(original: object, wallet: Address) -> None:
        wallets.append(wallet)
        original(wallet)  # type: ignore[operator]

    wallets: list[Address] = []
    wrap(node.billing, "open_record", record)
    intercept(node, operation, handler)


@mutant("BILL-180", "BILL-320")
def runs_are_free(node: Node) -> None:
    """Charge nothing for runs."""
    node.runs.price = lambda: 0  # type: ignore[method-assign]


@mutant("BILL-210")
def refused_writes_are_charged(node: Node) -> None:
    """Charge a write that the contract refuses."""

    def release(_: object, hold: object) -> None:
        node.billing.settle(hold, 1)  # type: ignore[arg-type]

    wrap(node.billing, "release", release)


@mutant("BILL-220", each=[row("free", 0), row("double", 2)])
def second_write_at_once_costs_otherwise(node: Node, cents: int) -> None:
    """Charge {cents} cents for a write that began while another one was under way."""
    under_way: set[str] = set()
    crowded: set[str] = set()
    lock = threading.Lock()

    def hold(original: object, wallet: Address, held: int) -> object:
        made = original(wallet, max(held, cents))  # type: ignore[operator]
        with lock:
            if under_way:
                crowded.add(made.id)
            under_way.add(made.id)
        time.sleep(0.05)
        return made

    def settle(original: object, made: object, charged: int) -> None:
        name = made.id  # type: ignore[attr-defined]
        with lock:
            under_way.discard(name)
        original(made, cents if name in crowded else charged)  # type: ignore[operator]

    wrap(node.billing, "hold", hold)
    wrap(node.billing, "settle", settle)


@mutant("BILL-020", each=["missing", "text", "stale"])
def balance_is_wrong(node: Node, kind: str) -> None:
    """Answer a balance that is {kind}."""
    wrong: dict[str, Callable[[dict[str, JsonValue]], JsonValue]] = {
        "missing": lambda _: {},
        "text": lambda value: {**value, "balance_cents": str(value["balance_cents"])},
        "stale": lambda value: {**value, "balance_cents": 7},
    }
    change_answer(node, BALANCE, lambda value: wrong[kind](members(value)))


@mutant("BILL-030", each=["missing", "the_same"])
def client_secret_is_wrong(node: Node, kind: str) -> None:
    """Answer a client_secret that is {kind}."""
    given: JsonValue = {} if kind == "missing" else {"client_secret": "pi_1_secret_1"}
    change_answer(node, INTEND, lambda _: given)


@mutant("BILL-190")
def runs_need_no_credit(node: Node) -> None:
    """Let accounts without credit run actions, for nothing."""

    def hold(original: object, wallet: Address, cents: int) -> object:
        return original(wallet, min(cents, node.billing.balance(wallet)))  # type: ignore[operator]

    wrap(node.billing, "hold", hold)


@mutant("EP-080")
def new_accounts_take_no_email(node: Node) -> None:
    """Refuse accounts with an e-mail address."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return answer(422, {"code": "request-invalid"}) if "email" in body_of(request) else await forward(request)

    intercept(node, "new_account", handler)
