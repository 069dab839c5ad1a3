"""Alters what the settlement chain's JSON-RPC answers: results of views, and logs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from eth_abi.abi import decode, encode
from pydantic import JsonValue

from conformance.endpoints.chain import selector
from conformance.profile import Function
from conformance.profile.chain import AccountAbi
from conformance.selftest.tools.alter import members, wrap
from reference_node.chain.contract_abi import event_topic
from reference_node.chain.interface import Receipt
from reference_node.node import Node

Values = tuple[Any, ...]


def wrap_rpc(node: Node, handle: Callable[[Callable[[bytes], bytes | None], bytes], bytes | None]) -> None:
    """Have `handle` answer JSON-RPC requests; it gets what answered them before. Those of a batch come one by one."""

    def single(answer: Callable[[object, object], bytes | None], request: object, allowance: object) -> bytes | None:
        return handle(lambda body: answer(json.loads(body), allowance), json.dumps(request).encode())

    wrap(node.rpc, "single", single)


def change_result(node: Node, method: str, change: Callable[[dict[str, JsonValue], JsonValue], JsonValue]) -> None:
    """Change the result of a JSON-RPC method; `change` also gets the request. Errors stay as they are."""

    def handle(answer: Callable[[bytes], bytes | None], body: bytes) -> bytes | None:
        given = answer(body)
        request = json.loads(body)
        if given is None or not isinstance(request, dict) or request.get("method") != method:
            return given
        told = members(json.loads(given))
        if "result" in told:
            told["result"] = change(request, told["result"])
        return json.dumps(told).encode()

    wrap_rpc(node, handle)


def change_view(node: Node, view: str, change: Callable[[Values, Values], Values]) -> None:
    """Change the values of a view; `change` gets the arguments and the values."""
    function = Function.parse(getattr(AccountAbi(), view))
    inputs, outputs = ([one.type for one in side] for side in (function.inputs, function.outputs))

    def told(request: dict[str, JsonValue], result: JsonValue) -> JsonValue:
        params = request["params"]
        data = bytes.fromhex(str(members(params[0])["data"])[2:]) if isinstance(params, list) else b""
        if data[:4] != selector(function):
            return result
        values = decode(outputs, bytes.fromhex(str(result)[2:]))
        return f"0x{encode(outputs, change(tuple(decode(inputs, data[4:])), tuple(values))).hex()}"

    change_result(node, "eth_call", told)


def admins_made(node: Node) -> dict[int, bytes]:
    """Return the accounts that wallets make from now on, and their admins; it grows with them.

    It asks the contract after each transaction, so call it after `change_contract`.
    """
    made: dict[int, bytes] = {}
    created = event_topic("AccountCreated")

    def send(mine: Callable[[bytes], Receipt], raw: bytes) -> Receipt:
        receipt = mine(raw)
        for log in receipt.logs:
            account = int.from_bytes(log.topics[1]) if log.topics[0] == created else 0
            if account and not node.accounts.account(account).managed:
                made[account] = node.accounts.account(account).admin_wallet
        return receipt

    wrap(node.chain, "send", send)
    return made
