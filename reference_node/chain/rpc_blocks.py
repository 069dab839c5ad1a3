"""Methods of the JSON-RPC about what has been mined: blocks, transactions, receipts, the history of fees."""

from __future__ import annotations

from collections.abc import Mapping

from reference_node.chain import rpc_encode
from reference_node.chain.evm import BASE_FEE, PRIORITY_FEE, EvmChain
from reference_node.chain.evm_blocks import Block
from reference_node.chain.evm_transactions import BLOCK_GAS_LIMIT
from reference_node.chain.interface import Hash
from reference_node.chain.rpc_methods import Method
from reference_node.chain.rpc_requests import BlockId, block_id, block_tag
from reference_node.chain.rpc_values import (
    SERVER_ERROR,
    InvalidParams,
    Json,
    RpcError,
    boolean,
    hash32,
    list_of,
    quantity,
)

FEE_HISTORY = 1024
"""The most blocks that one `eth_feeHistory` covers."""


def find(chain: EvmChain, block: BlockId | None) -> Block | None:
    """The block of that number, hash or tag; `None` where none is mined."""
    if isinstance(block, bytes):
        return chain.blocks.hash(block)
    if isinstance(block, int):
        return chain.blocks.number(block)
    return chain.blocks.latest


def _percentile(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise InvalidParams("a percentile is a number from 0 to 100")
    return value


def _block_count(value: object) -> int:
    """A quantity, or a plain number as some clients send here alone."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else quantity(value)


class BlockMethods:
    """Blocks, transactions and receipts. What is not there is answered with null."""

    def __init__(self, chain: EvmChain) -> None:
        self._chain = chain

    def table(self) -> Mapping[str, Method]:
        """The methods by name."""
        return {
            "eth_getBlockByNumber": Method(self._block, (block_tag, boolean), 1),
            "eth_getBlockByHash": Method(self._block, (hash32, boolean), 1),
            "eth_getBlockReceipts": Method(self._receipts, (block_id,)),
            "eth_getBlockTransactionCountByNumber": Method(self._count, (block_tag,)),
            "eth_getBlockTransactionCountByHash": Method(self._count, (hash32,)),
            "eth_getTransactionByHash": Method(self._transaction, (hash32,)),
            "eth_getTransactionByBlockNumberAndIndex": Method(self._by_index, (block_tag, quantity)),
            "eth_getTransactionByBlockHashAndIndex": Method(self._by_index, (hash32, quantity)),
            "eth_getTransactionReceipt": Method(self._receipt, (hash32,)),
            "eth_feeHistory": Method(self._fee_history, (_block_count, block_tag, list_of(_percentile)), 1),
        }

    def _block(self, block: BlockId, full: bool | None = None) -> Json:
        found = find(self._chain, block)
        return rpc_encode.block(found, full=bool(full)) if found else None

    def _receipts(self, block: BlockId) -> Json:
        found = find(self._chain, block)
        if found is None:
            return None
        return [rpc_encode.receipt(found, found.transaction)] if found.transaction else []

    def _count(self, block: BlockId) -> Json:
        found = find(self._chain, block)
        return hex(1 if found.transaction else 0) if found else None

    def _transaction(self, transaction_hash: Hash) -> Json:
        found = self._chain.blocks.holding(transaction_hash)
        return rpc_encode.transaction(found, found.transaction) if found and found.transaction else None

    def _by_index(self, block: BlockId, index: int) -> Json:
        found = find(self._chain, block)
        if found is None or found.transaction is None or index != 0:
            return None
        return rpc_encode.transaction(found, found.transaction)

    def _receipt(self, transaction_hash: Hash) -> Json:
        found = self._chain.blocks.holding(transaction_hash)
        return rpc_encode.receipt(found, found.transaction) if found and found.transaction else None

    def _fee_history(self, count: int, newest: BlockId, percentiles: list[float] | None = None) -> Json:
        found = find(self._chain, newest)
        if found is None:
            raise RpcError(SERVER_ERROR, "request beyond head block")
        blocks = self._chain.blocks.between(found.number + 1 - min(count, FEE_HISTORY), found.number)
        history: dict[str, Json] = {
            "oldestBlock": hex(found.number + 1 - len(blocks)),
            "baseFeePerGas": [hex(BASE_FEE)] * (len(blocks) + 1),
            "gasUsedRatio": [_gas_used(each) / BLOCK_GAS_LIMIT for each in blocks],
        }
        if percentiles:
            history["reward"] = [[hex(PRIORITY_FEE)] * len(percentiles) for _ in blocks]
        return history


def _gas_used(block: Block) -> int:
    return block.transaction.receipt.gas_used if block.transaction else 0
