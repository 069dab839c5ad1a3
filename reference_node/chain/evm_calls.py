"""Calls: execution on the in-memory chain without a signature, of which nothing is kept, and the estimate of gas."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from eth.abc import ComputationAPI
from eth.constants import CREATE_CONTRACT_ADDRESS
from eth.exceptions import Revert, VMError
from eth.vm.forks.london.constants import DYNAMIC_FEE_TRANSACTION_TYPE, EIP3529_MAX_REFUND_QUOTIENT
from eth.vm.forks.london.transactions import DynamicFeeTransaction
from eth.vm.forks.prague.constants import SET_CODE_TRANSACTION_TYPE
from eth.vm.forks.prague.state import PragueTransactionExecutor
from eth.vm.forks.prague.transactions import Authorization, PragueTypedTransaction, SetCodeTransaction
from eth_typing import Address as EthAddress

from reference_node.chain.evm_machine import MemoryState
from reference_node.chain.evm_transactions import BLOCK_GAS_LIMIT, check_gas, floor_gas
from reference_node.chain.interface import ZERO_ADDRESS, Address, TransactionRefused

ESTIMATE_PRECISION = 64
"""A gas estimate is at most one part in this many above the least that suffices."""


CALL_SECONDS = 1.0
"""Seconds of processor time for anybody's call, and for all the attempts of an estimate."""


class OutOfTurn(Exception):  # noqa: N818 - nothing is wrong with the call
    """A call needs more than this turn of its caller; nothing has come of it yet."""


class BringsOwnCode(OutOfTurn):
    """A call brings its own code, and this turn takes none such."""


_turn_ends: ContextVar[float] = ContextVar("turn_ends", default=math.inf)
"""On the clock of `time.thread_time`."""
_takes_own_code: ContextVar[bool] = ContextVar("takes_own_code", default=True)


@contextmanager
def turn(seconds: float | None, *, own_code: bool = True) -> Iterator[None]:
    """Have calls inside take so many seconds of processor time together, or raise `OutOfTurn`; None: as they need.

    Without `own_code`, a call that brings its own code raises `BringsOwnCode` at once.
    """
    ends = _turn_ends.set(math.inf if seconds is None else time.thread_time() + seconds)
    takes = _takes_own_code.set(own_code)
    try:
        yield
    finally:
        _takes_own_code.reset(takes)
        _turn_ends.reset(ends)


def left_of_turn() -> float:
    """Seconds. Raises `OutOfTurn` where there are none."""
    left = _turn_ends.get() - time.thread_time()
    if left <= 0:
        raise OutOfTurn
    return left


@dataclass(frozen=True, slots=True)
class Call:
    """What a call does. It costs its sender nothing, so it carries no fees."""

    sender: Address = ZERO_ADDRESS
    to: Address | None = None
    """The called address; `None` runs `data` as init code."""
    data: bytes = b""
    value: int = 0
    gas: int = BLOCK_GAS_LIMIT
    access_list: tuple[tuple[Address, tuple[int, ...]], ...] = ()
    authorizations: tuple[Authorization, ...] = ()
    """Accounts that take on another's code with this call (EIP-7702)."""
    chain_id: int | None = None
    """The chain it is meant for, where it says so."""
    seconds: float = CALL_SECONDS
    """How much of the processor's time it may take."""


@dataclass(frozen=True, slots=True)
class Override:
    """What one call pretends an account to be, whatever it is in the state (the third parameter of `eth_call`)."""

    balance: int | None = None
    nonce: int | None = None
    code: bytes | None = None
    state: Mapping[int, int] | None = None
    """All slots: those not named are empty."""
    state_diff: Mapping[int, int] = field(default_factory=dict)
    """Some slots: those not named stay."""


def require_turn(call: Call, overrides: Mapping[Address, Override] | None = None) -> None:
    """Raise `BringsOwnCode` for a call with code of its own, where this turn takes none."""
    brought = call.to is None or any(pretended.code for pretended in (overrides or {}).values())
    if brought and not _takes_own_code.get():
        raise BringsOwnCode


