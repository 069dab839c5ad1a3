"""Faults about who may see and fill which record of credits, before and after conversion ("Authentication" 7)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from email.utils import parsedate_to_datetime

from conformance.selftest.mutants.wallet_auth import PROOF
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    answer_instead,
    body_of,
    intercept,
    members,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_envelopes import (
    About,
    Check,
    address_in,
    around_verdict,
    members_of,
    stated_chain,
    stated_flow,
    stated_time,
)
from conformance.selftest.tools.alter_payments import (
    BALANCE,
    CONFIRM,
    INTEND,
    claimed,
    give,
    ledger_of,
    payments_of,
    take,
)
from conformance.selftest.tools.api_keys import header, key_book, presented, under
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.typed_data import Members
from reference_node.problems import BadRequest

Facts = Callable[[Members, About], About]
ENDPOINTS = [row("create", INTEND), row("confirm", CONFIRM)]


@mutant("BILL-230", also="BILL-020 ENV-420")
def address_in_lower_case_has_a_record_of_its_own(node: Node) -> None:
    """Look the record up by the text of the address: in lower case it is another wallet's, without credit."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        proof = header(request, b"x-wallet-auth")
        lower = given.accepted and bool(proof) and (text := written_address(proof)) == text.lower()
        return answer(200, {"balance_cents": 0, "balance_display": "$0.00"}) if lower else given

    intercept(node, BALANCE, handler)


def written_address(proof: str) -> str:
    """The address as the text of a proof has it."""
    message = members(members(members(json.loads(base64.b64decode(proof)))["typed_data"])["message"])
    return str(message["address"])


def _judge_proofs(node: Node, operation: str, judge: Callable[[Check, object, object, About], object]) -> None:
    """Have `judge` verify the proofs of one operation."""
    asked: ContextVar[bool] = ContextVar("asked", default=False)

    async def handler(request: Received, forward: Forward) -> Answered:
        asked.set(True)
        return await forward(request)

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        return (judge if asked.get() else _as_it_was)(original, data, signature, about)

    intercept(node, operation, handler)
    around_verdict(node, verify, PROOF)


def _as_it_was(original: Check, data: object, signature: object, about: About) -> object:
    return original(data, signature, **about)


@mutant("BILL-240", "BILL-260", each=ENDPOINTS, also="ENV-210 ENV-220 ENV-390 ERR-060")
def proof_is_not_verified(node: Node, operation: str) -> None:
    """Believe any `X-Wallet-Auth` that names a wallet in `{operation}`, whoever signed it."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        try:
            return original(data, signature, **about)
        except BadRequest as refused:
            if refused.code != "signature-mismatch":
                raise
        return address_in(data)

    _judge_proofs(node, operation, verify)


@mutant(
    "BILL-240",
    each=[
        row(f"{label}-{call}", operation, facts, also=also)
        for call, operation in (("create", INTEND), ("confirm", CONFIRM))
        for label, facts, also in (
            ("any-time", stated_time, "BILL-300 ERR-050 LIM-020"),
            ("any-chain", stated_chain, "ENV-200 ERR-040"),
            ("any-flow", stated_flow, "BILL-230 ENV-140 ENV-150 ERR-030"),
        )
    ],
)
def proof_of_a_payment_is_judged_as_it_says_itself(node: Node, operation: str, facts: Facts) -> None:
    """Verify a proof in `{operation}` against what it says itself; the label says in what."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        return original(data, signature, **about | facts(members_of(data), about))

    _judge_proofs(node, operation, verify)


@mutant("BILL-300", each=ENDPOINTS, also="ENV-460")
def proof_pays_once(node: Node, operation: str) -> None:
    """Refuse a proof in `{operation}` that it was accepted for before."""
    spent: set[str] = set()

    async def handler(request: Received, forward: Forward) -> Answered:
        proof = header(request, b"x-wallet-auth")
        if proof and proof in spent:
            return refusal(401)
        given = await forward(request)
        if given.accepted:
            spent.add(proof)
        return given

    intercept(node, operation, handler)


@mutant("BILL-260", each=ENDPOINTS, also="BILL-070 BILL-230")
def first_wallet_is_everybody(node: Node, operation: str) -> None:
    """Take each proof in `{operation}` for the first one that was accepted."""
    first: list[object] = []

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        first.append(original(data, signature, **about))
        return first[0]

    _judge_proofs(node, operation, verify)


