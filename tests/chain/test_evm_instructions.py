"""The machine's own instructions do to the letter what py-evm's do: programs made at random end alike on both."""

from __future__ import annotations

import pytest
from eth.exceptions import InvalidInstruction, InvalidJumpDestination
from eth.vm.forks.prague.opcodes import PRAGUE_OPCODES
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_node.chain.evm import EvmChain
from reference_node.chain.evm_calls import Call, Execution, Override
from reference_node.chain.evm_instructions import INSTRUCTIONS
from reference_node.chain.evm_machine import MemoryComputation

from . import UNHURRIED
from .bytecode import NAMES, assemble

PLACE = b"\x11" * 20

OURS = MemoryComputation.opcodes

THEIRS = OURS | {code: PRAGUE_OPCODES[code] for code in INSTRUCTIONS}

OTHERS = [NAMES[name] for name in ("SAR", "SLT", "BYTE", "MSTORE8", "MSIZE", "PC", "SHA3", "ADDRESS", "MCOPY", "GAS")]
"""Instructions of py-evm's that read what ours write, and the other way round."""

WORDS = st.one_of(
    st.integers(0, 300),
    st.integers(0, 2**256 - 1),
    st.sampled_from([2**255, 2**256 - 1, 2**128, 2**64 - 1]),
)

PUSHES = WORDS.map(lambda word: b"\x7f" + word.to_bytes(32, "big") if word > 0xFFFF else b"\x61" + word.to_bytes(2))

ANY_INSTRUCTION = st.sampled_from([*INSTRUCTIONS, *OTHERS]).map(lambda code: bytes([code]))

PROGRAMS = st.lists(st.one_of(PUSHES, ANY_INSTRUCTION), max_size=60).map(b"".join)

SHOWS_ALL = assemble("MSIZE MSTORE MSIZE MSTORE MSIZE MSTORE MSIZE 0 RETURN")
"""Returns the topmost three items and the whole memory."""


def outcome(execution: Execution) -> tuple[object, ...]:
    error = type(execution.error)
    if error is InvalidInstruction:  # what py-evm calls a jump to the operand of a PUSH
        error = InvalidJumpDestination
    return execution.output, execution.gas_used, execution.gas_needed, error


def both(program: bytes, data: bytes, gas: int = 60_000) -> list[tuple[object, ...]]:
    chain = EvmChain(1, lambda: 0)
    ended = []
    with pytest.MonkeyPatch.context() as patch:
        for instructions in (OURS, THEIRS):
            patch.setattr(MemoryComputation, "opcodes", instructions)
            ended.append(outcome(chain.run(Call(to=PLACE, data=data, gas=gas), {PLACE: Override(code=program)})))
    return ended


@settings(UNHURRIED, max_examples=400)
@given(PROGRAMS, st.binary(max_size=64))
def test_program_ends_as_on_py_evm(program: bytes, data: bytes) -> None:
    ours, theirs = both(program + SHOWS_ALL, data)
    assert ours == theirs


@settings(UNHURRIED, max_examples=20)
@given(st.lists(WORDS, min_size=3, max_size=3), st.data())
@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_instruction_does_the_same_to_any_words(instruction: int, words: list[int], data: st.DataObject) -> None:
    pushed = b"".join(b"\x7f" + word.to_bytes(32) for word in words) * 6
    operand = data.draw(st.binary(max_size=32))
    ours, theirs = both(pushed + bytes([instruction]) + operand.replace(b"\x5b", b"\x00") + SHOWS_ALL, b"\x99" * 40)
    assert ours == theirs


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
@pytest.mark.parametrize("depth", [0, 1, 2, 16, 1022, 1023, 1024])
def test_instruction_needs_the_same_of_the_stack(instruction: int, depth: int) -> None:
    ours, theirs = both(b"\x5f" * depth + bytes([instruction]), b"")
    assert ours == theirs


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_instruction_needs_the_same_gas(instruction: int) -> None:
    program = b"\x5f" * 17 + bytes([instruction])
    for gas in range(21_000 + 2 * 17 - 1, 21_000 + 2 * 17 + 12):
        ours, theirs = both(program, b"", gas)
        assert ours == theirs
