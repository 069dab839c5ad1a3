"""The billing endpoints (specification, "Billing")."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response

from reference_node.api.access import NodeOf
from reference_node.api.answers import Balance, PaymentSecret, StripeConfig, Success
from reference_node.api.openapi import BODY, key_read, problems
from reference_node.api.requests import ConfirmedPayment, NewPaymentIntent
from reference_node.api.route import StrictRoute, answer, success
from reference_node.api.wallet_auth import BillingWallet, billing_credentials, check_still_holds, wallet_of
from reference_node.billing import Cents
from reference_node.billing.payments import Payments
from reference_node.node import Node
from reference_node.problems import Unavailable

router = APIRouter(prefix="/billing", route_class=StrictRoute, tags=["Billing"])


@router.get("/stripe_config", response_model=StripeConfig, responses=problems(422, 503))
def stripe_config(node: NodeOf) -> Response:
    """The publishable key for the payment provider's browser library. Needs no key."""
    return answer({"publishable_key": _payments(node).publishable_key})


@router.get("/balance", response_model=Balance, responses=key_read(403), dependencies=[Depends(billing_credentials)])
def balance(request: Request, node: NodeOf) -> Response:
    """The credit left. Needs the account key, or a proof by the wallet that holds the record."""
    wallet = wallet_of(request, node)  # not a dependency, which would need a second thread
    node.billing.catch_up()
    cents = node.billing.balance(wallet)
    return answer({"balance_cents": cents, "balance_display": f"${cents // 100}.{cents % 100:02}"})


@router.post("/create_payment_intent", response_model=PaymentSecret, responses=key_read(*BODY, 403))
async def create_payment_intent(
    body: NewPaymentIntent, wallet: BillingWallet, request: Request, node: NodeOf
) -> Response:
    """Create a payment intent. The provider's browser library pays it with the client secret."""
    payments = _payments(node)

    def create() -> str:
        secret = payments.create(wallet, Cents(body.amount_cents))
        # If the account was converted meanwhile, the intent would credit nobody, so keep its secret.
        check_still_holds(request, node)
        return secret

    secret = await payments.patience.wait_for(create)
    return answer({"client_secret": secret})


@router.post("/confirm_payment", response_model=Success, responses=key_read(*BODY, 402, 403, 404))
async def confirm_payment(body: ConfirmedPayment, wallet: BillingWallet, node: NodeOf) -> Response:
    """Credit a payment that has succeeded. Confirming it again changes nothing."""
    payments = _payments(node)

    def confirm() -> None:
        node.billing.catch_up()
        payments.confirm(wallet, body.payment_intent_id)

    await payments.patience.wait_for(confirm)
    return success()


def _payments(node: Node) -> Payments:
    if node.payments is None:
        raise Unavailable("no-payments", "this node sells no credits: it was started with --payments none")
    return node.payments