@mutant("BILL-230", each=ENDPOINTS)
def wallet_alone_does_not_pay(node: Node, operation: str) -> None:
    """Refuse `{operation}` by `X-Wallet-Auth`."""
    answer_instead(node, operation, refusal(401), lambda request: not presented(request))


@mutant(
    "BILL-270", each=[row("create", INTEND), row("confirm", CONFIRM), row("balance", BALANCE)], also="AUTH-040 AUTH-200"
)
def empty_proof_is_the_newest_account(node: Node, operation: str) -> None:
    """Answer `{operation}` for the newest account to a request with neither key nor proof."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        nobody = not presented(request) and not header(request, b"x-wallet-auth")
        return await forward(under(request, book.accounts[-1]) if nobody and book.accounts else request)

    intercept(node, operation, handler)


@mutant("BILL-160", also="MODE-300")
def conversion_doubles_credit(node: Node) -> None:
    """Double an account's credit when it is converted."""
    done: set[int] = set()

    def move(original: Callable[..., None], account_hash: int, wallet: Address, new_wallet: Address) -> None:
        moved = node.billing.balance(wallet)
        original(account_hash, wallet, new_wallet)
        if account_hash not in done:
            done.add(account_hash)
            give(node, new_wallet, moved)

    wrap(node.billing, "move", move)


@mutant("MODE-100", also="MODE-300")
def credit_of_the_new_wallet_is_overwritten(node: Node) -> None:
    """Lose what a wallet has bought before an account is converted to it."""

    def move(original: Callable[..., None], account_hash: int, wallet: Address, new_wallet: Address) -> None:
        if account_hash not in done:
            done.add(account_hash)
            take(node, new_wallet, node.billing.balance(new_wallet))
        original(account_hash, wallet, new_wallet)

    done: set[int] = set()
    wrap(node.billing, "move", move)


@mutant("BILL-070")
def payments_end_with_the_mode(node: Node) -> None:
    """Credit no intent any more that was open when its account was converted: what was paid is lost."""
    lost: set[str] = set()

    def move(original: Callable[..., None], account_hash: int, wallet: Address, new_wallet: Address) -> None:
        for intent in ledger_of(node).open_intents():
            if intent.wallet == wallet:
                ledger_of(node).abandon(intent.id)
                lost.add(intent.id)
        original(account_hash, wallet, new_wallet)

    def confirm(original: Callable[..., None], wallet: Address, intent_id: str) -> None:
        if intent_id not in lost:
            original(wallet, intent_id)

    wrap(node.billing, "move", move)
    wrap(payments_of(node), "confirm", confirm)


@mutant("BILL-260", also="BILL-240 ENV-220 ERR-060")
def proof_beside_a_key_counts_unverified(node: Node) -> None:
    """Pay for the wallet that an unverified proof names, where an account key comes with it."""

    async def handler(request: Received, forward: Forward) -> Answered:
        wallet = claimed(header(request, b"x-wallet-auth"))
        by_key = replace(request, headers=tuple(pair for pair in request.headers if pair[0] != b"x-wallet-auth"))
        if wallet is None or not (await forward(by_key)).accepted:
            return await forward(request)
        return answer(200, {"balance_cents": node.billing.balance(wallet), "balance_display": "$0.00"})

    intercept(node, BALANCE, handler)


@mutant("BILL-100")
def payment_is_credited_again_to_a_wallet(node: Node) -> None:
    """Credit a payment once more for each further confirmation by a wallet's proof."""
    confirmed: set[str] = set()

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted and header(request, b"x-wallet-auth"):
            intent = ledger_of(node).intent(str(body_of(request)["payment_intent_id"]))
            if intent is not None and intent.id in confirmed:
                give(node, intent.wallet, intent.cents)
            confirmed.update([intent.id] if intent else [])
        return given

    intercept(node, CONFIRM, handler)


@mutant("BILL-240", "LIM-020", each=ENDPOINTS, also="BILL-300 ERR-050")
def time_of_a_proof_is_told_by_the_request(node: Node, operation: str) -> None:
    """Hold the time of a proof in `{operation}` against the header `Date`, where there is one."""
    told: ContextVar[int | None] = ContextVar("told", default=None)

    async def handler(request: Received, forward: Forward) -> Answered:
        date = header(request, b"date")
        told.set(int(parsedate_to_datetime(date).timestamp()) if date else None)
        return await forward(request)

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        date = told.get()
        return original(data, signature, **about if date is None else {**about, "now": date})

    intercept(node, operation, handler)
    around_verdict(node, verify, PROOF)
