"""The envelope of the JSON-RPC of the in-memory chain: bodies, ids, batches, faults."""

from __future__ import annotations

import json
from bisect import bisect_left

import pytest

from reference_node.chain import rpc as rpc_module
from reference_node.chain.evm import EvmChain
from reference_node.chain.rpc import BATCH_REQUESTS, JsonRpc

from .rpc_asking import BOB_HEX, Fail, hexed
from .wallets import ALICE, BOB, CHAIN_ID


@pytest.mark.parametrize("body", [b"", b"nonsense", b"\xff", b"{", b'{"id":NaN}', b"[" * 100_000, b'{"a":' * 100_000])
def test_body_that_is_no_json_is_a_parse_error(rpc: JsonRpc, body: bytes) -> None:
    decoded = json.loads(rpc.handle(body) or b"")
    assert (decoded["id"], decoded["error"]["code"]) == (None, -32700)


@pytest.mark.parametrize(
    ("request_", "identifier"),
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
        ({"jsonrpc": "2.0", "id": [1], "method": "eth_chainId"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "eth_chainId"}, None),
    ],
)
def test_request_that_is_none_is_invalid(rpc: JsonRpc, request_: object, identifier: object) -> None:
    decoded = json.loads(rpc.handle(json.dumps(request_).encode()) or b"")
    assert (decoded["id"], decoded["error"]["code"]) == (identifier, -32600)


def test_infinite_id_is_invalid(rpc: JsonRpc) -> None:
    decoded = json.loads(rpc.handle(b'{"jsonrpc":"2.0","id":1e999,"method":"eth_chainId"}') or b"")
    assert decoded["error"]["code"] == -32600


@pytest.mark.parametrize("identifier", [0, "", "é\ud800", -1, 1.5, None, 2**70])
def test_id_comes_back_as_it_was(rpc: JsonRpc, identifier: object) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": identifier, "method": "eth_chainId"}).encode()
    assert json.loads(rpc.handle(body) or b"") == {"jsonrpc": "2.0", "id": identifier, "result": hex(CHAIN_ID)}


def test_unknown_method_is_not_found(fail: Fail) -> None:
    assert fail("eth_sendTransaction", {})["code"] == -32601


@pytest.mark.parametrize("params", [{}, "x", 1, False])
def test_params_that_are_no_array_are_invalid(rpc: JsonRpc, params: object) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": params}).encode()
    assert json.loads(rpc.handle(body) or b"")["error"]["code"] == -32602


def test_notification_is_carried_out_and_not_answered(rpc: JsonRpc, chain: EvmChain) -> None:
    raw = hexed(ALICE.sign(0, BOB.address))
    body = {"jsonrpc": "2.0", "method": "eth_sendRawTransaction", "params": [raw]}
    assert rpc.handle(json.dumps(body).encode()) is None
    assert chain.next_nonce(ALICE.address) == 1
    assert rpc.handle(json.dumps(body).encode()) is None, "not even its failure"


def test_batch_is_answered_in_order_without_its_notifications(rpc: JsonRpc) -> None:
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"},
        {"jsonrpc": "2.0", "method": "eth_chainId"},
        5,
        {"jsonrpc": "2.0", "id": 2, "method": "nonsense"},
        {"jsonrpc": "2.0", "id": 3, "method": "eth_blockNumber", "params": []},
    ]
    decoded = json.loads(rpc.handle(json.dumps(requests).encode()) or b"")
    assert [each["id"] for each in decoded] == [1, None, 2, 3]
    assert [each.get("error", {}).get("code") for each in decoded] == [None, -32600, -32601, None]
    assert decoded[3]["result"] == "0x0"


def test_batch_of_notifications_is_not_answered(rpc: JsonRpc) -> None:
    assert rpc.handle(b'[{"jsonrpc":"2.0","method":"eth_chainId"}]') is None


def test_batch_has_a_largest_size(rpc: JsonRpc) -> None:
    request = b'{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
    largest = b"[" + b",".join([request] * BATCH_REQUESTS) + b"]"
    assert len(json.loads(rpc.handle(largest) or b"")) == BATCH_REQUESTS
    refusal = json.loads(rpc.handle(largest[:-1] + b"," + request + b"]") or b"")
    assert refusal["error"]["code"] == -32600
    assert f"from 1 to {BATCH_REQUESTS}" in refusal["error"]["message"]


@pytest.mark.parametrize(("limit", "value", "answered"), [("BATCH_SECONDS", -1.0, 0), ("BATCH_BYTES", 100, 3)])
def test_batch_that_takes_too_much_is_not_finished(
    rpc: JsonRpc, chain: EvmChain, monkeypatch: pytest.MonkeyPatch, limit: str, value: float, answered: int
) -> None:
    monkeypatch.setattr(rpc_module, limit, value)
    raw = "0x" + ALICE.sign(0, BOB.address).hex()
    requests = [{"jsonrpc": "2.0", "id": number, "method": "eth_chainId"} for number in range(4)]
    requests.append({"jsonrpc": "2.0", "id": 4, "method": "eth_sendRawTransaction", "params": [raw]})
    decoded = json.loads(rpc.handle(json.dumps(requests).encode()) or b"")
    assert [each["id"] for each in decoded] == list(range(5))
    assert [each.get("error", {}).get("code") for each in decoded] == [None] * answered + [-32000] * (5 - answered)
    assert chain.next_nonce(ALICE.address) == 0


def test_parameter_that_nests_as_deep_as_can_be_read_is_refused(rpc: JsonRpc) -> None:
    request = b'{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":[%b]}'

    def code(depth: int) -> int:
        answered = rpc.handle(request % (b"[" * depth + b"]" * depth))
        return int(json.loads(answered or b"")["error"]["code"])

    too_deep = bisect_left(range(200_000), True, key=lambda depth: code(depth) == -32700)
    assert {code(depth) for depth in range(too_deep - 50, too_deep + 50)} == {-32602, -32700}


def test_fault_of_the_node_is_an_internal_error_that_tells_nothing(
    chain: EvmChain, monkeypatch: pytest.MonkeyPatch, fail: Fail
) -> None:
    def broken(_address: bytes) -> int:
        raise RuntimeError("secret")

    monkeypatch.setattr(chain, "balance", broken)
    assert fail("eth_getBalance", BOB_HEX) == {"code": -32603, "message": "internal error"}
