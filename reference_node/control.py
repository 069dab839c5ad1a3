"""The test-control interface, enabled by `--control`: moves the clock, funds wallets, spends credit, rotates, resets.

It is not part of the specification. It lets a suite test time windows exactly, send transactions from its own wallets,
and start from a known state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from reference_node.api.access import NodeOf
from reference_node.api.requests import Body
from reference_node.api.route import StrictRoute, success
from reference_node.billing import Cents
from reference_node.chain.evm import EvmChain
from reference_node.fields import U64_MAX, Address
from reference_node.problems import Conflict
from reference_node.tee.tls import CertificateError

OFFSET_LIMIT = 10 * 365 * 24 * 3600
"""The largest clock offset in seconds, in either direction."""

GIFT = 100 * 10**18
"""The wei of a gift without an amount."""

GIFT_LIMIT = 10**30
"""The most wei in one request. The sum of many such amounts stays far below 2**256."""

router = APIRouter(prefix="/control", route_class=StrictRoute, include_in_schema=False)


class ClockSetting(Body):
    """The offset of the node's clock from the system time."""

    offset_seconds: Annotated[int, Field(ge=-OFFSET_LIMIT, le=OFFSET_LIMIT)]


class Beneficiary(Body):
    """The wallet to fund, and the amount."""

    address: Address
    wei: Annotated[int, Field(ge=1, le=GIFT_LIMIT)] = GIFT


class Spender(Body):
    """The wallet whose credit to spend, and the cents to leave."""

    address: Address
    leave: Annotated[int, Field(ge=0, le=U64_MAX)] = 0


class Nothing(Body):
    """An empty object."""


@router.post("/clock")
def set_clock(body: ClockSetting, node: NodeOf) -> Response:
    """Set the clock's offset from the system time. The chain's time follows, but never goes back."""
    node.move_clock(body.offset_seconds)
    return success()


@router.post("/fund")
def give_ether(body: Beneficiary, node: NodeOf) -> Response:
    """Add wei to a wallet on the in-memory chain."""
    if not isinstance(node.chain, EvmChain):
        raise Conflict("external-chain", "an external chain's ether is not the node's to give: ask its operator")
    node.chain.fund(bytes.fromhex(body.address.removeprefix("0x")), body.wei)
    return success()


@router.post("/spend")
def spend_credit(body: Spender, node: NodeOf) -> Response:
    """Charge a wallet its free credit, all but what `leave` says."""
    wallet = bytes.fromhex(body.address.removeprefix("0x"))
    cents = Cents(max(0, node.billing.balance(wallet) - body.leave))
    node.billing.settle(node.billing.hold(wallet, cents), cents)
    return success()


@router.post("/rotate")
def rotate_certificate(body: Nothing, node: NodeOf) -> Response:  # noqa: ARG001 - only its shape counts
    """Renew the TLS certificate and the evidence. Open connections keep the old one."""
    with _certificate_files_in_use():
        node.rotate_certificate()
    return success()


@router.post("/reset")
def start_afresh(body: Nothing, node: NodeOf) -> Response:  # noqa: ARG001 - only its shape counts
    """Delete all accounts, credits and the in-memory chain."""
    if node.rpc is None:
        raise Conflict("external-chain", "an external chain can't be reset: start another, or use a fresh root secret")
    with _certificate_files_in_use():
        node.reset()
    return success()


@contextmanager
def _certificate_files_in_use() -> Iterator[None]:
    """Answer 409 when the operator's certificate files can't be read any more."""
    try:
        yield
    except CertificateError as fault:
        raise Conflict("certificate-unusable", str(fault)) from None
