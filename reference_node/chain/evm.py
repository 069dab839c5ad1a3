"""The settlement chain in memory: real EVM semantics (Prague), one transaction a block, time from an injected clock.

One lock covers nonce check, execution and receipt of a transaction, so that any number of threads may use a chain.
Calls run beside them, each on a snapshot of the state.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from eth.abc import ComputationAPI, SignedTransactionAPI
from eth.db.atomic import AtomicDB
from eth.exceptions import PyEVMError, VMError
from eth.vm.execution_context import ExecutionContext
from eth.vm.forks.prague.state import PragueTransactionExecutor
from eth_typing import Address as EthAddress
from eth_typing import BlockNumber, Hash32
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError

from reference_node.chain import evm_calls
from reference_node.chain.evm_blocks import Block, Blocks, Mined
from reference_node.chain.evm_calls import Call, Execution, Override
from reference_node.chain.evm_lock import FairLock
from reference_node.chain.evm_machine import MemoryState
from reference_node.chain.evm_state import NO_ROOT
from reference_node.chain.evm_store import ChainStore
from reference_node.chain.evm_timed import OutOfTime
from reference_node.chain.evm_transactions import (
    BLOCK_GAS_LIMIT,
    admit,
    decode,
    effective_gas_price,
    floor_gas,
)
from reference_node.chain.interface import (
    ZERO_ADDRESS,
    Address,
    Fees,
    Hash,
    Log,
    Receipt,
    Reverted,
    TransactionRefused,
)

EXECUTION_SECONDS = 10.0
"""Seconds of processor time that one transaction, or one view of the node's own, may take. py-evm needs up to a minute
to burn a block's gas, and meanwhile no other transaction gets its turn: what takes so long is aborted, and leaves no
trace."""

MOST_VIEWS = 10_000
"""How many answers of one moment are remembered."""

BASE_FEE = 10**9
"""Wei per gas that every transaction pays at least. It never moves: blocks never fill up."""

PRIORITY_FEE = 10**9
"""Wei per gas that a client is told to offer on top."""


class EvmChain:
    """A chain in this process. `clock` gives Unix seconds; `allocation` maps addresses to their first wei.

    With a `store` it goes on from what is kept there, and each transaction is kept before anybody hears of it.
    """

    def __init__(
        self,
        chain_id: int,
        clock: Callable[[], int],
        allocation: Mapping[Address, int] | None = None,
        store: ChainStore | None = None,
    ) -> None:
        self.lock = FairLock()
        """Hold it to read several things of one moment."""
        self._chain_id = chain_id
        self._clock = clock
        self._store = store
        self.blocks = (store.blocks() if store else None) or Blocks(clock())
        """What has been mined. Read it under the lock."""
        self._state = MemoryState(AtomicDB(), self._context(clock()), NO_ROOT)
        self._state.stopped = threading.Event()
        if store:
            self._state.restore(store.accounts())
            store.save(self._state.changes(), self.blocks.latest)
        self._views: dict[tuple[Address, bytes, Address], Execution] = {}
        self._views_at = 0
        for address, wei in (allocation or {}).items():
            if not self.balance(address):
                self.fund(address, wei)

    @property
    def chain_id(self) -> int:
        """The id that transactions have to be signed for."""
        return self._chain_id

    def call(self, to: Address, data: bytes, sender: Address = ZERO_ADDRESS) -> bytes:
        """Run a view at the present state and time; raises `Reverted`, with no data where it ran out of gas."""
        asked = (to, data, sender)
        with self.lock:
            known = self._views_now()
        execution = known.get(asked) or self.run(Call(sender=sender, to=to, data=data, seconds=EXECUTION_SECONDS))
        if execution.error is None or execution.reverted:  # running out of time depends on this machine's load
            known[asked] = execution
        if execution.error is not None:
            raise Reverted(execution.output)
        return execution.output

    def run(self, call: Call, overrides: Mapping[Address, Override] | None = None) -> Execution:
        """Run a call and say all that came of it; raises `TransactionRefused` where it can't even begin."""
        evm_calls.require_turn(call, overrides)
        with self._snapshot(call.seconds) as state:
            return self._execute(state, call, overrides)

    def estimate(self, call: Call, overrides: Mapping[Address, Override] | None = None) -> Execution:
        """The call with the least gas limit (`gas_needed`) that it succeeds with; a failing one as it is."""
        evm_calls.require_turn(call, overrides)
        with self._snapshot(call.seconds) as state:
            return evm_calls.estimate(lambda attempt: self._execute(state, attempt, overrides), call)

    def send(self, raw: bytes) -> Receipt:
        """Mine a signed transaction in a block of its own; raises `TransactionRefused`."""
        transaction = decode(raw)
        with self.lock:
            if self.blocks.holding(transaction.hash):
                raise TransactionRefused("already known")
            admit(transaction, self._state, self._chain_id, BASE_FEE)
            return self._mine(raw, transaction).receipt

    def gas_limit(self, to: Address, data: bytes, sender: Address) -> int:  # noqa: ARG002 - the interface's signature
        """The whole block's: each transaction has one to itself, and a mined refusal harms nobody."""
        return BLOCK_GAS_LIMIT

    def next_nonce(self, address: Address) -> int:
        """The nonce that the next transaction of this address has to carry."""
        with self.lock:
            return self._state.get_nonce(EthAddress(address))

    def balance(self, address: Address) -> int:
        """The balance in wei."""
        with self.lock:
            return self._state.get_balance(EthAddress(address))

    def code(self, address: Address) -> bytes:
        """The runtime code, empty where there is no contract."""
        with self.lock:
            return self._state.get_code(EthAddress(address))

    def storage(self, address: Address, slot: int) -> int:
        """A storage slot, 0 where nothing was written."""
        with self.lock:
            return self._state.get_storage(EthAddress(address), slot)

    def fees(self) -> Fees:
        """What to offer for a transaction."""
        return Fees(2 * BASE_FEE + PRIORITY_FEE, PRIORITY_FEE)

    def timestamp(self) -> int:
        """The clock's time, or the latest block's when the clock was put back: block time never goes back."""
        with self.lock:
            return max(self._clock(), self.blocks.latest.timestamp)

    def block_number(self) -> int:
        """The number of the newest block."""
        return self.blocks.latest.number

    def logs(self, address: Address, first_block: int, last_block: int) -> Sequence[Log]:
        """Every event that this contract emitted in these blocks, both included, in their order."""
        mined = (block.transaction for block in self.blocks.between(first_block, last_block))
        return [log for one in mined if one for log in one.receipt.logs if log.address == address]

    def landed(self, transaction_hash: Hash) -> bool | None:
        """Whether a transaction was mined and succeeded. None ever waits here."""
        block = self.blocks.holding(transaction_hash)
        return block is not None and block.transaction is not None and block.transaction.receipt.succeeded

    def fund(self, address: Address, wei: int) -> None:
        """Give an address so many wei out of nothing, without a block."""
        with self.lock, self._all_or_nothing():
            self._state.delta_balance(EthAddress(address), wei)
            self._keep(None)

    def stop(self) -> None:
        """Abort what runs now, and whatever comes later: nobody waits for it any more."""
        self._state.stopped.set()

    def _views_now(self) -> dict[tuple[Address, bytes, Address], Execution]:
        """What views came to in this state at this time, under the lock: asked again, they would come to the same."""
        now = self.timestamp()
        if now != self._views_at or len(self._views) >= MOST_VIEWS:
            self._forget_views()
            self._views_at = now
        return self._views

    def _forget_views(self) -> None:
        """Begin a new memory: a view of the former state that still runs adds its answer to the former one."""
        self._views = {}

    @contextmanager
    def _snapshot(self, seconds: float) -> Iterator[MemoryState]:
        """The state at the present time, to do with as one likes; what is executed on it may take so many seconds."""
        with ExitStack() as opened:
            with self.lock:
                context = self._context(self.timestamp())
                state = opened.enter_context(self._state.snapshot_of_accounts(context))
            state.rests = True
            state.start_timing(min(seconds, evm_calls.left_of_turn()))
            yield state

    def _execute(
        self, state: MemoryState, call: Call, overrides: Mapping[Address, Override] | None = None
    ) -> Execution:
        """Run a call on a snapshot, and undo what it did there."""
        before = state.snapshot()
        try:
            evm_calls.override(state, overrides or {})
            return evm_calls.execute(state, call, self._chain_id)
        except OutOfTime:
            evm_calls.left_of_turn()
            return Execution(b"", call.gas, call.gas, VMError("execution aborted: it took too long"))
        except (ValidationError, PyEVMError) as error:
            raise TransactionRefused(f"invalid call: {error}") from error
        finally:
            state.revert(before)
            state.lock_changes()

    def _context(self, timestamp: int) -> ExecutionContext:
        number = self.blocks.latest.number + 1
        return ExecutionContext(
            coinbase=EthAddress(ZERO_ADDRESS),
            timestamp=timestamp,
            block_number=BlockNumber(number),
            difficulty=0,
            mix_hash=Hash32(keccak(number.to_bytes(8, "big"))),
            gas_limit=BLOCK_GAS_LIMIT,
            prev_hashes=(Hash32(ancestor) for ancestor in self.blocks.ancestor_hashes()),
            chain_id=self._chain_id,
            base_fee_per_gas=BASE_FEE,
            excess_blob_gas=0,
        )

    def _mine(self, raw: bytes, transaction: SignedTransactionAPI) -> Mined:
        timestamp = self.timestamp()
        with self._all_or_nothing():
            receipt = self._receipt(transaction, self._apply(transaction, timestamp))
            mined = Mined(raw, transaction.sender, receipt, effective_gas_price(transaction, BASE_FEE))
            block = self.blocks.next(timestamp, mined)
            self._keep(block)
        self.blocks.add(block)
        return mined

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A change of the state; whatever stops it half-way leaves the state as it was."""
        before = self._state.snapshot()
        try:
            yield
        except BaseException:
            self._state.revert(before)
            raise
        finally:
            self._state.lock_changes()
            self._forget_views()

    def _keep(self, block: Block | None) -> None:
        """Write what has changed, with the block that changed it."""
        if self._store is not None:
            self._store.save(self._state.changes(), block)

    def _apply(self, transaction: SignedTransactionAPI, timestamp: int) -> ComputationAPI:
        self._state.execution_context = self._context(timestamp)
        self._state.start_timing(EXECUTION_SECONDS)
        try:
            return self._state.apply_transaction(transaction)
        except OutOfTime as error:
            raise TransactionRefused("execution aborted: it took too long") from error
        except (ValidationError, PyEVMError) as error:
            raise TransactionRefused(f"invalid transaction: {error}") from error

    def _receipt(self, transaction: SignedTransactionAPI, computation: ComputationAPI) -> Receipt:
        failed = computation.is_error
        used = transaction.gas - computation.get_gas_remaining()
        refund = PragueTransactionExecutor.calculate_gas_refund(computation, used)
        creation = not failed and not transaction.to
        return Receipt(
            transaction_hash=transaction.hash,
            block_number=self.blocks.latest.number + 1,
            succeeded=not failed,
            gas_used=max(used - refund, floor_gas(transaction.data)),
            logs=tuple(
                Log(address, tuple(Hash(topic.to_bytes(32, "big")) for topic in topics), data)
                for address, topics, data in computation.get_log_entries()
            ),
            contract_address=computation.msg.storage_address if creation else None,
            revert_data=computation.output if failed else b"",
        )
