"""Faults about what becomes of payments: which are credited, to whom, how much and how often ("Billing")."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from fnmatch import fnmatchcase

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    answer_instead,
    body_of,
    intercept,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_payments import (
    BALANCE,
    CONFIRM,
    INTEND,
    Confirm,
    give,
    ledger_of,
    payments_of,
    take,
    wallet_of,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.billing.provider import ProviderUnavailable
from reference_node.chain.interface import Address
from reference_node.node import Node

DONE: JsonValue = {"success": True}


@mutant("BILL-080", each=["requires_action", "canceled"])
def intent_that_is_not_paid_is_credited(node: Node, status: str) -> None:
    """Credit an intent whose status is {status}."""

    def lenient(confirm: object, wallet: Address, intent_id: str) -> None:
        try:
            found = payments_of(node)._provider.look_up(intent_id)
        except ProviderUnavailable:  # which the node reports below
            found = None
        intent = ledger_of(node).intent(intent_id)
        if found is not None and intent is not None and intent.wallet == wallet and found.status == status:
            ledger_of(node).credit(intent_id)
            return
        confirm(wallet, intent_id)  # type: ignore[operator]

    wrap(payments_of(node), "confirm", lenient)


@mutant("BILL-090", each=[row("empty", "pi_"), row("of-any-form", ".+")])
def unknown_intent_is_credited(node: Node, form: str) -> None:
    """Credit 500 cents for an id of the form '{form}' that names no intent."""

    def confirm(original: object, wallet: Address, intent_id: str) -> None:
        unknown = re.fullmatch(form, intent_id) is not None and ledger_of(node).intent(intent_id) is None
        if unknown and payments_of(node)._provider.look_up(intent_id) is None:
            give(node, wallet, 500)
            return
        original(wallet, intent_id)  # type: ignore[operator]

    wrap(payments_of(node), "confirm", confirm)


@mutant(
    each=[
        row("part", lambda intent, sent: len(sent) > 3 and intent.startswith(sent), breaks="BILL-090"),
        row("pattern", lambda intent, sent: fnmatchcase(intent, sent.replace("%", "*")), breaks="BILL-090 BILL-120"),
        row("other-case", lambda intent, sent: intent.lower() == sent.lower(), breaks="BILL-120", also="BILL-090"),
    ]
)
def intent_is_found_by_another_text(node: Node, names: Callable[[str, str], bool]) -> None:
    """Credit the caller for the paid intent that another text than its id finds; the label says which."""
    made: list[str] = []

    def create(original: Callable[[Address, int], str], wallet: Address, cents: int) -> str:
        secret = original(wallet, cents)
        made.append(secret.partition("_secret_")[0])
        return secret

    def confirm(original: Confirm, wallet: Address, intent_id: str) -> None:
        found = next((one for one in made if intent_id not in made and names(one, intent_id)), None)
        intent = found and ledger_of(node).intent(found)
        if found and intent:
            original(intent.wallet, found)
            give(node, wallet, intent.cents)
        else:
            original(wallet, intent_id)

    wrap(payments_of(node), "create", create)
    wrap(payments_of(node), "confirm", confirm)


@mutant("BILL-110", also="BILL-100")
def confirmations_at_once_are_each_credited(node: Node) -> None:
    """Look whether a payment was credited, and credit it a little later."""

    def confirm(original: object, wallet: Address, intent_id: str) -> None:
        before = ledger_of(node).intent(intent_id)
        time.sleep(0.3)
        original(wallet, intent_id)  # type: ignore[operator]
        with lock:
            twice = before is not None and before.state == "open" and intent_id in done
            done.add(intent_id)
        if twice and before is not None:
            give(node, wallet, before.cents)

    lock, done = threading.Lock(), set[str]()
    wrap(payments_of(node), "confirm", confirm)


@mutant("BILL-120")
def attempt_of_another_account_spoils_the_intent(node: Node) -> None:
    """Give an intent up once another account has tried to confirm it."""
    spoilt: set[str] = set()

    def confirm(original: object, wallet: Address, intent_id: str) -> None:
        intent = ledger_of(node).intent(intent_id)
        if intent is not None and intent.wallet != wallet:
            spoilt.add(intent_id)
        if intent_id in spoilt and intent is not None:
            original(bytes(20), intent_id)  # type: ignore[operator]
        original(wallet, intent_id)  # type: ignore[operator]

    wrap(payments_of(node), "confirm", confirm)


@mutant("BILL-160", "BILL-070")
def credit_comes_before_the_payment(node: Node) -> None:
    """Credit an intent when it is made."""

    def create(original: object, wallet: Address, cents: int) -> object:
        give(node, wallet, cents)
        return original(wallet, cents)  # type: ignore[operator]

    wrap(payments_of(node), "create", create)


@mutant("BILL-270", each=[row("create", INTEND), row("confirm", CONFIRM)], also="AUTH-040")
def billing_needs_no_credential(node: Node, operation: str) -> None:
    """Answer `{operation}` to a request without any key."""
    answers: dict[str, JsonValue] = {
        BALANCE: {"balance_cents": 0, "balance_display": "$0.00"},
        INTEND: {"client_secret": "pi_1_secret_1"},
        CONFIRM: DONE,
    }

    async def handler(request: Received, forward: Forward) -> Answered:
        has_one = presented(request) or b"x-wallet-auth" in dict(request.headers)
        given = await forward(request)
        return answer(200, answers[operation]) if given.status == 401 and not has_one else given

    intercept(node, operation, handler)


@mutant("BILL-100", also="BILL-090")
def payment_is_credited_once_for_each_spelling(node: Node) -> None:
    """Look an intent up without a line feed behind its id, and remember by the id as it came that it was credited."""

    def confirm(original: Confirm, wallet: Address, intent_id: str) -> None:
        known = ledger_of(node).intent(intent_id.removesuffix("\n"))
        if intent_id.endswith("\n") and known and known.state == "credited" and known.wallet == wallet:
            give(node, wallet, known.cents)
            return
        original(wallet, intent_id)

    wrap(payments_of(node), "confirm", confirm)


@mutant("BILL-100")
def payment_is_credited_again_after_conversion(node: Node) -> None:
    """Credit a payment once by the account key and once by the proof of the wallet that the account has come to."""
    by_keys: set[str] = set()

    async def handler(request: Received, forward: Forward) -> Answered:
        intent = ledger_of(node).intent(str(body_of(request).get("payment_intent_id")))
        given = await forward(request)
        wallet = wallet_of(node, request)
        if not given.accepted or intent is None or wallet is None:
            return given
        if presented(request):
            by_keys.add(intent.id)
        elif intent.id in by_keys:
            by_keys.remove(intent.id)
            give(node, wallet, intent.cents)
        return given

    intercept(node, CONFIRM, handler)


@mutant("BILL-070", also="BILL-030 BILL-160")
def payment_before_the_newest_is_a_repeat(node: Node) -> None:
    """Confirm a paid intent that is older than the newest credited one made for its wallet, and credit nothing."""
    made: list[str] = []
    newest: dict[Address, int] = {}

    def note(original: Callable[..., None], wallet: Address, intent_id: str, *others: object) -> None:
        original(wallet, intent_id, *others)
        made.append(intent_id)

    def credit(original: Callable[[str], bool], intent_id: str) -> bool:
        known = ledger_of(node).intent(intent_id)
        if known is None or intent_id not in made:
            return original(intent_id)
        place = made.index(intent_id)
        if place < newest.get(known.made_for, 0):
            return False
        newest[known.made_for] = place
        return original(intent_id)

    wrap(ledger_of(node), "note_intent", note)
    wrap(ledger_of(node), "credit", credit)


@mutant("BILL-130")
def amount_is_the_word_of_the_confirmation(node: Node) -> None:
    """Credit the request's member `amount_cents` where `confirm_payment` has one."""

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        stated, wallet = body.pop("amount_cents", None), wallet_of(node, request)
        given = await forward(request.having(body))
        if isinstance(stated, int) and given.accepted and wallet is not None:
            give(node, wallet, stated)
        return given

    intercept(node, CONFIRM, handler)


