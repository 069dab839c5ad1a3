"""Signed envelopes: judging one against bare recovery, and what refused ones cost the node beside accepted ones."""

from __future__ import annotations

import json
import secrets
import time
from functools import partial

import httpx
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount

from benchmarks.node_process import Ready, node_process
from benchmarks.timing import Row, in_turn
from reference_node.settings import Settings
from reference_node.typed_data import DOMAIN_FIELDS, MESSAGE_FIELDS, SIZE_LIMIT, Envelopes, Flow, domain_name

ROUNDS = 1_000

FLOW = Flow.CREATE_WALLET


def rows() -> list[Row]:
    """Every measurement of envelopes."""
    with node_process() as ready:
        return [_verified(), *_refused(ready)]


def _verified() -> Row:
    wallet: LocalAccount = Account.from_key(secrets.token_bytes(32))
    now = int(time.time())
    envelope = _envelope(wallet, now)
    signature = _signature(wallet, envelope)
    verify = partial(Envelopes().verify, flow=FLOW, chain_id=Settings.chain_id, now=now, title=Settings.title)

    def recover() -> object:
        return Account.recover_message(encode_typed_data(full_message=envelope), signature=signature)

    measured, base = in_turn(lambda: verify(envelope, signature), recover, ROUNDS)
    return Row("envelope verified", measured, "bare eth-account recovery of its message", base, 1.5)


def _refused(ready: Ready) -> list[Row]:
    """Requests over one connection, their bodies written beforehand."""
    wallet: LocalAccount = Account.from_key(secrets.token_bytes(32))
    envelope = _envelope(wallet, int(time.time()))
    signature = _signature(wallet, envelope)
    text = json.dumps(envelope, separators=(",", ":"))
    excess = SIZE_LIMIT + 1 - len(text)
    floods = {
        f"envelope of {SIZE_LIMIT + 1:,} bytes refused": text + " " * excess,
        "envelope as an object that is longer still refused": envelope | {"padding": "x" * excess},
        "envelope with its fields in another order refused": envelope | {"types": _reversed_types()},
        "envelope that is no JSON refused": text[:-1],
    }
    with httpx.Client(base_url=f"{ready['base_url']}/core/v1", trust_env=False) as http:
        timed = [
            (what, in_turn(partial(_post, http, _body(flood, signature), 400),
                           partial(_post, http, _body(envelope, signature), 200), ROUNDS))
            for what, flood in floods.items()
        ]  # fmt: skip
    return [Row(f"{what}, over HTTP", refused, "a valid one", valid, 1.0) for what, (refused, valid) in timed]


def _post(http: httpx.Client, body: bytes, status: int) -> None:
    headers = {"Content-Type": "application/json"}
    assert http.post("/create_wallet_with_signature", content=body, headers=headers).status_code == status


def _body(typed_data: object, signature: str) -> bytes:
    return json.dumps({"typed_data": typed_data, "signature": signature}).encode()


def _envelope(wallet: LocalAccount, now: int) -> dict[str, object]:
    return {
        "types": {"EIP712Domain": DOMAIN_FIELDS, FLOW.value: MESSAGE_FIELDS},
        "primaryType": FLOW.value,
        "domain": {"name": domain_name(Settings.title), "version": "1", "chainId": str(Settings.chain_id)},
        "message": {"address": wallet.address, "issuedAt": str(now)},
    }


def _reversed_types() -> dict[str, object]:
    return {"EIP712Domain": DOMAIN_FIELDS, FLOW.value: MESSAGE_FIELDS[::-1]}


def _signature(wallet: LocalAccount, envelope: dict[str, object]) -> str:
    return f"0x{bytes(wallet.sign_typed_data(full_message=envelope).signature).hex()}"
