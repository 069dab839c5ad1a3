"""Blocks, transactions, receipts and logs as the Ethereum JSON-RPC writes them."""

from __future__ import annotations

from collections.abc import Iterable

from eth.abc import SignedTransactionAPI
from eth.constants import EMPTY_UNCLE_HASH
from eth.vm.forks.prague.constants import SET_CODE_TRANSACTION_TYPE
from eth_bloom.bloom import BloomFilter

from reference_node.chain.evm import BASE_FEE
from reference_node.chain.evm_blocks import Block, Mined
from reference_node.chain.evm_state import NO_ROOT
from reference_node.chain.evm_transactions import BLOCK_GAS_LIMIT, decode, transaction_type
from reference_node.chain.interface import ZERO_ADDRESS, Log
from reference_node.chain.rpc_values import Json, hex_data, hex_word

ACCESS_LIST, DYNAMIC_FEE = 1, 2
"""Types of transactions (EIP-2930, EIP-1559)."""


def block(found: Block, *, full: bool) -> Json:
    """A block, with whole transactions or with their hashes. The roots are zeros: there are no tries."""
    mined = found.transaction
    transactions: list[Json] = []
    if mined:
        transactions = [transaction(found, mined) if full else hex_data(mined.receipt.transaction_hash)]
    return {
        "number": hex(found.number),
        "hash": hex_data(found.hash),
        "parentHash": hex_data(found.parent_hash),
        "timestamp": hex(found.timestamp),
        "gasLimit": hex(BLOCK_GAS_LIMIT),
        "gasUsed": hex(mined.receipt.gas_used if mined else 0),
        "baseFeePerGas": hex(BASE_FEE),
        "logsBloom": _bloom(mined.receipt.logs if mined else ()),
        "transactions": transactions,
        "transactionsRoot": hex_data(NO_ROOT),
        "receiptsRoot": hex_data(NO_ROOT),
        "stateRoot": hex_data(NO_ROOT),
        "withdrawalsRoot": hex_data(NO_ROOT),
        "withdrawals": [],
        "uncles": [],
        "sha3Uncles": hex_data(EMPTY_UNCLE_HASH),
        "miner": hex_data(ZERO_ADDRESS),
        "nonce": hex_data(bytes(8)),
        "mixHash": hex_data(bytes(32)),
        "extraData": "0x",
        "difficulty": "0x0",
        "totalDifficulty": "0x0",
        "size": hex(len(mined.raw) if mined else 0),
    }


def transaction(found: Block, mined: Mined) -> Json:
    """A mined transaction."""
    signed = decode(mined.raw)
    kind = transaction_type(signed)
    fields: dict[str, Json] = {
        "type": hex(kind),
        "hash": hex_data(mined.receipt.transaction_hash),
        "from": hex_data(mined.sender),
        "to": hex_data(signed.to) if signed.to else None,
        "nonce": hex(signed.nonce),
        "gas": hex(signed.gas),
        "gasPrice": hex(mined.effective_gas_price),
        "value": hex(signed.value),
        "input": hex_data(signed.data),
        "blockHash": hex_data(found.hash),
        "blockNumber": hex(found.number),
        "transactionIndex": "0x0",
        "chainId": hex(signed.chain_id or 0),
        **_signature(signed, kind),
    }
    if kind >= ACCESS_LIST:
        fields["accessList"] = _access_list(signed)
    if kind >= DYNAMIC_FEE:
        fields["maxFeePerGas"] = hex(signed.max_fee_per_gas)
        fields["maxPriorityFeePerGas"] = hex(signed.max_priority_fee_per_gas)
    if kind == SET_CODE_TRANSACTION_TYPE:
        fields["authorizationList"] = _authorizations(signed)
    return fields


def _signature(signed: SignedTransactionAPI, kind: int) -> dict[str, Json]:
    parity = hex(signed.y_parity)
    if kind:
        return {"r": hex(signed.r), "s": hex(signed.s), "v": parity, "yParity": parity}
    replay_protected = 35 + 2 * (signed.chain_id or 0) + (signed.y_parity & 1)
    return {"r": hex(signed.r), "s": hex(signed.s), "v": hex(replay_protected)}


def _access_list(signed: SignedTransactionAPI) -> Json:
    return [
        {"address": hex_data(account), "storageKeys": [hex_word(slot) for slot in slots]}
        for account, slots in signed.access_list
    ]


def _authorizations(signed: SignedTransactionAPI) -> Json:
    return [
        {
            "chainId": hex(each.chain_id),
            "address": hex_data(each.address),
            "nonce": hex(each.nonce),
            "yParity": hex(each.y_parity),
            "r": hex(each.r),
            "s": hex(each.s),
        }
        for each in signed.authorization_list
    ]


def receipt(found: Block, mined: Mined) -> Json:
    """The receipt of a mined transaction, the only one in its block."""
    signed, result = decode(mined.raw), mined.receipt
    return {
        "type": hex(transaction_type(signed)),
        "transactionHash": hex_data(result.transaction_hash),
        "transactionIndex": "0x0",
        "blockHash": hex_data(found.hash),
        "blockNumber": hex(found.number),
        "from": hex_data(mined.sender),
        "to": hex_data(signed.to) if signed.to else None,
        "contractAddress": hex_data(result.contract_address) if result.contract_address else None,
        "status": hex(result.succeeded),
        "gasUsed": hex(result.gas_used),
        "cumulativeGasUsed": hex(result.gas_used),
        "effectiveGasPrice": hex(mined.effective_gas_price),
        "logsBloom": _bloom(result.logs),
        "logs": [log(found, mined, index) for index in range(len(result.logs))],
    }


def log(found: Block, mined: Mined, index: int) -> Json:
    """One log of a mined transaction, by its place among them."""
    entry = mined.receipt.logs[index]
    return {
        "address": hex_data(entry.address),
        "topics": [hex_data(topic) for topic in entry.topics],
        "data": hex_data(entry.data),
        "blockNumber": hex(found.number),
        "blockHash": hex_data(found.hash),
        "blockTimestamp": hex(found.timestamp),
        "transactionHash": hex_data(mined.receipt.transaction_hash),
        "transactionIndex": "0x0",
        "logIndex": hex(index),
        "removed": False,
    }


def _bloom(logs: Iterable[Log]) -> str:
    bloom = BloomFilter()
    for entry in logs:
        bloom.add(entry.address)
        for topic in entry.topics:
            bloom.add(topic)
    return hex_data(int(bloom).to_bytes(256, "big"))
