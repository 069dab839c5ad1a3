"""What the tests of the JSON-RPC ask with."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from eth_account.datastructures import SignedSetCodeAuthorization

from reference_node.chain.rpc import JsonRpc

from .wallets import ALICE, BOB

Ask = Callable[..., Any]
Fail = Callable[..., dict[str, Any]]

BOB_HEX = "0x" + BOB.address.hex()
ALICE_HEX = "0x" + ALICE.address.hex()
NOWHERE = "0x" + "00" * 32


def answer(rpc: JsonRpc, method: str, params: list[object]) -> dict[str, Any]:
    body = rpc.handle(json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode())
    assert body is not None
    decoded = json.loads(body)
    assert decoded["jsonrpc"] == "2.0"
    assert decoded["id"] == 7
    assert len(decoded) == 3
    return dict(decoded)


def hexed(raw: bytes) -> str:
    return "0x" + raw.hex()


def authorization(signed: SignedSetCodeAuthorization) -> dict[str, str]:
    """An authorization as the JSON-RPC writes it."""
    numbers = {"chainId": signed.chain_id, "nonce": signed.nonce, "yParity": signed.y_parity}
    numbers |= {"r": signed.r, "s": signed.s}
    return {"address": hexed(signed.address)} | {name: hex(number) for name, number in numbers.items()}