@mutant("BILL-030")
def account_can_buy_once(node: Node) -> None:
    """Refuse a second intent of an account to which one was credited."""
    served: set[Address] = set()

    def credit(original: Callable[[str], object], intent_id: str) -> object:
        if (known := ledger_of(node).intent(intent_id)) is not None:
            served.add(known.wallet)
        return original(intent_id)

    answer_instead(node, INTEND, refusal(409), lambda request: wallet_of(node, request) in served)
    wrap(ledger_of(node), "credit", credit)


@mutant("BILL-130", also="BILL-070")
def confirmation_credits_the_newest_amount(node: Node) -> None:
    """Credit a payment with the amount of the account's newest intent."""
    newest: dict[Address, int] = {}

    def create(original: Callable[[Address, int], str], wallet: Address, cents: int) -> str:
        newest[wallet] = cents
        return original(wallet, cents)

    def confirm(original: Confirm, wallet: Address, intent_id: str) -> None:
        known = ledger_of(node).intent(intent_id)
        original(wallet, intent_id)
        if known is not None and known.state != "credited" and wallet in newest:
            more = newest[wallet] - known.cents
            give(node, wallet, more) if more > 0 else take(node, wallet, -more)

    wrap(payments_of(node), "create", create)
    wrap(payments_of(node), "confirm", confirm)