@dataclass(frozen=True, slots=True)
class Execution:
    """What came of a call."""

    output: bytes
    """The result, or what a revert returned."""
    gas_used: int
    """With refunds and the floor price for data, as a receipt would say."""
    gas_needed: int
    """The highest sum while it ran: the least that the gas limit could be."""
    error: VMError | None

    @property
    def reverted(self) -> bool:
        """Whether the contract itself refused, rather than running out of gas and the like."""
        return isinstance(self.error, Revert)


class _CallTransaction(PragueTypedTransaction):
    """A call in the dress of a signed transaction, for py-evm to build its message from."""

    def __init__(self, call: Call, chain_id: int, nonce: int) -> None:
        to = CREATE_CONTRACT_ADDRESS if call.to is None else EthAddress(call.to)
        fees, signature = (0, 0), (0, 0, 0)
        fields = (chain_id, nonce, *fees, call.gas, to, call.value, call.data, call.access_list)
        if call.authorizations:
            inner = SetCodeTransaction(*fields, call.authorizations, *signature)
            super().__init__(SET_CODE_TRANSACTION_TYPE, inner)
        else:
            super().__init__(DYNAMIC_FEE_TRANSACTION_TYPE, DynamicFeeTransaction(*fields, *signature))
        self._caller = EthAddress(call.sender)

    def get_sender(self) -> EthAddress:
        """The caller as stated: nobody signed."""
        return self._caller


def override(state: MemoryState, overrides: Mapping[Address, Override]) -> None:
    """Write what the call pretends into the state; the caller of `execute` takes it back."""
    for raw_address, pretended in overrides.items():
        address = EthAddress(raw_address)
        if pretended.balance is not None:
            state.set_balance(address, pretended.balance)
        if pretended.nonce is not None:
            state.set_nonce(address, pretended.nonce)
        if pretended.code is not None:
            state.set_code(address, pretended.code)
        if pretended.state is not None:
            state.delete_storage(address)
        for slot, value in {**(pretended.state or {}), **pretended.state_diff}.items():
            state.set_storage(address, slot, value)


def execute(state: MemoryState, call: Call, chain_id: int) -> Execution:
    """Run a call on a state that the caller restores; raises `TransactionRefused` where it can't even begin."""
    if call.chain_id not in {None, chain_id}:
        raise TransactionRefused(f"invalid chain id: have {call.chain_id} want {chain_id}")
    sender = EthAddress(call.sender)
    transaction = _CallTransaction(call, chain_id, state.get_nonce(sender))
    check_gas(call.gas, transaction.intrinsic_gas, call.data, creates=call.to is None)
    balance = state.get_balance(sender)
    if balance < call.value:
        raise TransactionRefused(f"insufficient funds for transfer: have {balance} want {call.value}")
    executor = PragueTransactionExecutor(state)
    computation = executor.build_computation(executor.build_evm_message(transaction), transaction)
    return _execution(call, computation)


def _execution(call: Call, computation: ComputationAPI) -> Execution:
    needed = call.gas - computation.get_gas_remaining()
    refund = min(computation.get_gas_refund(), needed // EIP3529_MAX_REFUND_QUOTIENT)
    floor = floor_gas(call.data)
    error = computation.error if computation.is_error else None
    return Execution(computation.output, max(needed - refund, floor), max(needed, floor), error)


def estimate(run: Callable[[Call], Execution], call: Call) -> Execution:
    """The call run with the least gas limit that it succeeds with; as it is where it fails with all the gas there is.

    What a call uses is not always enough: a sub-call gets only 63 of 64 parts of what is left (EIP-150).
    """
    generous = run(call)
    if generous.error is not None:
        return generous
    low, high = generous.gas_needed, call.gas
    best = run(replace(call, gas=low))
    if best.error is None:
        return replace(best, gas_needed=low)
    while high - low > low // ESTIMATE_PRECISION:
        middle = min((low + high) // 2, low * 2)
        if run(replace(call, gas=middle)).error is None:
            high = middle
        else:
            low = middle
    return replace(generous, gas_needed=high)
