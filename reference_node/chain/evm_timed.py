"""py-evm's Prague rules with an eye on the clock: no code of a contract goes on for longer than it was given."""

from __future__ import annotations

import threading
import time
from functools import cached_property, lru_cache
from typing import cast

from eth.abc import ComputationAPI, MessageAPI, StateAPI, TransactionContextAPI
from eth.vm.code_stream import CodeStream
from eth.vm.forks.prague.computation import PragueComputation
from eth.vm.forks.prague.state import PragueState
from eth.vm.gas_meter import GasMeter
from eth.vm.memory import Memory
from eth.vm.opcode_values import JUMPDEST, PUSH1, PUSH32
from eth.vm.stack import Stack

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


class TimedState(PragueState):
    """Prague's state, which stops what goes on past its deadline."""

    deadline = 0.0
    """When what runs now has to be done, on the clock of `time.thread_time`: what other threads take does not count."""
    stopped = threading.Event()
    """Set once nothing is to run any more."""
    rests = False
    """Whether to let other threads run every now and then."""
    _unchecked = 0
    _rests_at = 0.0

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


class TimedComputation(PragueComputation):
    """Prague's computation over `ScannedCode`, with an eye on the clock."""

    code: ScannedCode
    state: TimedState
    _stack: Stack
    _memory: Memory
    _gas_meter: GasMeter

    def __init__(self, state: StateAPI, message: MessageAPI, transaction_context: TransactionContextAPI) -> None:
        cast(TimedState, state).check_time()
        super().__init__(state, message, transaction_context)
        self.code = ScannedCode(message.code)

    def add_child_computation(self, child_computation: ComputationAPI) -> None:
        """Take in what a call did, and drop what the call before it read and wrote in memory.

        Refunds, logs and deletions alone are asked for later. The memory of some hundred calls would take hundreds of
        megabytes.
        """
        if self.children:
            done = cast(TimedComputation, self.children[-1])
            done._memory, done._output, done.return_data, done.msg.data = Memory(), b"", b"", b""
        super().add_child_computation(child_computation)
