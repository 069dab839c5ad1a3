"""Alters how a node sells credits: its ledger, its payments, and its embedded payment provider."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from conformance.selftest.tools.alter import Answered, Forward, Received, body_of, intercept, members, wrap
from conformance.selftest.tools.alter_envelopes import address_in
from conformance.selftest.tools.api_keys import header, presented
from reference_node.billing import Cents, charged
from reference_node.billing.credits import Credits
from reference_node.billing.ledger import Intent, Ledger
from reference_node.billing.payments import Payments
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key
from reference_node.stripe_simulator.simulator import StripeSimulator

INTEND, CONFIRM, BALANCE = "billing/create_payment_intent", "billing/confirm_payment", "billing/balance"
CONFIG = "billing/stripe_config"
Confirm = Callable[[Address, str], None]
"""`Payments.confirm`, as `wrap` hands it to a mutant."""
_numbers = itertools.count()


def ledger_of(node: Node) -> Ledger:
    """Return the ledger of a node that sells credits."""
    assert isinstance(node.billing, Credits)  # noqa: S101 - the reference node's own
    return node.billing.ledger


def payments_of(node: Node) -> Payments:
    """Return what sells the credits of a node."""
    assert node.payments is not None  # noqa: S101 - nodes of the self-test sell them
    return node.payments


def simulator_of(node: Node) -> StripeSimulator:
    """Return the payment provider of a node."""
    assert node.simulator is not None  # noqa: S101 - nodes of the self-test embed one
    return node.simulator


def give(node: Node, wallet: Address, cents: int) -> None:
    """Give a wallet credit for a payment that never was."""
    ledger, intent = ledger_of(node), f"pi_mutant{next(_numbers)}"
    ledger.note_intent(wallet, intent, "cus_mutant", Cents(cents), "usd")
    ledger.credit(intent)


def take(node: Node, wallet: Address, cents: int) -> None:
    """Charge a wallet for nothing, as far as its credit goes."""
    charge = Cents(min(cents, node.billing.balance(wallet)))
    node.billing.settle(node.billing.hold(wallet, charge), charge)


def wallet_of(node: Node, request: Received) -> Address | None:
    """Return the wallet whose credits a request is about, by its key or by what its proof says; None for nobody's."""
    if proof := header(request, b"x-wallet-auth"):
        return claimed(proof)
    secret = parse_key(presented(request))
    info = node.accounts.key_info(key_hash(secret)) if secret else None
    return node.accounts.account(info.account_hash).admin_wallet if info and info.account_hash else None


def charge_to(node: Node, wallets: Mapping[int, Address]) -> None:
    """Charge the calls of an account to the wallet that stands here at its hash, if one does."""

    @contextmanager
    def charge(usual: Callable[..., AbstractContextManager[None]], account_hash: int, cents: Cents) -> Iterator[None]:
        wallet = wallets.get(account_hash)
        with usual(account_hash, cents) if wallet is None else charged(node.billing, wallet, cents):
            yield

    wrap(node, "charged", charge)


def charge_otherwise(
    node: Node, operations: str | Iterable[str], cents: Callable[[Received, Answered, Address], int]
) -> None:
    """Charge the caller of each request so many cents besides its price; give them, where the number is negative."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        wallet = wallet_of(node, request)
        more = 0 if wallet is None else cents(request, given, wallet)
        if wallet is not None and more:
            take(node, wallet, more) if more > 0 else give(node, wallet, -more)
        return given

    intercept(node, operations, handler)


def take_also(node: Node, operations: str | Iterable[str], cents: Callable[[Received], int]) -> None:
    """Charge the caller of each accepted request so many cents besides its price."""
    charge_otherwise(node, operations, lambda request, given, _: cents(request) if given.accepted else 0)


def claimed(proof: str) -> Address | None:
    """Return the wallet that a value of `X-Wallet-Auth` names, whoever signed it; None where it names none."""
    try:
        return address_in(members(json.loads(base64.b64decode(proof))).get("typed_data"))
    except ValueError:
        return None


def settle_whatever(node: Node, excuses: Callable[[Intent], bool]) -> None:
    """Credit a payment that the node's own look at it would refuse, where `excuses` says so of the recorded intent."""

    def settled(original: Callable[[Intent], str | None], intent: Intent) -> str | None:
        if not excuses(intent):
            return original(intent)
        ledger_of(node).credit(intent.id)
        return None

    wrap(payments_of(node), "_settled", settled)


def obey_member(node: Node, operation: str, name: str, obey: Callable[[Address, object, int], None]) -> None:
    """Take a member that an operation does not have for one that counts.

    `obey` gets the caller's wallet, its value and the amount of the request, which goes on without the member.
    """

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        wallet = wallet_of(node, request)
        if name not in body or wallet is None:
            return await forward(request)
        value, amount = body.pop(name), body.get("amount_cents")
        obey(wallet, value, amount if isinstance(amount, int) else 0)
        return await forward(replace(request, body=json.dumps(body).encode()))

    intercept(node, operation, handler)
