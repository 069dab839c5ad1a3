"""Signed envelopes: judging one against bare recovery, and what refused ones cost the node beside accepted ones."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from functools import partial

from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount
from starlette.types import ASGIApp, Message

from benchmarks.timing import Row, in_turn
from reference_node.assembly import build_node
from reference_node.permission.typed_data import DOMAIN_FIELDS, MESSAGE_FIELDS, SIZE_LIMIT, Envelopes, Flow, domain_name
from reference_node.public_address import PREFIX
from reference_node.settings import Settings

ROUNDS = 1_000

FLOW = Flow.CREATE_WALLET

PATH = f"{PREFIX}/create_wallet_with_signature"


def rows() -> list[Row]:
    """Every measurement of envelopes."""
    return [_verified(), *_refused()]


def _verified() -> Row:
    wallet: LocalAccount = Account.from_key(secrets.token_bytes(32))
    now = int(time.time())
    envelope = _envelope(wallet, now)
    signature = _signature(wallet, envelope)
    verify = partial(Envelopes().verify, flow=FLOW, chain_id=Settings.chain_id, now=now, title=Settings.title)

    def recover() -> object:
        return Account.recover_message(encode_typed_data(full_message=envelope), signature=signature)

    measured, base = in_turn([lambda: verify(envelope, signature), recover], ROUNDS)
    return Row("envelope verified", measured, "bare eth-account recovery of its message", base, 1.5)


def _refused() -> list[Row]:
    """Requests to the node's application itself: sockets and a client would cost more than what is measured."""
    app = build_node(Settings()).app
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
    valid = _body(envelope, signature)
    rows: list[Row] = []
    with asyncio.Runner() as loop:

        def post(body: bytes, status: int) -> None:
            loop.run(_post(app, body, status))

        for what, flood in floods.items():
            refused = partial(post, _body(flood, signature), 400)
            measured, base = in_turn([refused, partial(post, valid, 200)], ROUNDS)
            rows.append(Row(what, measured, "a valid one, wallet minted", base, 1.0))
    return rows


async def _post(app: ASGIApp, body: bytes, status: int) -> None:
    """One request, as a server hands it over."""
    scope = {
        "type": "http",
        "method": "POST",
        "path": PATH,
        "raw_path": PATH.encode(),
        "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())],
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    assert sent[0]["status"] == status, sent


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
