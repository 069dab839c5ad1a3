"""The test-control interface, only with `--control`: moves the clock, gives ether, spends credit, renews, resets.

No part of the specification. It lets a suite judge time windows exactly, send transactions of wallets of its own, and
begin with a known state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from reference_node.access import NodeOf
from reference_node.api.fields import Address
from reference_node.api.requests import Body
from reference_node.api.route import StrictRoute, success
from reference_node.chain.evm import EvmChain
from reference_node.problems import Conflict
from reference_node.tee.tls import CertificateError

OFFSET_LIMIT = 10 * 365 * 24 * 3600
"""Seconds that the clock may be moved either way."""

GIFT = 100 * 10**18
"""Wei that a wallet is given where the request names no amount."""

GIFT_LIMIT = 10**30
"""Wei that a wallet can be given at once; the sum of many such gifts is still far below 2**256."""

router = APIRouter(prefix="/control", route_class=StrictRoute, include_in_schema=False)


class ClockSetting(Body):
    """How far the node's clock is to be from the right time."""

    offset_seconds: Annotated[int, Field(ge=-OFFSET_LIMIT, le=OFFSET_LIMIT)]


class Beneficiary(Body):
    """Who is to have gas money, and how much."""

    address: Address
    wei: Annotated[int, Field(ge=1, le=GIFT_LIMIT)] = GIFT


class Spender(Body):
    """Whose credit is to be spent."""

    address: Address


class Nothing(Body):
    """An empty object."""


@router.post("/clock")
def set_clock(body: ClockSetting, node: NodeOf) -> Response:
    """Move the clock; each call counts from the right time. The chain's time follows, but never goes back."""
    node.clock.offset_seconds = body.offset_seconds
    return success()


@router.post("/fund")
def give_ether(body: Beneficiary, node: NodeOf) -> Response:
    """Give a wallet on the in-memory chain so many wei, out of nothing."""
    if not isinstance(node.chain, EvmChain):
        raise Conflict("external-chain", "an external chain's ether is not the node's to give: ask its operator")
    node.chain.fund(bytes.fromhex(body.address.removeprefix("0x")), body.wei)
    return success()


@router.post("/spend")
def spend_credit(body: Spender, node: NodeOf) -> Response:
    """Charge a wallet all the credit that it has, for nothing."""
    wallet = bytes.fromhex(body.address.removeprefix("0x"))
    cents = node.billing.balance(wallet)
    node.billing.settle(node.billing.hold(wallet, cents), cents)
    return success()


@router.post("/rotate")
def rotate_certificate(body: Nothing, node: NodeOf) -> Response:  # noqa: ARG001 - only its shape counts
    """Take a new TLS certificate, and with it new evidence. Connections stay as they are."""
    with _certificate_files_in_use():
        node.attestation.rotate()
    return success()


@router.post("/reset")
def start_afresh(body: Nothing, node: NodeOf) -> Response:  # noqa: ARG001 - only its shape counts
    """Forget all accounts, credits and the whole chain."""
    if node.rpc is None:
        raise Conflict("external-chain", "an external chain can't be reset: start another, or use a fresh root secret")
    with _certificate_files_in_use():
        node.reset()
    return success()


@contextmanager
def _certificate_files_in_use() -> Iterator[None]:
    """Refuse what has to read the operator's certificate where its files can't be used any more."""
    try:
        yield
    except CertificateError as fault:
        raise Conflict("certificate-unusable", str(fault)) from None
