"""The instructions that contracts mostly consist of, written for speed: with the same effects as py-evm's own.

py-evm spends most of its time between an instruction and the stack. Here stack, gas and code are reached directly.
What is rarer, or costs more the more it does, stays py-evm's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, cast

from eth.abc import OpcodeAPI
from eth.constants import GAS_BASE, GAS_HIGH, GAS_JUMPDEST, GAS_LOW, GAS_MID, GAS_VERYLOW, UINT_256_MAX
from eth.exceptions import FullStack, InsufficientStack, InvalidJumpDestination, OutOfGas, VMError
from eth.vm import opcode_values as code_of
from eth.vm.logic import memory

from reference_node.chain.evm_timed import TimedComputation

STACK_LIMIT = 1024

WORD = 32

Stack: TypeAlias = "list[Any]"
"""The top is last. Integers, and bytes where one of py-evm's own instructions left them: they stand for one another."""

Effect: TypeAlias = Callable[[TimedComputation, Stack], None]


def instruction(cost: int, takes: int, gives: int, effect: Effect) -> OpcodeAPI:
    """An instruction of fixed cost. Its effect finds what it takes on the stack, and room for what it gives."""
    most = STACK_LIMIT - max(0, gives - takes)

    def run(computation: TimedComputation) -> None:
        meter = computation._gas_meter
        if meter.gas_remaining < cost:
            raise OutOfGas(f"{cost} gas is needed, {meter.gas_remaining} is left")
        meter.gas_remaining -= cost
        stack: Stack = computation._stack.values
        if not takes <= len(stack) <= most:
            raise _misfit(takes, len(stack))
        effect(computation, stack)

    return cast(OpcodeAPI, run)  # the machine calls instructions and asks nothing else of them


def _misfit(takes: int, found: int) -> VMError:
    if found < takes:
        return InsufficientStack(f"Wanted {takes} stack items, only had {found}")
    return FullStack("Stack limit reached")


def _integer(value: int | bytes) -> int:
    return value if isinstance(value, int) else int.from_bytes(value)


def _push(size: int) -> OpcodeAPI:
    def effect(computation: TimedComputation, stack: Stack) -> None:
        code = computation.code
        at = code.program_counter
        code.program_counter = at + size
        operand = code.raw[at : at + size]
        stack.append(int.from_bytes(operand) << 8 * (size - len(operand)))  # code may end within its last operand

    return instruction(GAS_VERYLOW if size else GAS_BASE, 0, 1, effect)


def _dup(depth: int) -> OpcodeAPI:
    def effect(_: TimedComputation, stack: Stack) -> None:
        stack.append(stack[-depth])

    return instruction(GAS_VERYLOW, depth, depth + 1, effect)


def _swap(depth: int) -> OpcodeAPI:
    other = -1 - depth

    def effect(_: TimedComputation, stack: Stack) -> None:
        stack[-1], stack[other] = stack[other], stack[-1]

    return instruction(GAS_VERYLOW, depth + 1, depth + 1, effect)


def _binary(cost: int, operate: Callable[[int, int], int]) -> OpcodeAPI:
    def effect(_: TimedComputation, stack: Stack) -> None:
        left = stack.pop()
        right = stack[-1]
        if isinstance(left, bytes):
            left = int.from_bytes(left)
        if isinstance(right, bytes):
            right = int.from_bytes(right)
        stack[-1] = operate(left, right) & UINT_256_MAX

    return instruction(cost, 2, 1, effect)


def _is_zero(_: TimedComputation, stack: Stack) -> None:
    stack[-1] = int(_integer(stack[-1]) == 0)


def _invert(_: TimedComputation, stack: Stack) -> None:
    stack[-1] = UINT_256_MAX - _integer(stack[-1])


def _discard(_: TimedComputation, stack: Stack) -> None:
    stack.pop()


def _nothing(_: TimedComputation, stack: Stack) -> None:
    """`JUMPDEST` does nothing."""


