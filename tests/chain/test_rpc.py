"""The JSON-RPC of the in-memory chain: its envelope, every method, every way to get a parameter wrong."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable

import pytest
from eth_account import Account
from eth_utils import keccak

from reference_node.chain import rpc as rpc_module
from reference_node.chain.evm import BASE_FEE, PRIORITY_FEE, EvmChain
from reference_node.chain.rpc import BATCH_REQUESTS, JsonRpc

from .bytecode import CLOCK, COUNTER, CUSTOM_ERROR, ERROR_TEXT, REVERTER, assemble, init_code, returning, word
from .wallets import ALICE, BOB, CHAIN_ID, Wallet

Ask = Callable[..., object]
Fail = Callable[..., dict[str, object]]

BOB_HEX = "0x" + BOB.address.hex()
ALICE_HEX = "0x" + ALICE.address.hex()
NOWHERE = "0x" + "00" * 32


@pytest.fixture
def rpc(chain: EvmChain) -> JsonRpc:
    return JsonRpc(chain)


def answer(rpc: JsonRpc, method: str, params: list[object]) -> dict[str, object]:
    body = rpc.handle(json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode())
    assert body is not None
    decoded = json.loads(body)
    assert decoded["jsonrpc"] == "2.0"
    assert decoded["id"] == 7
    assert len(decoded) == 3
    return dict(decoded)


@pytest.fixture
def ask(rpc: JsonRpc) -> Ask:
    """The result of a method."""

    def result(method: str, *params: object) -> object:
        return answer(rpc, method, list(params))["result"]

    return result


@pytest.fixture
def fail(rpc: JsonRpc) -> Fail:
    """The error of a method."""

    def error(method: str, *params: object) -> dict[str, object]:
        told = answer(rpc, method, list(params))["error"]
        assert isinstance(told, dict)
        return told

    return error


def hexed(raw: bytes) -> str:
    return "0x" + raw.hex()


# The envelope.


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


# Methods.


def test_methods_of_the_chain(ask: Ask) -> None:
    assert ask("eth_chainId") == "0x7a69"
    assert ask("net_version") == "31337"
    assert ask("net_listening") is True
    assert ask("eth_syncing") is False
    assert ask("eth_accounts") == []
    assert ask("eth_blockNumber") == "0x0"
    assert ask("eth_gasPrice") == hex(BASE_FEE + PRIORITY_FEE)
    assert ask("eth_maxPriorityFeePerGas") == hex(PRIORITY_FEE)
    assert ask("web3_sha3", "0x68656c6c6f") == hexed(keccak(b"hello"))
    assert isinstance(ask("web3_clientVersion"), str)


def test_methods_of_the_state(chain: EvmChain, ask: Ask) -> None:
    contract = ALICE.deploy(chain, init_code(COUNTER))
    ALICE.send(chain, contract, data=word(1) + word(2))
    assert ask("eth_getBalance", BOB_HEX, "latest") == hex(chain.balance(BOB.address))
    assert ask("eth_getTransactionCount", ALICE_HEX, "pending") == "0x2"
    assert ask("eth_getCode", hexed(contract)) == hexed(COUNTER)
    assert ask("eth_getCode", BOB_HEX) == "0x"
    assert ask("eth_getStorageAt", hexed(contract), "0x0", "safe") == hexed(word(1))
    assert ask("eth_getStorageAt", hexed(contract), NOWHERE, "finalized") == hexed(word(1))


@pytest.mark.parametrize("method", ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"])
def test_state_of_the_latest_block_alone_is_there(chain: EvmChain, ask: Ask, fail: Fail, method: str) -> None:
    ALICE.send(chain, BOB.address)
    latest = hexed(chain.blocks.latest.hash)
    for block in ("latest", "0x1", {"blockNumber": "0x1"}, {"blockHash": latest, "requireCanonical": True}):
        assert isinstance(ask(method, BOB_HEX, block), str)
    for block in ("earliest", "0x0", {"blockHash": hexed(chain.blocks.between(0, 0)[0].hash)}):
        told = fail(method, BOB_HEX, block)
        assert told["code"] == -32000
        assert "historical state is not available" in str(told["message"])
    for block in ("0x2", {"blockHash": NOWHERE}):
        assert fail(method, BOB_HEX, block) == {"code": -32000, "message": "header not found"}


def test_call_gives_the_result(chain: EvmChain, ask: Ask) -> None:
    contract = hexed(ALICE.deploy(chain, init_code(CLOCK)))
    now = hexed(word(chain.timestamp()))
    assert ask("eth_call", {"to": contract}) == now
    assert ask("eth_call", {"to": contract, "from": None, "data": "0x"}, "latest") == now
    assert ask("eth_call", {"to": contract, "input": "0x00", "data": "0x00"}, "0x1", {}) == now
    assert ask("eth_call", {"to": BOB_HEX, "from": ALICE_HEX, "value": "0x1", "gas": "0xfffffffff"}) == "0x"


def test_call_takes_what_clients_send_along(chain: EvmChain, ask: Ask) -> None:
    contract = hexed(ALICE.deploy(chain, init_code(assemble("CALLER 0 MSTORE 32 0 RETURN"))))
    extra = {
        "type": "0x2",
        "nonce": "0x5",
        "maxFeePerGas": "0x1",
        "maxPriorityFeePerGas": "0x1",
        "gasPrice": "0x1",
        "accessList": [{"address": contract, "storageKeys": [NOWHERE]}],
        "chainId": hex(CHAIN_ID),
        "unheard": "of",
    }
    assert ask("eth_call", {"to": contract, "from": BOB_HEX, **extra}) == "0x" + "00" * 12 + BOB.address.hex()


def test_call_meant_for_another_chain_is_refused(fail: Fail) -> None:
    told = fail("eth_call", {"to": BOB_HEX, "chainId": "0x1"})
    assert told == {"code": -32000, "message": "invalid chain id: have 1 want 31337"}


def test_call_as_another_account_needs_its_funds(fail: Fail) -> None:
    poor = hexed(Wallet(0xDEAD).address)
    told = fail("eth_call", {"from": poor, "to": BOB_HEX, "value": "0x1"})
    assert told == {"code": -32000, "message": "insufficient funds for transfer: have 0 want 1"}


def test_call_pretends_accounts(chain: EvmChain, ask: Ask) -> None:
    reader = hexed(assemble("0 SLOAD 0 MSTORE SELFBALANCE 32 MSTORE 64 0 RETURN"))
    pretended = {BOB_HEX: {"code": reader, "balance": "0x5", "state": {NOWHERE: hexed(word(6))}, "nonce": "0x1"}}
    assert ask("eth_call", {"to": BOB_HEX}, "latest", pretended) == hexed(word(6) + word(5))
    assert ask(
        "eth_call", {"to": BOB_HEX}, "latest", {BOB_HEX: {"code": reader, "stateDiff": {"0x0": "0x7"}}}
    ) == hexed(word(7) + word(chain.balance(BOB.address)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (CUSTOM_ERROR, "execution reverted"),
        (b"", "execution reverted"),
        (ERROR_TEXT, "execution reverted: not today"),
        (ERROR_TEXT[:30], "execution reverted"),
        (ERROR_TEXT[:68] + b"\xff" * 9 + bytes(23), "execution reverted"),
        (ERROR_TEXT[:36] + word(2**200), "execution reverted"),
    ],
    ids=["custom error", "nothing", "text", "text cut off", "text that is none", "text without end"],
)
@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas"])
def test_refusal_of_a_contract_carries_its_data(
    chain: EvmChain, fail: Fail, method: str, data: bytes, message: str
) -> None:
    contract = hexed(ALICE.deploy(chain, init_code(returning(data, "REVERT"))))
    assert fail(method, {"to": contract}) == {"code": 3, "message": message, "data": hexed(data)}


@pytest.mark.parametrize(
    ("runtime", "message"),
    [
        ("0x60 POP JUMPDEST 3 JUMP", "out of gas"),
        ("5 JUMP", "invalid jump destination"),
        ("ADD", "Wanted 2 stack items"),
    ],
)
def test_call_that_breaks_down_says_how(chain: EvmChain, fail: Fail, runtime: str, message: str) -> None:
    contract = hexed(ALICE.deploy(chain, init_code(assemble(runtime))))
    told = fail("eth_call", {"to": contract, "gas": "0x186a0"})
    assert told["code"] == -32000
    assert str(told["message"]).startswith(message)


def test_call_of_an_invalid_instruction_says_so(chain: EvmChain, fail: Fail) -> None:
    contract = hexed(ALICE.deploy(chain, init_code(b"\xfe")))
    assert fail("eth_call", {"to": contract}) == {"code": -32000, "message": "invalid opcode"}


def test_estimate_of_a_creation_suffices(chain: EvmChain, ask: Ask) -> None:
    gas = int(str(ask("eth_estimateGas", {"from": ALICE_HEX, "data": hexed(init_code(COUNTER))})), 16)
    receipt = ALICE.send(chain, data=init_code(COUNTER), gas=gas)
    assert receipt.succeeded
    assert receipt.gas_used == gas


def test_estimate_with_an_authorization_suffices(chain: EvmChain, ask: Ask) -> None:
    signed = Account.sign_authorization({"chainId": CHAIN_ID, "address": ALICE_HEX, "nonce": 0}, Wallet(9).key)
    told = {
        "chainId": hex(CHAIN_ID),
        "address": ALICE_HEX,
        "nonce": "0x0",
        "yParity": hex(signed.y_parity),
        "r": hex(signed.r),
        "s": hex(signed.s),
    }
    gas = int(str(ask("eth_estimateGas", {"from": ALICE_HEX, "to": BOB_HEX, "authorizationList": [told]})), 16)
    assert gas == 46_000
    assert ALICE.send(chain, BOB.address, gas=gas, authorizationList=[signed]).succeeded


def test_raw_transaction_is_mined_at_once(ask: Ask) -> None:
    raw = ALICE.sign(0, BOB.address, value=5)
    assert ask("eth_sendRawTransaction", hexed(raw)) == hexed(keccak(raw))
    assert ask("eth_blockNumber") == "0x1"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (ALICE.sign(1, BOB.address), "nonce too high"),
        (ALICE.sign(0, BOB.address, chain_id=5), "invalid chain id for signer"),
        (ALICE.sign(0, BOB.address, gas=1), "intrinsic gas too low"),
        (Wallet(5).sign(0, BOB.address), "insufficient funds for gas * price + value"),
        (b"\x00", "invalid transaction"),
    ],
)
def test_raw_transaction_is_refused_with_its_reason(fail: Fail, raw: bytes, message: str) -> None:
    told = fail("eth_sendRawTransaction", hexed(raw))
    assert told["code"] == -32000
    assert str(told["message"]).startswith(message)


def test_raw_transaction_with_a_used_nonce_is_refused(chain: EvmChain, fail: Fail) -> None:
    first = ALICE.sign(0, BOB.address)
    chain.send(first)
    assert fail("eth_sendRawTransaction", hexed(first))["message"] == "already known"
    told = fail("eth_sendRawTransaction", hexed(ALICE.sign(0, BOB.address, value=1)))
    assert told == {"code": -32000, "message": "nonce too low: next nonce 1, tx nonce 0"}


def test_fee_history_has_one_base_fee_more(chain: EvmChain, ask: Ask) -> None:
    for _ in range(3):
        ALICE.send(chain, BOB.address)
    history = ask("eth_feeHistory", "0x2", "latest", [25, 50.5])
    assert history == {
        "oldestBlock": "0x2",
        "baseFeePerGas": [hex(BASE_FEE)] * 3,
        "gasUsedRatio": [21_000 / 30_000_000] * 2,
        "reward": [[hex(PRIORITY_FEE)] * 2] * 2,
    }
    assert len(ask("eth_feeHistory", 9, "0x1")["baseFeePerGas"]) == 3  # type: ignore[index]
    assert ask("eth_feeHistory", "0x400", "latest")["oldestBlock"] == "0x0"  # type: ignore[index]


# Every way to get a parameter wrong.

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
    assert str(told["message"]).startswith("invalid params: ")


# Blocks, transactions, receipts.


def test_block_has_its_transaction_as_hash_or_in_full(chain: EvmChain, ask: Ask) -> None:
    sent = ALICE.send(chain, BOB.address, value=5)
    block = ask("eth_getBlockByNumber", "0x1", False)
    assert isinstance(block, dict)
    latest = chain.blocks.latest
    assert block["transactions"] == [hexed(sent.transaction_hash)]
    assert block["hash"] == hexed(latest.hash)
    assert block["timestamp"] == hex(latest.timestamp)
    assert block["gasUsed"] == hex(21_000)
    full = ask("eth_getBlockByHash", block["hash"], True)
    assert full["transactions"] == [ask("eth_getTransactionByHash", hexed(sent.transaction_hash))]  # type: ignore[index]
    assert ask("eth_getBlockByNumber", "latest") == block
    assert ask("eth_getBlockByNumber", "earliest")["transactions"] == []  # type: ignore[index]


def test_what_is_not_there_is_null(ask: Ask) -> None:
    for method in (
        "eth_getBlockByHash",
        "eth_getTransactionByHash",
        "eth_getTransactionReceipt",
        "eth_getBlockReceipts",
    ):
        assert ask(method, {"blockHash": NOWHERE} if method == "eth_getBlockReceipts" else NOWHERE) is None
    assert ask("eth_getBlockByNumber", "0x9") is None
    assert ask("eth_getBlockTransactionCountByNumber", "0x9") is None
    assert ask("eth_getTransactionByBlockNumberAndIndex", "0x0", "0x0") is None


def test_ways_to_one_transaction_agree(chain: EvmChain, ask: Ask) -> None:
    sent = hexed(ALICE.send(chain, BOB.address).transaction_hash)
    block = hexed(chain.blocks.latest.hash)
    transaction = ask("eth_getTransactionByHash", sent)
    assert ask("eth_getTransactionByBlockNumberAndIndex", "0x1", "0x0") == transaction
    assert ask("eth_getTransactionByBlockHashAndIndex", block, "0x0") == transaction
    assert ask("eth_getTransactionByBlockHashAndIndex", block, "0x1") is None
    assert ask("eth_getBlockTransactionCountByHash", block) == "0x1"
    assert ask("eth_getBlockTransactionCountByNumber", "0x0") == "0x0"
    assert ask("eth_getBlockReceipts", "0x1") == [ask("eth_getTransactionReceipt", sent)]
    assert ask("eth_getBlockReceipts", "0x0") == []


AUTHORIZATION = {"chainId": CHAIN_ID, "address": BOB_HEX, "nonce": 0}
KINDS: list[tuple[str, dict[str, object]]] = [
    ("0x0", {"gasPrice": 5 * 10**9}),
    ("0x1", {"gasPrice": 5 * 10**9, "accessList": [{"address": ALICE_HEX, "storageKeys": [NOWHERE]}]}),
    ("0x2", {"maxFeePerGas": 9 * 10**9, "maxPriorityFeePerGas": 2 * 10**9}),
    ("0x4", {"authorizationList": [Account.sign_authorization(AUTHORIZATION, Wallet(9).key)]}),
]


@pytest.mark.parametrize(("kind", "fields"), KINDS, ids=[kind for kind, _ in KINDS])
def test_transaction_is_told_as_it_was_signed(chain: EvmChain, ask: Ask, kind: str, fields: dict[str, object]) -> None:
    raw = ALICE.sign(0, BOB.address, value=3, data=b"\x07", **fields)
    told = ask("eth_getTransactionByHash", hexed(chain.send(raw).transaction_hash))
    assert isinstance(told, dict)
    assert told["type"] == kind
    assert (told["from"], told["to"], told["value"], told["input"]) == (ALICE_HEX, BOB_HEX, "0x3", "0x07")
    # Signed anew from what was told, it is the same transaction, signature and all.
    names = ["nonce", "gas", "value", "to", "input", "chainId", *fields]
    again = {"data" if name == "input" else name: told[name] for name in names}
    again["to"] = BOB.address
    again["accessList"] = tuple(told.get("accessList", ()))
    for name in ("nonce", "gas", "value", "chainId", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas"):
        if name in again:
            again[name] = int(again[name], 16)
    if kind in {"0x0", "0x2"} or not again["accessList"]:
        del again["accessList"]
    if kind == "0x4":
        again |= {
            "maxFeePerGas": 10 * 10**9,
            "maxPriorityFeePerGas": 10**9,
            "authorizationList": fields["authorizationList"],
        }
    signed = Account.sign_transaction(again, ALICE.key)
    assert bytes(signed.raw_transaction) == raw
    assert (told["r"], told["s"]) == (hex(signed.r), hex(signed.s))
    assert told["v"] == hex(signed.v)


def test_authorizations_are_told(chain: EvmChain, ask: Ask) -> None:
    signed = Account.sign_authorization(AUTHORIZATION, Wallet(9).key)
    receipt = ALICE.send(chain, BOB.address, authorizationList=[signed])
    told = ask("eth_getTransactionByHash", hexed(receipt.transaction_hash))
    assert told["authorizationList"] == [  # type: ignore[index]
        {
            "chainId": hex(CHAIN_ID),
            "address": BOB_HEX,
            "nonce": "0x0",
            "yParity": hex(signed.y_parity),
            "r": hex(signed.r),
            "s": hex(signed.s),
        }
    ]


def test_effective_price_is_told(chain: EvmChain, ask: Ask) -> None:
    dynamic = ALICE.send(chain, BOB.address, maxFeePerGas=9 * 10**9, maxPriorityFeePerGas=7)
    legacy = ALICE.send(chain, BOB.address, gasPrice=5 * 10**9)
    for receipt, price in ((dynamic, BASE_FEE + 7), (legacy, 5 * 10**9)):
        transaction_hash = hexed(receipt.transaction_hash)
        assert ask("eth_getTransactionByHash", transaction_hash)["gasPrice"] == hex(price)  # type: ignore[index]
        assert ask("eth_getTransactionReceipt", transaction_hash)["effectiveGasPrice"] == hex(price)  # type: ignore[index]


def test_receipt_of_a_creation_has_no_recipient(chain: EvmChain, ask: Ask) -> None:
    receipt = ALICE.send(chain, data=init_code(COUNTER))
    told = ask("eth_getTransactionReceipt", hexed(receipt.transaction_hash))
    assert isinstance(told, dict)
    assert told["to"] is None
    assert told["contractAddress"] == hexed(receipt.contract_address or b"")
    assert told["status"] == "0x1"
    assert told["gasUsed"] == told["cumulativeGasUsed"] == hex(receipt.gas_used)


def test_receipt_of_a_failure_has_status_zero(chain: EvmChain, ask: Ask) -> None:
    receipt = ALICE.send(chain, data=REVERTER)
    told = ask("eth_getTransactionReceipt", hexed(receipt.transaction_hash))
    assert (told["status"], told["contractAddress"], told["logs"]) == ("0x0", None, [])  # type: ignore[index]
