"""What the in-memory chain has mined: one transaction a block, found by number or hash in constant time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from eth_utils.crypto import keccak

from reference_node.chain.interface import Address, Hash, Receipt

ANCESTORS = 256
"""How many parent hashes the BLOCKHASH instruction reaches back."""


@dataclass(frozen=True, slots=True)
class Mined:
    """A transaction in its block."""

    raw: bytes
    """The signed transaction as it came."""
    sender: Address
    receipt: Receipt
    effective_gas_price: int


@dataclass(frozen=True, slots=True)
class Block:
    """A block; the first one and no other is without a transaction."""

    number: int
    hash: Hash
    parent_hash: Hash
    timestamp: int
    transaction: Mined | None


class Blocks:
    """The blocks from the first to the latest. Not locked: the chain is."""

    def __init__(self, timestamp: int) -> None:
        self._blocks: list[Block] = []
        self._by_hash: dict[Hash, Block] = {}
        self._by_transaction: dict[Hash, Block] = {}
        self.add(self.next(timestamp, None))

    @property
    def latest(self) -> Block:
        """The newest block."""
        return self._blocks[-1]

    def number(self, number: int) -> Block | None:
        """The block of that number, if mined."""
        return self._blocks[number] if 0 <= number < len(self._blocks) else None

    def hash(self, block_hash: Hash) -> Block | None:
        """The block with that hash."""
        return self._by_hash.get(block_hash)

    def holding(self, transaction_hash: Hash) -> Block | None:
        """The block that holds that transaction."""
        return self._by_transaction.get(transaction_hash)

    def between(self, first: int, last: int) -> list[Block]:
        """The blocks from `first` to `last`, both included."""
        return self._blocks[max(first, 0) : max(last + 1, 0)]

    def ancestor_hashes(self) -> Iterator[Hash]:
        """Hashes backwards from the latest block, as many as BLOCKHASH may ask for."""
        return (block.hash for block in islice(reversed(self._blocks), ANCESTORS))

    def next(self, timestamp: int, mined: Mined | None) -> Block:
        """The block that would come next with this transaction."""
        number = len(self._blocks)
        parent_hash = self._blocks[-1].hash if self._blocks else bytes(32)
        content = mined.receipt.transaction_hash if mined else b""
        block_hash = keccak(parent_hash + number.to_bytes(8, "big") + timestamp.to_bytes(8, "big") + content)
        return Block(number, block_hash, parent_hash, timestamp, mined)

    def add(self, block: Block) -> None:
        """Add the next block."""
        self._blocks.append(block)
        self._by_hash[block.hash] = block
        if block.transaction:
            self._by_transaction[block.transaction.receipt.transaction_hash] = block
