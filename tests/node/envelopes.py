"""Wallets of clients: the envelopes that they sign, and the transactions that they send over JSON-RPC."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

from eth_account import Account
from eth_account.signers.local import LocalAccount
from nodes import Running

from reference_node.permission.typed_data import Flow
from reference_node.settings import Settings

Envelope = dict[str, Any]


def new_wallet() -> LocalAccount:
    """A wallet of somebody who has nothing yet."""
    wallet: LocalAccount = Account.create()
    return wallet


def envelope(
    flow: str, wallet: LocalAccount, issued_at: int | None = None, chain_id: int = Settings.chain_id
) -> Envelope:
    """The canonical envelope, written out here once more; now where no time is given."""
    return {
        "types": {
            "EIP712Domain": [
                {"name": "name", "type": "string"},
                {"name": "version", "type": "string"},
                {"name": "chainId", "type": "uint256"},
            ],
            str(flow): [{"name": "address", "type": "address"}, {"name": "issuedAt", "type": "uint256"}],
        },
        "primaryType": str(flow),
        "domain": {"name": "Service ChainSecured", "version": "1", "chainId": str(chain_id)},
        "message": {"address": wallet.address, "issuedAt": str(int(time.time()) if issued_at is None else issued_at)},
    }


def sign(wallet: LocalAccount, typed_data: Envelope) -> str:
    """The wallet's signature as wallets write it."""
    signed = wallet.sign_typed_data(full_message=typed_data)
    return f"0x{bytes(signed.signature).hex()}"


def signed(
    flow: str, wallet: LocalAccount, issued_at: int | None = None, chain_id: int = Settings.chain_id
) -> dict[str, Any]:
    """The two members of a wallet-signed request."""
    typed_data = envelope(flow, wallet, issued_at, chain_id)
    return {"typed_data": typed_data, "signature": sign(wallet, typed_data)}


def conversion(wallet: LocalAccount, chain_id: int = Settings.chain_id) -> dict[str, Any]:
    """The body that hands an account over to this wallet."""
    return {**signed(Flow.CONVERT_ACCOUNT, wallet, chain_id=chain_id), "new_admin_wallet_address": wallet.address}


def wallet_auth(proof: object) -> dict[str, str]:
    """The header that carries a proof."""
    return {"X-Wallet-Auth": base64.b64encode(json.dumps(proof).encode()).decode()}


def wallet_balance(running: Running, wallet: LocalAccount) -> int:
    """What an account has left, in cents, by the proof of its admin wallet."""
    proof = wallet_auth(signed(Flow.BILLING_AUTH, wallet))
    answered = running.http.get("/core/v1/billing/balance", headers=proof)
    assert answered.status_code == 200, answered.text
    return int(answered.json()["balance_cents"])


def rpc(running: Running, method: str, *parameters: object) -> Any:
    """The result of a JSON-RPC call."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    answered = running.http.post("/rpc", json=body).json()
    assert "result" in answered, answered
    return answered["result"]
