"""Calls of the in-memory chain, which leave no trace: views, what they pretend, estimates of gas."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from reference_node.chain import evm
from reference_node.chain.evm import EvmChain
from reference_node.chain.evm_calls import Call, Override
from reference_node.chain.evm_transactions import BLOCK_GAS_LIMIT
from reference_node.chain.interface import Reverted, TransactionRefused

from .bytecode import CLOCK, COUNTER, REVERTER, assemble, init_code, word
from .wallets import ALICE, BOB, Wallet

POOR = Wallet(0xDEAD)
MEGABYTE = 1024 * 1024


def test_call_leaves_no_trace(chain: EvmChain) -> None:
    contract = ALICE.deploy(chain, init_code(COUNTER))
    before = (chain.balance(BOB.address), chain.next_nonce(BOB.address), chain.blocks.latest)
    for _ in range(2):
        chain.call(contract, word(1) + word(2), BOB.address)
    chain.run(Call(sender=BOB.address, data=init_code(COUNTER), value=1))
    assert chain.storage(contract, 0) == 0
    assert (chain.balance(BOB.address), chain.next_nonce(BOB.address), chain.blocks.latest) == before
    assert ALICE.send(chain, contract, data=word(1) + word(2)).logs[0].data == word(1)


def test_calls_within_a_call_leave_no_memory_behind(chain: EvmChain) -> None:
    """Each of some 280 calls of the identity contract copies a megabyte."""
    copies = assemble(f"again: {MEGABYTE} 0 {MEGABYTE} 0 4 GAS STATICCALL POP @again JUMP")
    tracemalloc.start()
    try:
        execution = chain.run(Call(to=BOB.address), {BOB.address: Override(code=copies)})
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert execution.error is not None
    assert most < 30 * MEGABYTE


ENDLESS = {
    "jumps": assemble("again: @again JUMP"),
    "conditional jumps": assemble("again: 1 @again JUMPI"),
    "calls": assemble("again: 0 0 0 0 0 ADDRESS GAS CALL POP again: 0 0 0 0 0 4 GAS CALL POP") * 1000,
}


@pytest.mark.parametrize("runtime", ENDLESS.values(), ids=ENDLESS.keys())
def test_execution_that_takes_too_long_is_aborted(
    chain: EvmChain, monkeypatch: pytest.MonkeyPatch, runtime: bytes
) -> None:
    contract = ALICE.deploy(chain, init_code(runtime[:20_000]))
    before = (chain.blocks.latest, chain.balance(ALICE.address), chain.next_nonce(ALICE.address))
    call = Call(sender=ALICE.address, to=contract, seconds=0.02)
    with monkeypatch.context() as hurried:
        hurried.setattr(evm, "EXECUTION_SECONDS", 0.02)
        for execution in (chain.run(call), chain.estimate(call)):
            assert "took too long" in str(execution.error)
        with pytest.raises(Reverted):
            chain.call(contract, b"")
        with pytest.raises(TransactionRefused, match="took too long"):
            ALICE.send(chain, contract, gas=BLOCK_GAS_LIMIT)
    assert (chain.blocks.latest, chain.balance(ALICE.address), chain.next_nonce(ALICE.address)) == before
    assert ALICE.send(chain, BOB.address).succeeded


def test_stopped_chain_runs_nothing(chain: EvmChain) -> None:
    contract = ALICE.deploy(chain, init_code(CLOCK))
    chain.stop()
    assert "took too long" in str(chain.run(Call(to=contract)).error)
    with pytest.raises(TransactionRefused, match="took too long"):
        ALICE.send(chain, BOB.address)


def test_call_to_an_account_with_delegated_code_runs_it(chain: EvmChain) -> None:
    clock = ALICE.deploy(chain, init_code(CLOCK))
    ALICE.send(chain, BOB.address, authorizationList=[BOB.authorize(clock)])
    assert int.from_bytes(chain.call(BOB.address, b"")) == chain.timestamp()


def test_call_pretends_and_forgets(chain: EvmChain) -> None:
    reader = assemble("0 SLOAD 0 MSTORE 1 SLOAD 32 MSTORE SELFBALANCE 64 MSTORE 96 0 RETURN")
    contract = ALICE.deploy(chain, init_code(assemble("7 0 SSTORE 8 1 SSTORE")))
    ALICE.send(chain, contract)

    def read(**pretended: object) -> list[int]:
        override = {contract: Override(code=reader, **pretended)}  # type: ignore[arg-type]
        output = chain.run(Call(to=contract), override).output
        return [int.from_bytes(output[place : place + 32], "big") for place in (0, 32, 64)]

    assert read() == [7, 8, 0]
    assert read(balance=5) == [7, 8, 5]
    assert read(state_diff={1: 9}) == [7, 9, 0]
    assert read(state={1: 9}) == [0, 9, 0]
    assert [chain.storage(contract, slot) for slot in (0, 1)] == [7, 8]
    assert chain.code(contract) != reader


def test_pretended_nonce_decides_the_address_of_a_creation(chain: EvmChain) -> None:
    call = Call(sender=BOB.address, data=assemble("ADDRESS 0 MSTORE 32 0 RETURN"))
    addresses = {chain.run(call, {BOB.address: Override(nonce=nonce)}).output for nonce in (0, 1)}
    assert len(addresses) == 2


@pytest.mark.parametrize(
    "call",
    [
        Call(gas=BLOCK_GAS_LIMIT + 1),
        Call(gas=20_999),
        Call(sender=POOR.address, to=BOB.address, value=1),
        Call(data=bytes(49_153)),
    ],
    ids=["gas", "intrinsic", "funds", "init code"],
)
def test_call_that_cannot_begin_is_refused(chain: EvmChain, call: Call) -> None:
    with pytest.raises(TransactionRefused):
        chain.run(call)


def estimated(chain: EvmChain, call: Call) -> int:
    execution = chain.estimate(call)
    assert execution.error is None
    return execution.gas_needed


@pytest.mark.parametrize(
    ("members", "gas"),
    [({"value": 1}, 21_000), ({"data": b"\x01" * 4_000}, 181_000)],
    ids=["transfer", "data at its floor price"],
)
def test_estimate_of_what_runs_no_code_is_exact(chain: EvmChain, members: dict[str, Any], gas: int) -> None:
    assert estimated(chain, Call(sender=ALICE.address, to=BOB.address, **members)) == gas


def test_estimate_suffices_and_little_less_does_not(chain: EvmChain) -> None:
    # The inner call needs 100,000 gas left over to go on, so the outer one needs far more than it uses.
    inner = ALICE.deploy(chain, init_code(assemble("0x0186a0 GAS GT @enough JUMPI 0 0 REVERT enough:")))
    checked = f"0 0 0 0 0 0x{inner.hex()} GAS CALL @well JUMPI 0 0 REVERT well:"
    outer = ALICE.deploy(chain, init_code(assemble(checked)))
    call = Call(sender=ALICE.address, to=outer)
    gas = estimated(chain, call)
    assert gas > chain.estimate(call).gas_used + 90_000
    assert ALICE.send(chain, outer, gas=gas).succeeded
    assert not ALICE.send(chain, outer, gas=gas - gas // 30).succeeded


def test_estimate_of_a_refund_covers_the_peak(chain: EvmChain) -> None:
    contract = ALICE.deploy(chain, init_code(assemble("CALLVALUE 0 SSTORE")))
    ALICE.send(chain, contract, value=1)
    gas = estimated(chain, Call(sender=ALICE.address, to=contract))
    receipt = ALICE.send(chain, contract, gas=gas)
    assert receipt.succeeded
    assert receipt.gas_used < gas


def test_view_that_is_asked_again_sees_what_has_changed(chain: EvmChain) -> None:
    contract = ALICE.deploy(chain, init_code(assemble("SELFBALANCE 0 MSTORE CALLER 32 MSTORE 64 0 RETURN")))

    def seen(sender: bytes = BOB.address) -> tuple[int, int]:
        answer = chain.call(contract, b"", sender)
        assert chain.call(contract, b"", sender) == answer
        return int.from_bytes(answer[:32]), int.from_bytes(answer[32:])

    assert seen() == (0, int.from_bytes(BOB.address))
    assert seen(ALICE.address) == (0, int.from_bytes(ALICE.address))
    chain.fund(contract, 5)
    assert seen()[0] == 5
    ALICE.send(chain, contract, value=6)
    assert seen()[0] == 11


def test_view_of_one_moment_runs_once(chain: EvmChain, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = ALICE.deploy(chain, init_code(REVERTER))
    ran: list[Call] = []
    run = chain.run
    monkeypatch.setattr(chain, "run", lambda call: ran.append(call) or run(call))
    for _ in range(3):
        with pytest.raises(Reverted):
            chain.call(contract, b"")
    assert len(ran) == 1
