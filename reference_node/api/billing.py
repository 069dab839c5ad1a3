"""Specification: "Billing"."""

from __future__ import annotations

from fastapi import APIRouter, Response

from reference_node.access import NodeOf
from reference_node.api.answers import Balance
from reference_node.api.openapi import key_read
from reference_node.api.route import StrictRoute, answer
from reference_node.wallet_auth import BillingWallet

router = APIRouter(prefix="/billing", route_class=StrictRoute, tags=["Billing"])


@router.get("/balance", response_model=Balance, responses=key_read(403))
def balance(wallet: BillingWallet, node: NodeOf) -> Response:
    """The credit left, for the account key or the wallet that holds the record."""
    node.billing.catch_up()
    cents = node.billing.balance(wallet)
    return answer({"balance_cents": cents, "balance_display": f"${cents // 100}.{cents % 100:02}"})
