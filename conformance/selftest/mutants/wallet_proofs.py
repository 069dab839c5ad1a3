"""Faults about what `X-Wallet-Auth` opens beside its own balance ("Authentication" 7)."""

from __future__ import annotations

import base64
import json

from pydantic import JsonValue

from conformance.selftest.tools.accounts import Write, account_of
from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, members, wrap
from conformance.selftest.tools.alter_contract import former_admins, let_in, payers_of
from conformance.selftest.tools.alter_envelopes import address_in
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.tools.api_keys import header, presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.interface import Address
from reference_node.node import Node

BALANCE = "billing/balance"
DONE: JsonValue = {"success": True}


def _prover(request: Received) -> bytes | None:
    """Return the wallet that a request's proof names, signed or not; None where it holds no proof."""
    try:
        proof = members(json.loads(base64.b64decode(header(request, b"x-wallet-auth"))))
    except ValueError:
        return None
    return address_in(proof.get("typed_data"))


@mutant(
    "BILL-290",
    each=[
        row("list_actions", "list_actions", []),
        row("list_groups", "list_groups", []),
        row("list_wallets", "list_wallets", []),
        row("list_api_keys", "list_api_keys", []),
        row("delete_action", "delete_action", DONE),
        row("update_group", "update_group", DONE),
        row("create_wallet", "create_wallet", {"wallet_address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}),
        row("service_action", RUN, {"response": None, "logs": "", "has_error": False}, also="EXEC-260"),
    ],
    also="AUTH-040 ERR-140",
)
def proof_opens_another_operation(node: Node, operation: str, given: JsonValue) -> None:
    """Answer success to `{operation}` with a proof and no key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        opened = not presented(request) and _prover(request) is not None
        return answer(200, given) if opened else await forward(request)

    intercept(node, operation, handler)


@mutant("BILL-260")
def former_wallets_go_on_seeing_the_balance(node: Node) -> None:
    """Answer the account's balance to its former admin wallet after a conversion."""
    former = former_admins(node)

    def balance(read: Write, wallet: Address) -> object:
        return read(next((admin for admin, before in former.items() if before == wallet), wallet))

    wrap(node.billing, "balance", balance)


@mutant("BILL-260")
def wallets_of_an_account_see_its_balance(node: Node) -> None:
    """Answer an account's balance to each of the wallets that were created in it."""
    owners: dict[bytes, int] = {}

    def create(write: Write, acting: int, address: Address, *rest: object) -> object:
        owners[address] = account_of(node, acting)
        return write(acting, address, *rest)

    def balance(read: Write, wallet: Address) -> object:
        return read(node.accounts.account(owners[wallet]).admin_wallet if wallet in owners else wallet)

    wrap(node.accounts, "create_wallet", create)
    wrap(node.billing, "balance", balance)


@mutant(
    "BILL-240",
    "BILL-260",
    also=(
        "AUTH-050 BILL-300 ENV-140 ENV-150 ENV-200 ENV-210 ENV-220 ERR-010 ERR-030 ERR-040 ERR-050 ERR-060 "
        "LIM-010 LIM-020"
    ),
)
def proofs_beside_a_key_are_believed(node: Node) -> None:
    """Accept an unverified proof when a key comes with it."""

    async def handler(request: Received, forward: Forward) -> Answered:
        named = _prover(request)
        if named is None or not presented(request):
            return await forward(request)
        cents = node.billing.balance(Address(named))
        return answer(200, {"balance_cents": cents, "balance_display": f"${cents / 100:.2f}"})

    intercept(node, BALANCE, handler)


@mutant("AUTH-230", also="ACC-150 AUTH-050 BILL-290 CHAIN-100")
def proofs_beside_a_key_open_writes(node: Node) -> None:
    """Let a proof of the admin of a ChainSecured account beside any key create groups there."""
    converted: dict[bytes, int] = {}

    def convert(write: Write, account: int, admin: Address) -> None:
        write(account, admin)
        converted[admin] = account

    wrap(node.accounts, "convert_to_chain_secured", convert)
    payers = payers_of(node)
    opened: list[bytes] = []
    let_in(node, lambda sender, account: sender in payers and account.admin_wallet in opened)

    async def handler(request: Received, forward: Forward) -> Answered:
        account = converted.get(_prover(request) or b"")
        if account is None or not presented(request):
            return await forward(request)
        opened.append(node.accounts.account(account).admin_wallet)
        try:
            return answer(200, {"success": True, "group_id": node.accounts.add_group(account, "taken", "", [], [])})
        finally:
            opened.pop()

    intercept(node, "add_group", handler)
