"""Faults about what the payment provider says of a payment, or does not say ("Billing")."""

from __future__ import annotations

from collections.abc import Callable

from conformance.selftest.tools.alter import answer, change_refused, refusal, wrap
from conformance.selftest.tools.alter_payments import INTEND, Confirm, give, ledger_of, payments_of, settle_whatever
from conformance.selftest.tools.mutant import mutant, row
from reference_node.billing.ledger import Intent
from reference_node.billing.provider import Payment, ProviderUnavailable
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.problems import NotFound

Excuse = Callable[[Intent, Payment], bool]


@mutant(
    each=[
        row("refunded", lambda _, paid: bool(paid.charge and paid.charge.amount_refunded), breaks="BILL-130"),
        row("disputed", lambda _, paid: bool(paid.charge and paid.charge.disputed), breaks="BILL-130"),
    ]
)
def status_alone_decides(node: Node, excuses: Excuse) -> None:
    """Credit an intent whose status is `succeeded`, whatever else the provider says; the label says what."""

    def excused(intent: Intent) -> bool:
        try:
            paid = payments_of(node)._provider.look_up(intent.id)
        except ProviderUnavailable:
            return False
        return paid is not None and paid.status == "succeeded" and excuses(intent, paid)

    settle_whatever(node, excused)


@mutant("BILL-120")
def intent_of_anybody_is_credited(node: Node) -> None:
    """Credit whatever intent of the provider's account has succeeded, also one that the node did not make."""

    def confirm(original: Confirm, wallet: Address, intent_id: str) -> None:
        try:
            original(wallet, intent_id)
        except NotFound:
            paid = payments_of(node)._provider.look_up(intent_id)
            if ledger_of(node).intent(intent_id) is not None or paid is None or paid.status != "succeeded":
                raise
            give(node, wallet, paid.amount)

    wrap(payments_of(node), "confirm", confirm)


@mutant("ERR-140", server_fault=True)
def silence_of_the_provider_is_a_server_fault(node: Node) -> None:
    """Answer an intent with status 500 where the provider does not answer."""
    change_refused(node, INTEND, lambda _, given: refusal(500) if given.status == 503 else given)


@mutant("BILL-030")
def silence_of_the_provider_makes_an_intent(node: Node) -> None:
    """Answer a secret of no intent where the provider does not answer."""
    made_up = answer(200, {"client_secret": "pi_0_secret_0"})
    change_refused(node, INTEND, lambda _, given: made_up if given.status == 503 else given)
