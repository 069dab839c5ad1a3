"""Faults about e-mail addresses of accounts, and accounts that share one ("Endpoints / Account and key management")."""

from __future__ import annotations

import json
from collections.abc import Callable

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    answer_instead,
    body_of,
    intercept,
    wrap,
)
from conformance.selftest.tools.alter_payments import Confirm, give, ledger_of, payments_of, take
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import address_of, parse_key


@mutant("EP-080", also="EP-040 EP-070 VER-050")
def new_accounts_take_no_email(node: Node) -> None:
    """Refuse accounts with an e-mail address."""
    answer_instead(
        node, "new_account", answer(422, {"code": "request-invalid"}), lambda request: "email" in body_of(request)
    )


@mutant("BILL-120", also="BILL-100 BILL-160")
def payment_is_credited_to_all_of_one_email(node: Node) -> None:
    """Credit a payment to each account of the payer's e-mail address."""
    wallets: dict[str, list[Address]] = {}

    async def follow(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        secret = parse_key(str(json.loads(given.body).get("api_key"))) if given.accepted else None
        if secret and (email := body_of(request).get("email")):
            wallets.setdefault(str(email), []).append(address_of(secret))
        return given

    def confirm(original: Confirm, wallet: Address, intent_id: str) -> None:
        known = ledger_of(node).intent(intent_id)
        original(wallet, intent_id)
        if known is not None and known.state == "open":
            for twins in wallets.values():
                for twin in twins if wallet in twins else ():
                    if twin != wallet:
                        give(node, twin, known.cents)

    intercept(node, "new_account", follow)
    wrap(payments_of(node), "confirm", confirm)


@mutant("BILL-120", also="BILL-070 BILL-130")
def payment_is_credited_to_the_first_of_one_email(node: Node) -> None:
    """Make an intent for the account that gave the payer's e-mail address first."""
    first: dict[str, Address] = {}
    owner: dict[Address, Address] = {}

    async def follow(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        secret = parse_key(str(json.loads(given.body).get("api_key"))) if given.accepted else None
        if secret and (email := body_of(request).get("email")):
            owner[address_of(secret)] = first.setdefault(str(email), address_of(secret))
        return given

    def credit(original: object, intent_id: str) -> object:
        known = ledger_of(node).intent(intent_id)
        done = original(intent_id)  # type: ignore[operator]
        payable = known is not None and known.state == "open"
        if known is not None and payable and owner.get(known.wallet, known.wallet) != known.wallet:
            take(node, known.wallet, known.cents)
            give(node, owner[known.wallet], known.cents)
        return done

    intercept(node, "new_account", follow)
    wrap(ledger_of(node), "credit", credit)


@mutant("EP-080", each=[row("none", None), row("in_capitals", str.upper)])
def emails_are_not_forwarded_as_they_are(node: Node, spelt: Callable[[str], str] | None) -> None:
    """Forward another e-mail address than the account's, or none; the label says which."""

    def forward(original: Callable[[Address, str], None], wallet: Address, email: str) -> None:
        if spelt is not None:
            original(wallet, spelt(email))

    wrap(payments_of(node), "forward_email", forward)


@mutant("EP-080")
def accounts_without_email_get_one(node: Node) -> None:
    """Tell the provider an address of the service for accounts that gave none."""

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        return await forward(request.having({"email": "billing@service.example", **body}))

    intercept(node, "new_account", handler)
