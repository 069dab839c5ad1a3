"""The envelope of the JSON-RPC of the in-memory chain: bodies, ids, batches, faults."""

from __future__ import annotations

import json
from bisect import bisect_left
from typing import Any

import pytest

from reference_node.chain import rpc as rpc_module
from reference_node.chain.evm import EvmChain
from reference_node.chain.rpc import BATCH_REQUESTS, JsonRpc

from .rpc_asking import BOB_HEX, Fail, hexed
from .wallets import ALICE, BOB, CHAIN_ID


def sent(rpc: JsonRpc, body: object) -> Any:
    """The answer to bytes, or to the JSON of a value."""
    answer = rpc.handle(body if isinstance(body, bytes) else json.dumps(body).encode())
    return None if answer is None else json.loads(answer)


def request(identifier: object, method: str = "eth_chainId", **members: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, **members}


@pytest.mark.parametrize("body", [b"", b"nonsense", b"\xff", b"{", b'{"id":NaN}', b"[" * 100_000, b'{"a":' * 100_000])
def test_body_that_is_no_json_is_a_parse_error(rpc: JsonRpc, body: bytes) -> None:
    decoded = sent(rpc, body)
    assert (decoded["id"], decoded["error"]["code"]) == (None, -32700)


@pytest.mark.parametrize(
    ("body", "identifier"),
    [
        ([], None),
        (1, None),
        (None, None),
        ("eth_chainId", None),
        ({}, None),
        ({"id": 1}, 1),
        ({"jsonrpc": "2.0", "id": 1}, 1),
        ({"jsonrpc": "1.0", "id": "a", "method": "eth_chainId"}, "a"),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, 1),
        (request([1]), None),
        (request(True), None),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"eth_chainId"}', None),
    ],
)
def test_request_that_is_none_is_invalid(rpc: JsonRpc, body: object, identifier: object) -> None:
    decoded = sent(rpc, body)
    assert (decoded["id"], decoded["error"]["code"]) == (identifier, -32600)


@pytest.mark.parametrize("identifier", [0, "", "é\ud800", -1, 1.5, None, 2**70])
def test_id_comes_back_as_it_was(rpc: JsonRpc, identifier: object) -> None:
    assert sent(rpc, request(identifier)) == {"jsonrpc": "2.0", "id": identifier, "result": hex(CHAIN_ID)}


def test_unknown_method_is_not_found(fail: Fail) -> None:
    assert fail("eth_sendTransaction", {})["code"] == -32601


@pytest.mark.parametrize("params", [{}, "x", 1, False])
def test_params_that_are_no_array_are_invalid(rpc: JsonRpc, params: object) -> None:
    assert sent(rpc, request(1, params=params))["error"]["code"] == -32602


def test_notification_is_carried_out_and_not_answered(rpc: JsonRpc, chain: EvmChain) -> None:
    raw = hexed(ALICE.sign(0, BOB.address))
    notification = {"jsonrpc": "2.0", "method": "eth_sendRawTransaction", "params": [raw]}
    assert sent(rpc, notification) is None
    assert chain.next_nonce(ALICE.address) == 1
    assert sent(rpc, notification) is None, "not even its failure"


NOTIFICATION = {"jsonrpc": "2.0", "method": "eth_chainId"}


def test_batch_is_answered_in_order_without_its_notifications(rpc: JsonRpc) -> None:
    decoded = sent(rpc, [request(1), NOTIFICATION, 5, request(2, "nonsense"), request(3, "eth_blockNumber", params=[])])
    assert [each["id"] for each in decoded] == [1, None, 2, 3]
    assert [each.get("error", {}).get("code") for each in decoded] == [None, -32600, -32601, None]
    assert decoded[3]["result"] == "0x0"


def test_batch_of_notifications_is_not_answered(rpc: JsonRpc) -> None:
    assert sent(rpc, [NOTIFICATION]) is None


def test_batch_has_a_largest_size(rpc: JsonRpc) -> None:
    largest = [request(1)] * BATCH_REQUESTS
    assert len(sent(rpc, largest)) == BATCH_REQUESTS
    refusal = sent(rpc, [*largest, request(1)])
    assert refusal["error"]["code"] == -32600
    assert f"from 1 to {BATCH_REQUESTS}" in refusal["error"]["message"]


@pytest.mark.parametrize(("limit", "value", "answered"), [("BATCH_SECONDS", -1.0, 0), ("BATCH_BYTES", 100, 3)])
def test_batch_that_takes_too_much_is_not_finished(
    rpc: JsonRpc, chain: EvmChain, monkeypatch: pytest.MonkeyPatch, limit: str, value: float, answered: int
) -> None:
    monkeypatch.setattr(rpc_module, limit, value)
    raw = hexed(ALICE.sign(0, BOB.address))
    decoded = sent(rpc, [*map(request, range(4)), request(4, "eth_sendRawTransaction", params=[raw])])
    assert [each["id"] for each in decoded] == list(range(5))
    assert [each.get("error", {}).get("code") for each in decoded] == [None] * answered + [-32000] * (5 - answered)
    assert chain.next_nonce(ALICE.address) == 0


def test_parameter_that_nests_as_deep_as_can_be_read_is_refused(rpc: JsonRpc) -> None:
    def code(depth: int) -> int:
        params = b"[" * depth + b"]" * depth
        body = b'{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":[%b]}' % params
        return int(sent(rpc, body)["error"]["code"])

    too_deep = bisect_left(range(200_000), True, key=lambda depth: code(depth) == -32700)
    assert {code(depth) for depth in range(too_deep - 50, too_deep + 50)} == {-32602, -32700}


def test_fault_of_the_node_is_an_internal_error_that_tells_nothing(
    chain: EvmChain, monkeypatch: pytest.MonkeyPatch, fail: Fail
) -> None:
    def broken(_address: bytes) -> int:
        raise RuntimeError("secret")

    monkeypatch.setattr(chain, "balance", broken)
    assert fail("eth_getBalance", BOB_HEX) == {"code": -32603, "message": "internal error"}
