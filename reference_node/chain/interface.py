"""What the node asks of a settlement chain, and the outcomes it has to reckon with.

`evm.EvmChain` (in memory) and `external.ExternalChain` (over JSON-RPC) both satisfy `Chain`. Amounts are in wei, times
in Unix seconds, addresses and hashes are raw bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Address: TypeAlias = bytes
"""20 bytes."""

Hash: TypeAlias = bytes
"""32 bytes."""

ZERO_ADDRESS: Address = bytes(20)


class ChainError(Exception):
    """The base of everything a chain raises on purpose."""


class Reverted(ChainError):  # noqa: N818 - named for what happened on the chain
    """The contract refused: execution ended in a revert, or ran out of gas (then `data` is empty)."""

    def __init__(self, data: bytes) -> None:
        """`data` is what the contract returned with the revert: a selector and ABI-encoded arguments, or nothing."""
        super().__init__(f"execution reverted with 0x{data.hex()}" if data else "execution reverted without data")
        self.data = data


class TransactionRefused(ChainError):  # noqa: N818 - named for what happened on the chain
    """The transaction never entered a block: bad signature, wrong chain id or nonce, not enough funds or gas."""

    def __init__(self, reason: str) -> None:
        """`reason` says in words what was wrong."""
        super().__init__(reason)
        self.reason = reason


class WrongChain(ChainError):  # noqa: N818 - named for what happened on the chain
    """The external chain is another one than was asked for."""


class ChainUnavailable(ChainError):  # noqa: N818 - named for what happened on the chain
    """The external chain did not answer, or answered with something that is no JSON-RPC response."""


class OutcomeUnknown(ChainUnavailable):
    """The transaction was sent, and the chain has not said what became of it: it may still be mined."""


@dataclass(frozen=True, slots=True)
class Log:
    """One event: the contract that emitted it, up to four topics of 32 bytes, the rest as data."""

    address: Address
    topics: tuple[Hash, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a mined transaction. A reverted one is mined too: `succeeded` is false, `logs` is empty."""

    transaction_hash: Hash
    block_number: int
    succeeded: bool
    gas_used: int
    logs: tuple[Log, ...]
    contract_address: Address | None
    """The new contract of a successful creation, else `None`."""
    revert_data: bytes
    """What a reverted transaction returned, where it can be known, else empty."""


@dataclass(frozen=True, slots=True)
class Fees:
    """What to offer for a transaction to be mined in the next block, in wei per gas (EIP-1559)."""

    max_fee_per_gas: int
    max_priority_fee_per_gas: int


class Chain(Protocol):
    """A chain that holds the contracts. Every method may raise `ChainUnavailable` where the chain is external."""

    @property
    def chain_id(self) -> int:
        """The id that transactions and typed data are signed for."""

    def call(self, to: Address, data: bytes, sender: Address = ZERO_ADDRESS) -> bytes:
        """Run a view at the present state and time and return its ABI-encoded result; raises `Reverted`."""

    def send(self, raw: bytes) -> Receipt:
        """Submit a signed transaction, return once it is mined; raises `TransactionRefused` when it never will be."""

    def gas_limit(self, to: Address, data: bytes, sender: Address) -> int:
        """A gas limit with which this transaction can run; raises `Reverted` where its refusal is known beforehand."""

    def next_nonce(self, address: Address) -> int:
        """The nonce that the next transaction of this address has to carry."""

    def balance(self, address: Address) -> int:
        """The balance in wei."""

    def code(self, address: Address) -> bytes:
        """The runtime code, empty where there is no contract."""

    def fees(self) -> Fees:
        """What to offer for a transaction now."""

    def timestamp(self) -> int:
        """The time that a contract called now sees."""

    def block_number(self) -> int:
        """The number of the newest block."""

    def logs(self, address: Address, first_block: int, last_block: int) -> Sequence[Log]:
        """Every event that this contract emitted in these blocks, both included, in their order."""

    def landed(self, transaction_hash: Hash) -> bool | None:
        """Whether a transaction was mined and succeeded; `None` while it waits to be mined."""