def _jump(computation: TimedComputation, stack: Stack) -> None:
    computation.state.check_time()  # nothing goes on for long without jumps or calls, and at calls it is watched too
    _go_to(computation, _integer(stack.pop()))


def _jump_if(computation: TimedComputation, stack: Stack) -> None:
    computation.state.check_time()
    target, condition = stack.pop(), stack.pop()
    if _integer(condition):
        _go_to(computation, _integer(target))


def _go_to(computation: TimedComputation, target: int) -> None:
    if target not in computation.code.targets:
        raise InvalidJumpDestination("Invalid Jump Destination")
    computation.code.program_counter = target


def _load_call_data(computation: TimedComputation, stack: Stack) -> None:
    at = _integer(stack[-1])
    stack[-1] = int.from_bytes(computation.msg.data_as_bytes[at : at + WORD].ljust(WORD, b"\x00"))


def _load(computation: TimedComputation, stack: Stack) -> None:
    at = _integer(stack[-1])
    held = computation._memory
    if at + WORD > len(held):
        memory.mload(computation)
    else:
        stack[-1] = int.from_bytes(held.read_bytes(at, WORD))


def _store(computation: TimedComputation, stack: Stack) -> None:
    at = _integer(stack[-1])
    held = computation._memory
    if at + WORD > len(held):
        memory.mstore(computation)
    else:
        stack.pop()
        held._bytes[at : at + WORD] = _integer(stack.pop()).to_bytes(WORD)


def _all() -> Iterator[tuple[int, OpcodeAPI]]:
    for size in range(WORD + 1):
        yield code_of.PUSH1 - 1 + size, _push(size)
    for depth in range(1, 17):
        yield code_of.DUP1 - 1 + depth, _dup(depth)
        yield code_of.SWAP1 - 1 + depth, _swap(depth)
    for code, cost, operate in BINARY:
        yield code, _binary(cost, operate)
    for code, cost, takes, gives, effect in OTHERS:
        yield code, instruction(cost, takes, gives, effect)


BINARY: tuple[tuple[int, int, Callable[[int, int], int]], ...] = (
    (code_of.ADD, GAS_VERYLOW, operator.add),
    (code_of.SUB, GAS_VERYLOW, operator.sub),
    (code_of.MUL, GAS_LOW, operator.mul),
    (code_of.DIV, GAS_LOW, lambda left, right: left // right if right else 0),
    (code_of.MOD, GAS_LOW, lambda left, right: left % right if right else 0),
    (code_of.LT, GAS_VERYLOW, operator.lt),
    (code_of.GT, GAS_VERYLOW, operator.gt),
    (code_of.EQ, GAS_VERYLOW, operator.eq),
    (code_of.AND, GAS_VERYLOW, operator.and_),
    (code_of.OR, GAS_VERYLOW, operator.or_),
    (code_of.XOR, GAS_VERYLOW, operator.xor),
    (code_of.SHL, GAS_VERYLOW, lambda shift, value: value << shift if shift < 256 else 0),
    (code_of.SHR, GAS_VERYLOW, lambda shift, value: value >> shift if shift < 256 else 0),
)

OTHERS: tuple[tuple[int, int, int, int, Effect], ...] = (
    (code_of.ISZERO, GAS_VERYLOW, 1, 1, _is_zero),
    (code_of.NOT, GAS_VERYLOW, 1, 1, _invert),
    (code_of.POP, GAS_BASE, 1, 0, _discard),
    (code_of.JUMPDEST, GAS_JUMPDEST, 0, 0, _nothing),
    (code_of.JUMP, GAS_MID, 1, 0, _jump),
    (code_of.JUMPI, GAS_HIGH, 2, 0, _jump_if),
    (code_of.CALLDATALOAD, GAS_VERYLOW, 1, 1, _load_call_data),
    (code_of.MLOAD, GAS_VERYLOW, 1, 1, _load),
    (code_of.MSTORE, GAS_VERYLOW, 2, 0, _store),
)

INSTRUCTIONS = dict(_all())
"""By their byte."""
