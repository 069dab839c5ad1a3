"""Authentication of billing calls by account key or by `X-Wallet-Auth` (specification, "Authentication" 7).

The specification does not show the header's encoding. Here it is standard base64 of the JSON object
`{"typed_data": …, "signature": "0x…"}`.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials

from reference_node.api.access import API_KEY_HEADER, BEARER_HEADER, NodeOf, admitted, caller_of, presented_keys
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.typed_data import Flow
from reference_node.problems import BadRequest, Forbidden, Unauthenticated, Unprocessable
from reference_node.strict_json import parse

HEADER = "X-Wallet-Auth"

MEMBERS = {"typed_data", "signature"}

WALLET_AUTH_HEADER = APIKeyHeader(
    name=HEADER,
    scheme_name="WalletAuth",
    auto_error=False,
    description='A wallet\'s `BillingAuth` proof: base64 of the JSON `{"typed_data": {…}, "signature": "0x…"}`.',
)


async def billing_credentials(
    _api_key: Annotated[str | None, Security(API_KEY_HEADER)],
    _bearer: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER_HEADER)],
    _wallet_auth: Annotated[str | None, Security(WALLET_AUTH_HEADER)],
) -> None:
    """Describe in OpenAPI what `wallet_of` reads."""


async def billing_wallet(
    request: Request, node: NodeOf, _described: Annotated[None, Depends(billing_credentials)]
) -> Address:
    """The result of `wallet_of`, determined before the request's body is read."""
    return await admitted(request, node, wallet_of)


def wallet_of(request: Request, node: Node) -> Address:
    """The wallet whose credits the caller may read and buy. Raises `Unauthenticated` or `Forbidden`.

    The wallet may have no record yet: a ChainSecured account created on-chain has none before its first payment.
    """
    proofs = set(request.headers.getlist(HEADER)) - {""}
    if not proofs:
        return _wallet_of_account(request, node)
    if len(proofs) > 1 or presented_keys(request):
        raise Unauthenticated("conflicting-credentials", f"send one {HEADER} and no key, or one key alone")
    try:
        return _proven(proofs.pop(), node)
    except (BadRequest, Unprocessable) as fault:
        raise Unauthenticated(fault.code, f"in {HEADER}: {fault.detail}") from None


def check_still_holds(request: Request, node: Node) -> None:
    """Raise `Unauthenticated` if the account of the caller's key was converted meanwhile."""
    if presented_keys(request):
        _wallet_of_account(request, node)


def _wallet_of_account(request: Request, node: Node) -> Address:
    caller = caller_of(request, node)
    if not caller.is_account_key:
        raise Forbidden("owner-only", f"credits are for the account key, or for {HEADER} of the admin wallet")
    return node.accounts.account(caller.account_hash).admin_wallet


def _proven(header: str, node: Node) -> Address:
    try:
        text = base64.b64decode(header, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest("wallet-auth-not-base64", "standard base64 of a JSON object was expected") from None
    proof = parse(text, "wallet auth")
    if not isinstance(proof, dict) or proof.keys() != MEMBERS:
        raise BadRequest(
            "wallet-auth-malformed", "it has to be an object of typed_data and signature, and nothing else"
        )
    return node.signer(proof["typed_data"], proof["signature"], Flow.BILLING_AUTH)


BillingWallet = Annotated[Address, Depends(billing_wallet)]
