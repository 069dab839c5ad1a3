"""Blocks, transactions and receipts as the JSON-RPC of the in-memory chain tells them."""

from __future__ import annotations

import pytest
from eth_account import Account

from reference_node.chain.evm import BASE_FEE, EvmChain

from .bytecode import COUNTER, REVERTER, init_code
from .rpc_asking import ALICE_HEX, BOB_HEX, NOWHERE, Ask, authorization, hexed
from .wallets import ALICE, BOB, Wallet


def test_block_has_its_transaction_as_hash_or_in_full(chain: EvmChain, ask: Ask) -> None:
    sent = ALICE.send(chain, BOB.address, value=5)
    block = ask("eth_getBlockByNumber", "0x1", False)
    latest = chain.blocks.latest
    assert block["transactions"] == [hexed(sent.transaction_hash)]
    assert block["hash"] == hexed(latest.hash)
    assert block["timestamp"] == hex(latest.timestamp)
    assert block["gasUsed"] == hex(21_000)
    full = ask("eth_getBlockByHash", block["hash"], True)
    assert full["transactions"] == [ask("eth_getTransactionByHash", hexed(sent.transaction_hash))]
    assert ask("eth_getBlockByNumber", "latest") == block
    assert ask("eth_getBlockByNumber", "earliest")["transactions"] == []


def test_what_is_not_there_is_null(ask: Ask) -> None:
    for method in ("eth_getBlockByHash", "eth_getTransactionByHash", "eth_getTransactionReceipt"):
        assert ask(method, NOWHERE) is None
    assert ask("eth_getBlockReceipts", {"blockHash": NOWHERE}) is None
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


DYNAMIC: dict[str, object] = {"maxFeePerGas": 9 * 10**9, "maxPriorityFeePerGas": 2 * 10**9}
KINDS: list[tuple[str, dict[str, object]]] = [
    ("0x0", {"gasPrice": 5 * 10**9}),
    ("0x1", {"gasPrice": 5 * 10**9, "accessList": [{"address": ALICE_HEX, "storageKeys": [NOWHERE]}]}),
    ("0x2", DYNAMIC),
    ("0x4", {**DYNAMIC, "authorizationList": [Wallet(9).authorize(BOB.address)]}),
]


@pytest.mark.parametrize(("kind", "fields"), KINDS, ids=[kind for kind, _ in KINDS])
def test_transaction_is_told_as_it_was_signed(chain: EvmChain, ask: Ask, kind: str, fields: dict[str, object]) -> None:
    raw = ALICE.sign(0, BOB.address, value=3, data=b"\x07", **fields)
    told = ask("eth_getTransactionByHash", hexed(chain.send(raw).transaction_hash))
    assert told["type"] == kind
    assert (told["from"], told["to"], told["value"], told["input"]) == (ALICE_HEX, BOB_HEX, "0x3", "0x07")
    # Signed anew from what was told, it is the same transaction, signature and all.
    again = {name: told[name] for name in ("nonce", "gas", "value", "chainId", *fields)}
    again |= {"to": BOB.address, "data": told["input"]}
    if "authorizationList" in fields:
        again["authorizationList"] = fields["authorizationList"]  # the library takes them as it made them
    signed = Account.sign_transaction(again, ALICE.key)
    assert bytes(signed.raw_transaction) == raw
    assert (told["r"], told["s"]) == (hex(signed.r), hex(signed.s))
    assert told["v"] == hex(signed.v)


def test_authorizations_are_told(chain: EvmChain, ask: Ask) -> None:
    signed = Wallet(9).authorize(BOB.address)
    receipt = ALICE.send(chain, BOB.address, authorizationList=[signed])
    told = ask("eth_getTransactionByHash", hexed(receipt.transaction_hash))
    assert told["authorizationList"] == [authorization(signed)]


def test_effective_price_is_told(chain: EvmChain, ask: Ask) -> None:
    dynamic = ALICE.send(chain, BOB.address, maxFeePerGas=9 * 10**9, maxPriorityFeePerGas=7)
    legacy = ALICE.send(chain, BOB.address, gasPrice=5 * 10**9)
    for receipt, price in ((dynamic, BASE_FEE + 7), (legacy, 5 * 10**9)):
        transaction_hash = hexed(receipt.transaction_hash)
        assert ask("eth_getTransactionByHash", transaction_hash)["gasPrice"] == hex(price)
        assert ask("eth_getTransactionReceipt", transaction_hash)["effectiveGasPrice"] == hex(price)


def test_receipt_of_a_creation_has_no_recipient(chain: EvmChain, ask: Ask) -> None:
    receipt = ALICE.send(chain, data=init_code(COUNTER))
    told = ask("eth_getTransactionReceipt", hexed(receipt.transaction_hash))
    assert told["to"] is None
    assert told["contractAddress"] == hexed(receipt.contract_address or b"")
    assert told["status"] == "0x1"
    assert told["gasUsed"] == told["cumulativeGasUsed"] == hex(receipt.gas_used)


def test_receipt_of_a_failure_has_status_zero(chain: EvmChain, ask: Ask) -> None:
    receipt = ALICE.send(chain, data=REVERTER)
    told = ask("eth_getTransactionReceipt", hexed(receipt.transaction_hash))
    assert (told["status"], told["contractAddress"], told["logs"]) == ("0x0", None, [])
