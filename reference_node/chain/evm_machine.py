"""py-evm's Prague rules over `MemoryAccounts`: the machine that runs transactions and calls on the in-memory chain."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import unwrap
from typing import cast

from eth import EVM_RECURSION_LIMIT
from eth.abc import ExecutionContextAPI, OpcodeAPI
from eth.typing import JournalDBCheckpoint
from eth.vm import opcode_values
from eth.vm.forks.prague.opcodes import PRAGUE_OPCODES
from eth_typing import Address, Hash32

from reference_node.chain import evm_instructions, evm_precompiles
from reference_node.chain.evm_snapshot import Account
from reference_node.chain.evm_state import NO_ROOT, Changes, MemoryAccounts
from reference_node.chain.evm_timed import TimedComputation, TimedState

# py-evm needs this much for calls 1,024 deep. A library that it imports (py_ecc) raises the limit to 100,000, and at
# that a request body of so many opening brackets makes `json` overrun the C stack and kills the process.
sys.setrecursionlimit(EVM_RECURSION_LIMIT)


INSTRUCTIONS: dict[int, OpcodeAPI] = {
    **PRAGUE_OPCODES,
    **evm_instructions.INSTRUCTIONS,
    # py-evm wraps this one to warn in Python that it is deprecated: an error in the middle of a transaction where
    # warnings are errors.
    opcode_values.SELFDESTRUCT: unwrap(PRAGUE_OPCODES[opcode_values.SELFDESTRUCT]),
}
"""Prague's instructions."""


class MemoryComputation(TimedComputation):
    """A computation with the instructions and precompiled contracts that are watched."""

    opcodes = INSTRUCTIONS
    _precompiles = evm_precompiles.WATCHED  # type: ignore[assignment]  # py-evm means a function whose parameter has a name


class MemoryState(TimedState):
    """Prague's state over `MemoryAccounts`, whose one undo log covers transient storage as well."""

    account_db_class = MemoryAccounts
    computation_class = MemoryComputation

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
