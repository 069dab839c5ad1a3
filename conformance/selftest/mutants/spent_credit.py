"""Faults about accounts without credit ("Billing")."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from http import HTTPStatus

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
    text_member,
    wrap,
)
from conformance.selftest.tools.alter_payments import BALANCE, INTEND, give, wallet_of
from conformance.selftest.tools.alter_runs import RUN, all_groups, change_verdicts, permits
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import WRITES
from conformance.selftest.variants.sells_credits import sells_credits
from reference_node.billing import Cents
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key
from reference_node.problems import PaymentRequired


def _without_credit(node: Node, request: Received) -> Address | None:
    """Return the wallet whose credits a request is about, if it has none left."""
    wallet = wallet_of(node, request)
    return None if wallet is None or node.billing.balance(wallet) else wallet


def _charge_nothing(node: Node, operations: str | Iterable[str], applies: Callable[[Received], bool]) -> None:
    """Accept these requests for nothing where there is no credit."""

    async def handler(request: Received, forward: Forward) -> Answered:
        wallet = _without_credit(node, request)
        if wallet is not None and applies(request):
            give(node, wallet, 1)
        return await forward(request)

    intercept(node, operations, handler)


@mutant("BILL-140")
def last_cent_can_not_be_spent(node: Node) -> None:
    """Refuse with 402 what would leave an account nothing."""

    def hold(original: Callable[[Address, int], object], wallet: Address, cents: int) -> object:
        if cents == 1 == node.billing.balance(wallet):
            raise PaymentRequired("insufficient-credits", "the account would have no credit left")
        return original(wallet, cents)

    wrap(node.billing, "hold", hold)


@mutant("BILL-200")
def fresh_account_has_less_than_stated(node: Node) -> None:
    """Grant a fresh account three cents less than the profile states."""
    stated = node.settings.starter_credits
    wrap(node.billing, "open_record", lambda grant, wallet: grant(wallet, Cents(stated - 3)))


@mutant("BILL-200", also="BILL-140 BILL-190 BILL-220 LIM-050")
def balance_falls_below_zero(node: Node) -> None:
    """Do a write without credit and show a debt of a cent, though the profile states that no balance is negative."""
    debts: dict[Address, int] = {}

    async def write(request: Received, forward: Forward) -> Answered:
        wallet = _without_credit(node, request)
        if wallet is not None:
            give(node, wallet, 1)
        given = await forward(request)
        if wallet is not None and given.accepted:
            debts[wallet] = debts.get(wallet, 0) + 1
        return given

    async def show(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        debt = debts.get(wallet_of(node, request) or Address(b""), 0)
        if not given.accepted or not debt:
            return given
        shown = given.told
        return answer(given.status, {**shown, "balance_cents": int(str(shown["balance_cents"])) - debt})

    intercept(node, WRITES, write)
    intercept(node, BALANCE, show)


@mutant("BILL-220", also="BILL-140 BILL-190 LIM-050")
def granted_cent_is_spent_by_all_at_once(node: Node) -> None:
    """The same of a node that grants credits."""
    _look_before_the_write(node)


def _look_before_the_write(node: Node) -> None:
    async def handler(request: Received, forward: Forward) -> Answered:
        wallet = wallet_of(node, request)
        covered = wallet is not None and node.billing.balance(wallet) > 0
        await asyncio.sleep(0.3)
        given = await forward(request)
        if given.status != 402 or wallet is None or not covered:
            return given
        give(node, wallet, 1)
        return await forward(request)

    intercept(node, WRITES, handler)


@mutant("BILL-190", each=["create_wallet", "add_group", "delete_action"], also="ERR-150 LIST-170")
def write_without_credit_is_done_all_the_same(node: Node, operation: str) -> None:
    """Refuse `{operation}` with 402 where there is no credit, after it was done."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        wallet = wallet_of(node, request)
        if given.status == 402 and wallet is not None:
            give(node, wallet, 1)
            await forward(request)
        return given

    intercept(node, operation, handler)


@mutant("BILL-190", each=["remove_group", "update_usage_api_key_metadata"], also="BILL-140 BILL-200 LIM-050")
def write_needs_no_credit(node: Node, operation: str) -> None:
    """Accept `{operation}` for nothing where there is no credit."""
    _charge_nothing(node, operation, lambda _: True)


@mutant(
    "BILL-150", each=[row("list_groups", also="EP-200"), row("account_exists", also="EP-340")], also="LIM-050 VER-050"
)
def read_needs_credit(node: Node, operation: str) -> None:
    """Refuse `{operation}` with 402 where there is no credit."""
    answer_instead(node, operation, refusal(402), lambda request: _without_credit(node, request))


@mutant("BILL-030", on=sells_credits, also="BILL-040 BILL-160")
def buying_credit_needs_credit(node: Node) -> None:
    """Refuse intents with 402 where there is no credit."""

    async def handler(request: Received, forward: Forward) -> Answered:
        is_empty = _without_credit(node, request) is not None
        given = await forward(request)
        return refusal(402) if is_empty and given.accepted else given

    intercept(node, INTEND, handler)


@mutant("BILL-030", also="BILL-040 BILL-160")
def account_that_has_spent_all_may_buy_no_more(node: Node) -> None:
    """Refuse intents with 402 to an account that had credit once, and has none."""
    had: set[Address] = set()

    async def handler(request: Received, forward: Forward) -> Answered:
        wallet = wallet_of(node, request)
        given = await forward(request)
        return refusal(402) if wallet in had and given.accepted and not node.billing.balance(wallet) else given

    def settle(original: Callable[..., object], hold: object, cents: int) -> object:
        had.add(hold.wallet)  # type: ignore[attr-defined]
        return original(hold, cents)

    wrap(node.billing, "settle", settle)
    intercept(node, INTEND, handler)


@mutant("BILL-180", also="BILL-190")
def lack_of_credit_is_remembered(node: Node) -> None:
    """Refuse a usage key's runs with 402, whatever its account buys, once one was refused so."""
    poor: set[str] = set()

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status == HTTPStatus.PAYMENT_REQUIRED:
            poor.add(presented(request))
        return refusal(402) if given.accepted and presented(request) in poor else given

    intercept(node, RUN, handler)


@mutant("BILL-190", also="ERR-150 KEYLIFE-020 KEYLIFE-030")
def update_without_credit_counts_for_runs(node: Node) -> None:
    """Let a usage key run in the groups that an update named which was refused with 402."""
    named: dict[int, list[JsonValue]] = {}

    async def update(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        secret, groups = parse_key(text_member(request, "usage_api_key")), body_of(request).get("execute_in_groups")
        if given.status == HTTPStatus.PAYMENT_REQUIRED and secret and isinstance(groups, list):
            named[key_hash(secret)] = groups
        return given

    def permitted(was: bool, run: tuple[int, bytes, bytes | None]) -> bool:
        return was or any(
            permits(group, run[1], run[2]) for group in all_groups(node, run[0]) if group.id in named.get(run[0], [])
        )

    intercept(node, "update_usage_api_key", update)
    change_verdicts(node, permitted)
