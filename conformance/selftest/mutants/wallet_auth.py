"""Faults of `X-Wallet-Auth`: which proofs it believes, whose balance it shows, and what else it opens ("Billing")."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    change_answer,
    intercept,
    members,
    refusal,
)
from conformance.selftest.tools.alter_envelopes import (
    About,
    address_in,
    good_once,
    judge_by,
    read_as,
    stated_flow,
    stated_time,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.typed_data import Flow, Members

BALANCE = "billing/balance"
PROOF = Flow.BILLING_AUTH


@mutant(
    "BILL-240",
    each=[
        row("any-time", stated_time, breaks="BILL-300 LIM-020", also="ENV-260 ENV-280 ENV-300 ERR-050"),
        row("any-flow", stated_flow, breaks="ENV-140", also="BILL-230 ENV-150 ERR-030"),
    ],
)
def proof_is_judged_as_it_says_itself(node: Node, facts: Callable[[Members, About], About]) -> None:
    """Verify a proof against what it says itself; the label says in what."""
    judge_by(node, facts, PROOF)


@mutant("BILL-240", "ENV-320", "LIM-010", also="ERR-010")
def proofs_may_be_of_any_size(node: Node) -> None:
    """Skip the check of a proof's size."""
    read_as(node, lambda document, _: document, PROOF)


@mutant("BILL-300", also="ENV-460")
def proofs_are_good_once(node: Node) -> None:
    """Refuse a proof that was accepted before."""
    good_once(node, PROOF)


def _without_key(node: Node, decide: Callable[[Received, Answered], Answered]) -> None:
    """Change the answer of the balance to requests without a key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return given if presented(request) else decide(request, given)

    intercept(node, BALANCE, handler)


@mutant("BILL-230", "ENV-010", "ENV-130", also="BILL-020")
def balance_is_for_keys_alone(node: Node) -> None:
    """Ignore `X-Wallet-Auth`."""
    _without_key(node, lambda _, __: refusal(401))


NOTHING_LEFT = answer(200, {"balance_cents": 0, "balance_display": "$0.00"})


@mutant(
    "BILL-240",
    "EP-030",
    also=(
        "BILL-260 BILL-270 BILL-300 ENV-140 ENV-200 ENV-210 ENV-220 ERR-010 ERR-020 ERR-030 ERR-040 ERR-050 ERR-060 "
        "ERR-140 LIM-010 LIM-020"
    ),
)
def headers_that_cannot_be_read_show_nothing_left(node: Node) -> None:
    """Answer a balance of zero to an `X-Wallet-Auth` that is no JSON object in base64."""

    def readable(value: bytes) -> bool:
        try:
            return isinstance(json.loads(base64.urlsafe_b64decode(value + b"===")), dict)
        except (ValueError, RecursionError):
            return False

    def decide(request: Received, given: Answered) -> Answered:
        proof = dict(request.headers).get(b"x-wallet-auth")
        return given if given.accepted or proof is None or readable(proof) else NOTHING_LEFT

    _without_key(node, decide)


@mutant("BILL-270", also="BILL-240")
def wallets_address_is_its_proof(node: Node) -> None:
    """Show the balance of a wallet that has proven itself once to whoever sends its address as `X-Wallet-Auth`."""
    shown: dict[bytes, Answered] = {}

    def decide(request: Received, given: Answered) -> Answered:
        proof = dict(request.headers).get(b"x-wallet-auth", b"")
        if given.accepted and (address := address_in(json.loads(base64.b64decode(proof))["typed_data"])):
            shown[b"0x" + address.hex().encode()] = given
        return shown.get(proof.lower(), given)

    _without_key(node, decide)


@mutant("EP-030", server_fault=True, also="ERR-140")
def headers_that_cannot_be_read_are_server_faults(node: Node) -> None:
    """Answer an unreadable `X-Wallet-Auth` with status 500."""

    def decide(_: Received, given: Answered) -> Answered:
        code = json.loads(given.body).get("code", "")
        return answer(500, {"code": code}) if str(code).startswith("wallet-auth-") else given

    _without_key(node, decide)


@mutant("WSIG-050", "WSIG-070", "ENV-150", also="ENV-140 ERR-030")
def proofs_mint(node: Node) -> None:
    """Accept a `BillingAuth` envelope for mints."""
    judge_by(
        node,
        lambda document, _: {"flow": PROOF} if document.get("primaryType") == PROOF else {},
        Flow.CREATE_WALLET,
        Flow.ADD_USAGE_API_KEY,
    )


@mutant("BILL-230", also="BILL-020 BILL-310 VER-050")
def balances_have_no_amount(node: Node) -> None:
    """Leave the cents out of the balance."""
    change_answer(node, BALANCE, lambda value: {"balance_display": members(value).get("balance_display")})
