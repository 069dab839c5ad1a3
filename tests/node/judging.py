"""One valid envelope, and how the judge answers to it and to what tests make of it."""

from __future__ import annotations

from typing import Any

import pytest
from envelopes import Envelope, envelope, sign
from eth_account import Account
from eth_account.signers.local import LocalAccount

from reference_node.permission.typed_data import Envelopes, Flow
from reference_node.problems import BadRequest

NOW = 1_750_000_000
CHAIN_ID = 31337
WALLET: LocalAccount = Account.from_key("0x" + "11" * 32)
ADDRESS = bytes.fromhex(WALLET.address[2:])
FLOW = Flow.CREATE_WALLET


def verify(typed_data: object, signature: object, flow: Flow = FLOW, now: int = NOW, chain_id: int = CHAIN_ID) -> bytes:
    """The wallet that signed, as the judge has it."""
    return Envelopes().verify(typed_data, signature, flow=flow, chain_id=chain_id, now=now, title="Service")


def code(typed_data: object, signature: object, **conditions: Any) -> str:
    """The code of the refusal."""
    with pytest.raises(BadRequest) as refusal:
        verify(typed_data, signature, **conditions)
    assert refusal.value.detail
    return refusal.value.code


def valid(flow: Flow = FLOW) -> Envelope:
    """A fresh copy of the valid envelope."""
    return envelope(flow, WALLET, NOW, CHAIN_ID)


SIGNATURE = sign(WALLET, valid())
