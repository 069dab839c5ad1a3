"""py-evm's Prague rules over `MemoryAccounts`: the machine that runs transactions and calls on the in-memory chain."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from inspect import unwrap
from typing import cast

from eth import EVM_RECURSION_LIMIT
from eth.abc import ComputationAPI, ExecutionContextAPI, MessageAPI, OpcodeAPI, StateAPI, TransactionContextAPI
from eth.typing import JournalDBCheckpoint
from eth.vm import opcode_values
from eth.vm.code_stream import CodeStream
from eth.vm.forks.prague.computation import PragueComputation
from eth.vm.forks.prague.opcodes import PRAGUE_OPCODES
from eth.vm.forks.prague.state import PragueState
from eth.vm.gas_meter import GasMeter
from eth.vm.memory import Memory
from eth.vm.opcode_values import JUMPDEST, PUSH1, PUSH32
from eth.vm.stack import Stack
from eth_typing import Address, Hash32

from reference_node.chain import evm_instructions, evm_precompiles
from reference_node.chain.evm_snapshot import Account
from reference_node.chain.evm_state import NO_ROOT, Changes, MemoryAccounts

# py-evm needs this much for calls 1,024 deep. A library that it imports (py_ecc) raises the limit to 100,000, and at
# that a request body of so many opening brackets makes `json` overrun the C stack and kills the process.
sys.setrecursionlimit(EVM_RECURSION_LIMIT)

CHECKED_EVERY = 16
"""How many jumps and calls there are between two looks at the clock."""

TURN_SECONDS = 0.001
"""How long an execution that rests goes on without letting other threads run."""

REST_SECONDS = 0.00005
"""How long it rests: enough for a thread that waits for the interpreter to get it."""

JUMP_MAPS = 64
"""For how many contracts' code the positions of push data are remembered."""


@lru_cache(maxsize=JUMP_MAPS)
def jump_targets(code: bytes) -> frozenset[int]:
    """Where jumps may land: at each JUMPDEST that is no operand of a PUSH."""
    targets = []
    position = 0
    while position < len(code):
        if code[position] == JUMPDEST:
            targets.append(position)
        position += 1 + (max(0, code[position] - PUSH1 + 1) if code[position] <= PUSH32 else 0)
    return frozenset(targets)


class ScannedCode(CodeStream):
    """Code with its jump map made once. py-evm's own search backwards recurses too deep on long runs of PUSH."""

    def __init__(self, code: bytes) -> None:
        super().__init__(code)
        self.raw = code

    @cached_property
    def targets(self) -> frozenset[int]:
        """Where jumps may land."""
        return jump_targets(self.raw)


class OutOfTime(Exception):  # noqa: N818 - beside the machine's own OutOfGas
    """Execution has gone on past its deadline. No contract can catch this: it ends the whole transaction or call."""


INSTRUCTIONS: dict[int, OpcodeAPI] = {
    **PRAGUE_OPCODES,
    **evm_instructions.INSTRUCTIONS,
    # py-evm wraps this one to warn in Python that it is deprecated: an error in the middle of a transaction where
    # warnings are errors.
    opcode_values.SELFDESTRUCT: unwrap(PRAGUE_OPCODES[opcode_values.SELFDESTRUCT]),
}
"""Prague's instructions."""


class MemoryComputation(PragueComputation):
    """Prague's computation over `ScannedCode`, with an eye on the clock."""

    opcodes = INSTRUCTIONS
    _precompiles = evm_precompiles.WATCHED
    code: ScannedCode
    state: MemoryState
    _stack: Stack
    _memory: Memory
    _gas_meter: GasMeter

    def __init__(self, state: StateAPI, message: MessageAPI, transaction_context: TransactionContextAPI) -> None:
        cast(MemoryState, state).check_time()
        super().__init__(state, message, transaction_context)
        self.code = ScannedCode(message.code)

    def add_child_computation(self, child_computation: ComputationAPI) -> None:
        """Take in what a call did, and drop what the call before it read and wrote in memory.

        Refunds, logs and deletions alone are asked for later. The memory of some hundred calls would take hundreds of
        megabytes.
        """
        if self.children:
            done = cast(MemoryComputation, self.children[-1])
            done._memory, done._output, done.return_data, done.msg.data = Memory(), b"", b"", b""
        super().add_child_computation(child_computation)


class MemoryState(PragueState):
    """Prague's state over `MemoryAccounts`, whose one undo log covers transient storage as well."""

    account_db_class = MemoryAccounts
    computation_class = MemoryComputation
    deadline = 0.0
    """When what runs now has to be done, on the clock of `time.thread_time`: what other threads take does not count."""
    stopped = threading.Event()
    """Set once nothing is to run any more."""
    rests = False
    """Whether to let other threads run every now and then."""
    _unchecked = 0
    _rests_at = 0.0

    @contextmanager
    def snapshot_of_accounts(self, context: ExecutionContextAPI) -> Iterator[MemoryState]:
        """A state of its own with these accounts as they are now, for what leaves no trace in this one."""
        with self._accounts.snapshot() as accounts:
            taken = type(self)(self._db, context, NO_ROOT)
            taken._account_db = accounts
            taken.computation_class = self.computation_class  # a state may have one of its own
            taken.stopped = self.stopped
            yield taken

    def changes(self) -> Changes:
        """What has changed since the last `lock_changes`."""
        return self._accounts.changes()

    def restore(self, accounts: dict[Address, Account]) -> None:
        """Begin with these accounts."""
        self._accounts.restore(accounts)

    def start_timing(self, seconds: float) -> None:
        """Give what runs from now on so many seconds of this thread's processor time."""
        now = time.thread_time()
        self.deadline, self._rests_at = now + seconds, now + TURN_SECONDS
        self._unchecked = 0

    def check_time(self) -> None:
        """Raise `OutOfTime` when the deadline has passed, or the chain has stopped. Not every call looks."""
        self._unchecked -= 1
        if self._unchecked < 0:
            self._unchecked = CHECKED_EVERY
            self.require_time(0.0)

    def require_time(self, seconds: float) -> None:
        """Raise `OutOfTime` unless so many seconds are left."""
        now = time.thread_time()
        if self.stopped.is_set() or now + seconds > self.deadline:
            raise OutOfTime
        if self.rests and now > self._rests_at:
            time.sleep(REST_SECONDS)
            self._rests_at = now + TURN_SECONDS

    @property
    def _accounts(self) -> MemoryAccounts:
        return cast(MemoryAccounts, self._account_db)

    def snapshot(self) -> tuple[Hash32, JournalDBCheckpoint]:
        """A point to come back to."""
        return NO_ROOT, self._accounts.record()

    def commit(self, snapshot: tuple[Hash32, JournalDBCheckpoint]) -> None:
        """Nothing to do: the outer snapshot covers it."""

    def revert(self, snapshot: tuple[Hash32, JournalDBCheckpoint]) -> None:
        """Undo all that was done since the snapshot."""
        self._accounts.discard(snapshot[1])

    def get_transient_storage(self, address: Address, slot: int) -> bytes:
        """A transient slot (EIP-1153)."""
        return self._accounts.get_transient(address, slot)

    def set_transient_storage(self, address: Address, slot: int, value: bytes) -> None:
        """Write a transient slot."""
        self._accounts.set_transient(address, slot, value)

    def clear_transient_storage(self) -> None:
        """Nothing to do: `lock_changes` empties it with the rest of what one transaction knows."""
