"""Every way to get a parameter of the JSON-RPC of the in-memory chain wrong."""

from __future__ import annotations

import pytest

from .rpc_asking import BOB_HEX, NOWHERE, Fail

CALL = {"to": BOB_HEX}
WRONG = [
    ("eth_chainId", [1]),
    ("eth_getBalance", []),
    ("eth_getBalance", [None]),
    ("eth_getBalance", [5]),
    ("eth_getBalance", [BOB_HEX[:-1]]),
    ("eth_getBalance", [BOB_HEX[:-2]]),
    ("eth_getBalance", [BOB_HEX[2:]]),
    ("eth_getBalance", [BOB_HEX + "\n"]),
    ("eth_getBalance", ["0x" + "zz" * 20]),
    ("eth_getBalance", [BOB_HEX, "newest"]),
    ("eth_getBalance", [BOB_HEX, 1]),
    ("eth_getBalance", [BOB_HEX, True]),
    ("eth_getBalance", [BOB_HEX, "0x"]),
    ("eth_getBalance", [BOB_HEX, "-0x1"]),
    ("eth_getBalance", [BOB_HEX, "0x" + "1" * 65]),
    ("eth_getBalance", [BOB_HEX, {}]),
    ("eth_getBalance", [BOB_HEX, {"blockNumber": "0x0", "blockHash": NOWHERE}]),
    ("eth_getBalance", [BOB_HEX, {"blockHash": "0x00"}]),
    ("eth_getBalance", [BOB_HEX, {"blockHash": NOWHERE, "requireCanonical": 1}]),
    ("eth_getBalance", [BOB_HEX, "latest", 1]),
    ("eth_getStorageAt", [BOB_HEX]),
    ("eth_getStorageAt", [BOB_HEX, 0]),
    ("eth_call", ["0x"]),
    ("eth_call", [{"to": "bob"}]),
    ("eth_call", [{**CALL, "data": "0x1"}]),
    ("eth_call", [{**CALL, "data": "0x00", "input": "0x01"}]),
    ("eth_call", [{**CALL, "value": 1}]),
    ("eth_call", [{**CALL, "gas": "much"}]),
    ("eth_call", [{**CALL, "gasPrice": []}]),
    ("eth_call", [{**CALL, "chainId": 1}]),
    ("eth_call", [{**CALL, "accessList": [{}]}]),
    ("eth_call", [{**CALL, "accessList": [{"address": BOB_HEX, "storageKeys": ["0x0"]}]}]),
    ("eth_call", [{**CALL, "authorizationList": [{}]}]),
    ("eth_call", [{**CALL, "authorizationList": [{"chainId": "0x1", "address": BOB_HEX, "nonce": 0}]}]),
    ("eth_call", [CALL, "latest", []]),
    ("eth_call", [CALL, "latest", {"bob": {}}]),
    ("eth_call", [CALL, "latest", {BOB_HEX: 1}]),
    ("eth_call", [CALL, "latest", {BOB_HEX: {"weight": "0x1"}}]),
    ("eth_call", [CALL, "latest", {BOB_HEX: {"state": {}, "stateDiff": {}}}]),
    ("eth_call", [CALL, "latest", {BOB_HEX: {"state": {"x": "0x1"}}}]),
    ("eth_call", [CALL, "latest", {BOB_HEX: {"nonce": "0xffffffffffffffff"}}]),
    ("eth_estimateGas", [None]),
    ("eth_sendRawTransaction", ["0x1"]),
    ("eth_sendRawTransaction", [{}]),
    ("eth_getTransactionByHash", ["0x01"]),
    ("eth_getTransactionReceipt", []),
    ("eth_getBlockByNumber", ["latest", "yes"]),
    ("eth_getBlockByNumber", [{"blockHash": NOWHERE}]),
    ("eth_getBlockByHash", ["latest"]),
    ("eth_getTransactionByBlockNumberAndIndex", ["latest", None]),
    ("eth_feeHistory", ["0x1"]),
    ("eth_feeHistory", [-1, "latest"]),
    ("eth_feeHistory", [True, "latest"]),
    ("eth_feeHistory", ["0x1", "latest", [101]]),
    ("eth_feeHistory", ["0x1", "latest", ["50"]]),
    ("eth_getLogs", []),
    ("eth_getLogs", [{"address": 5}]),
    ("eth_getLogs", [{"address": [BOB_HEX, "bob"]}]),
    ("eth_getLogs", [{"topics": "0x"}]),
    ("eth_getLogs", [{"topics": ["0x01"]}]),
    ("eth_getLogs", [{"topics": [None] * 5}]),
    ("eth_getLogs", [{"topics": [[["0x01"]]]}]),
    ("eth_getLogs", [{"fromBlock": "0x1", "blockHash": NOWHERE}]),
    ("eth_getLogs", [{"fromBlock": "0x1", "toBlock": "0x0"}]),
    ("eth_newFilter", [{"blockHash": NOWHERE}]),
    ("eth_getFilterChanges", ["filter"]),
    ("eth_uninstallFilter", [None]),
    ("web3_sha3", ["hello"]),
]


@pytest.mark.parametrize(("method", "params"), WRONG, ids=lambda value: str(value)[:60])
def test_wrong_parameter_is_invalid(fail: Fail, method: str, params: list[object]) -> None:
    told = fail(method, *params)
    assert told["code"] == -32602
    assert told["message"].startswith("invalid params: ")
