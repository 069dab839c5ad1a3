"""What the methods of the JSON-RPC of the in-memory chain do."""

from __future__ import annotations

import pytest
from eth_utils import keccak

from reference_node.chain.evm import BASE_FEE, PRIORITY_FEE, EvmChain

from .bytecode import CLOCK, COUNTER, CUSTOM_ERROR, ERROR_TEXT, assemble, init_code, returning, word
from .rpc_asking import ALICE_HEX, BOB_HEX, NOWHERE, Ask, Fail, authorization, hexed
from .wallets import ALICE, BOB, CHAIN_ID, Wallet


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
        assert "historical state is not available" in told["message"]
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


POOR_HEX = hexed(Wallet(0xDEAD).address)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"chainId": "0x1"}, "invalid chain id: have 1 want 31337"),
        ({"from": POOR_HEX, "value": "0x1"}, "insufficient funds for transfer: have 0 want 1"),
    ],
    ids=["for another chain", "as an account without funds"],
)
def test_call_that_cannot_begin_is_refused(fail: Fail, call: dict[str, str], message: str) -> None:
    assert fail("eth_call", {"to": BOB_HEX, **call}) == {"code": -32000, "message": message}


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
        (assemble("0x60 POP JUMPDEST 3 JUMP"), "out of gas"),
        (assemble("5 JUMP"), "invalid jump destination"),
        (assemble("ADD"), "Wanted 2 stack items"),
        (b"\xfe", "invalid opcode"),
    ],
    ids=["endless", "jump", "stack", "instruction"],
)
def test_call_that_breaks_down_says_how(chain: EvmChain, fail: Fail, runtime: bytes, message: str) -> None:
    contract = hexed(ALICE.deploy(chain, init_code(runtime)))
    told = fail("eth_call", {"to": contract, "gas": "0x186a0"})
    assert told["code"] == -32000
    assert told["message"].startswith(message)


def test_estimate_of_a_creation_suffices(chain: EvmChain, ask: Ask) -> None:
    gas = int(ask("eth_estimateGas", {"from": ALICE_HEX, "data": hexed(init_code(COUNTER))}), 16)
    receipt = ALICE.send(chain, data=init_code(COUNTER), gas=gas)
    assert receipt.succeeded
    assert receipt.gas_used == gas


def test_estimate_with_an_authorization_suffices(chain: EvmChain, ask: Ask) -> None:
    signed = Wallet(9).authorize(ALICE.address)
    call = {"from": ALICE_HEX, "to": BOB_HEX, "authorizationList": [authorization(signed)]}
    gas = int(ask("eth_estimateGas", call), 16)
    assert gas == 46_000
    assert ALICE.send(chain, BOB.address, gas=gas, authorizationList=[signed]).succeeded


def test_raw_transaction_with_a_used_nonce_is_refused(chain: EvmChain, fail: Fail) -> None:
    first = ALICE.sign(0, BOB.address)
    chain.send(first)
    assert fail("eth_sendRawTransaction", hexed(first))["message"] == "already known"
    told = fail("eth_sendRawTransaction", hexed(ALICE.sign(0, BOB.address, value=1)))
    assert told == {"code": -32000, "message": "nonce too low: next nonce 1, tx nonce 0"}


def test_fee_history_has_one_base_fee_more(chain: EvmChain, ask: Ask, fail: Fail) -> None:
    for _ in range(3):
        ALICE.send(chain, BOB.address)
    history = ask("eth_feeHistory", "0x2", "latest", [25, 50.5])
    assert history == {
        "oldestBlock": "0x2",
        "baseFeePerGas": [hex(BASE_FEE)] * 3,
        "gasUsedRatio": [21_000 / 30_000_000] * 2,
        "reward": [[hex(PRIORITY_FEE)] * 2] * 2,
    }
    assert len(ask("eth_feeHistory", 9, "0x1")["baseFeePerGas"]) == 3
    assert ask("eth_feeHistory", "0x400", "latest")["oldestBlock"] == "0x0"
    assert fail("eth_feeHistory", "0x1", "0x63")["message"] == "request beyond head block"
