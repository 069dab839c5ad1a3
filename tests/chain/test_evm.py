"""The in-memory chain itself: time, refusals at the door, calls that leave no trace."""

from __future__ import annotations

import pytest
import rlp
from eth_account import Account
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_node.chain import evm
from reference_node.chain.evm import BASE_FEE, EvmChain
from reference_node.chain.evm_calls import Call, Override
from reference_node.chain.evm_machine import jump_targets
from reference_node.chain.evm_transactions import BLOCK_GAS_LIMIT
from reference_node.chain.interface import Reverted, TransactionRefused

from . import UNHURRIED
from .bytecode import CLOCK, COUNTER, CUSTOM_ERROR, REVERTER, assemble, init_code, word
from .wallets import ALICE, BOB, CHAIN_ID, RICH, Clock, Wallet, rich_chain

POOR = Wallet(0xDEAD)


def seen_time(chain: EvmChain, contract: bytes) -> int:
    return int.from_bytes(chain.call(contract, b""), "big")


def mined_time(chain: EvmChain) -> int:
    ALICE.send(chain, BOB.address)
    return chain.blocks.latest.timestamp


def test_block_time_follows_the_clock_at_once() -> None:
    clock = Clock(1_000)
    chain = EvmChain(CHAIN_ID, clock, {ALICE.address: RICH})
    assert chain.blocks.latest.timestamp == 1_000
    clock.now = 5_000
    assert mined_time(chain) == 5_000


def test_block_time_never_goes_back() -> None:
    clock = Clock(5_000)
    chain = EvmChain(CHAIN_ID, clock, {ALICE.address: RICH})
    clock.now = 4_000
    assert chain.timestamp() == mined_time(chain) == 5_000
    clock.now = 5_001
    assert chain.timestamp() == mined_time(chain) == 5_001


def test_call_sees_the_live_clock_without_a_new_block() -> None:
    clock = Clock(1_000)
    chain = EvmChain(CHAIN_ID, clock, {ALICE.address: RICH})
    contract = ALICE.deploy(chain, init_code(CLOCK))
    clock.now = 9_000
    assert seen_time(chain, contract) == chain.timestamp() == 9_000
    clock.now = 10
    assert seen_time(chain, contract) == chain.timestamp() == 1_000


def test_transaction_sees_the_time_of_its_block() -> None:
    clock = Clock(1_000)
    chain = EvmChain(CHAIN_ID, clock, {ALICE.address: RICH})
    contract = ALICE.deploy(chain, init_code(assemble("TIMESTAMP 0 SSTORE")))
    clock.now = 1_234
    ALICE.send(chain, contract)
    assert chain.storage(contract, 0) == chain.blocks.latest.timestamp == 1_234


def test_blockhash_names_the_blocks_before(chain: EvmChain) -> None:
    contract = ALICE.deploy(
        chain, init_code(assemble("1 NUMBER SUB BLOCKHASH 0 SSTORE 2 NUMBER SUB BLOCKHASH 1 SSTORE"))
    )
    ALICE.send(chain, contract)
    hashes = [block.hash for block in chain.blocks.between(0, 1)]
    assert [word(chain.storage(contract, slot)) for slot in (1, 0)] == hashes


def test_blocks_form_a_chain_with_one_transaction_each(chain: EvmChain) -> None:
    hashes = [ALICE.send(chain, BOB.address).transaction_hash for _ in range(3)]
    blocks = chain.blocks.between(0, 9)
    assert [block.number for block in blocks] == [0, 1, 2, 3]
    assert [block.parent_hash for block in blocks[1:]] == [block.hash for block in blocks[:-1]]
    assert [block.transaction.receipt.transaction_hash for block in blocks if block.transaction] == hashes


REFUSALS = {
    "chain id of another chain": (
        ALICE.sign(0, BOB.address, chain_id=1),
        "invalid chain id for signer: have 1 want 31337",
    ),
    "legacy, chain id of another chain": (
        ALICE.sign(0, BOB.address, chain_id=1, gasPrice=10**10),
        "invalid chain id for signer: have 1 want 31337",
    ),
    "nonce too high": (ALICE.sign(1, BOB.address), "nonce too high: next nonce 0, tx nonce 1"),
    "funds for the value": (ALICE.sign(0, BOB.address, value=RICH), "insufficient funds for gas * price + value: have"),
    "funds for the gas": (POOR.sign(0, BOB.address), "insufficient funds for gas * price + value: have 0 want"),
    "intrinsic gas": (ALICE.sign(0, BOB.address, gas=20_999), "intrinsic gas too low: gas 20999, minimum needed 21000"),
    "intrinsic gas of data": (
        ALICE.sign(0, BOB.address, gas=21_039, data=b"\x01"),
        "intrinsic gas too low: gas 21039, minimum needed 21040",
    ),
    "gas above the limit": (ALICE.sign(0, BOB.address, gas=BLOCK_GAS_LIMIT + 1), "exceeds block gas limit"),
    "fee below the base fee": (
        ALICE.sign(0, BOB.address, maxFeePerGas=BASE_FEE - 1, maxPriorityFeePerGas=0),
        "max fee per gas less than block base fee",
    ),
    "legacy price below the base fee": (
        ALICE.sign(0, BOB.address, gasPrice=1),
        "max fee per gas less than block base fee",
    ),
    "tip above the fee": (
        ALICE.sign(0, BOB.address, maxFeePerGas=2 * BASE_FEE, maxPriorityFeePerGas=3 * BASE_FEE),
        "max priority fee per gas higher than max fee per gas",
    ),
    "too long init code": (ALICE.sign(0, data=bytes(49_153), gas=5_000_000), "max initcode size exceeded"),
    "nothing": (b"", "invalid transaction"),
    "not RLP": (b"\xff\xff", "invalid transaction"),
    "unknown type": (b"\x7f\xc0", "invalid transaction"),
    "type 3": (b"\x03" + rlp.encode([b""] * 14), "invalid transaction"),
    "lists in lists": (b"\xc1" * 20_000, "invalid transaction: lists within lists"),
    "bytes at the end": (ALICE.sign(0, BOB.address) + b"\x00", "invalid transaction"),
}


@pytest.mark.parametrize(("raw", "reason"), REFUSALS.values(), ids=REFUSALS.keys())
def test_transaction_is_refused_with_its_reason(chain: EvmChain, raw: bytes, reason: str) -> None:
    with pytest.raises(TransactionRefused) as refused:
        chain.send(raw)
    assert refused.value.reason.startswith(reason)
    assert chain.blocks.latest.number == 0
    assert chain.next_nonce(ALICE.address) == 0
    assert chain.balance(ALICE.address) == RICH


def test_accepted_control_of_the_refusals_is_mined(chain: EvmChain) -> None:
    assert chain.send(ALICE.sign(0, BOB.address, gas=21_040, data=b"\x01")).succeeded


def test_blob_transaction_is_refused_as_unsupported(chain: EvmChain) -> None:
    fields = [CHAIN_ID, 0, 1, 10**10, 21_000, BOB.address, 0, b"", [], 1, [b"\x01" + bytes(31)], 0, 1, 1]
    with pytest.raises(TransactionRefused, match="type not supported"):
        chain.send(b"\x03" + rlp.encode(fields))


def test_used_nonce_is_refused(chain: EvmChain) -> None:
    chain.send(ALICE.sign(0, BOB.address))
    with pytest.raises(TransactionRefused, match="nonce too low: next nonce 1, tx nonce 0"):
        chain.send(ALICE.sign(0, BOB.address, value=1))


def test_same_transaction_again_is_refused(chain: EvmChain) -> None:
    raw = ALICE.sign(0, BOB.address)
    chain.send(raw)
    with pytest.raises(TransactionRefused, match="already known"):
        chain.send(raw)


def test_transaction_without_replay_protection_is_refused(chain: EvmChain) -> None:
    unsigned = {"nonce": 0, "gas": 21_000, "gasPrice": 10**10, "value": 0, "to": BOB.address}
    raw = bytes(Account.sign_transaction(unsigned, ALICE.key).raw_transaction)
    with pytest.raises(TransactionRefused, match="replay-protected"):
        chain.send(raw)


def test_signature_in_the_upper_half_is_refused(chain: EvmChain) -> None:
    fields = rlp.decode(ALICE.sign(0, BOB.address)[1:])
    order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
    parity, s = int.from_bytes(fields[9], "big"), int.from_bytes(fields[11], "big")
    fields[9], fields[11] = rlp.encode(1 - parity)[:1].strip(b"\x80"), (order - s).to_bytes(32, "big")
    with pytest.raises(TransactionRefused, match="S value"):
        chain.send(b"\x02" + rlp.encode(fields))
    assert chain.next_nonce(ALICE.address) == 0


VALID = [
    ALICE.sign(0, BOB.address),
    ALICE.sign(0, BOB.address, gasPrice=10**10),
    ALICE.sign(0, BOB.address, gasPrice=10**10, accessList=[]),
    ALICE.sign(
        0,
        BOB.address,
        authorizationList=[
            Account.sign_authorization({"chainId": 0, "address": "0x" + "11" * 20, "nonce": 0}, BOB.key),
        ],
    ),
]


@settings(UNHURRIED)
@given(
    raw=st.sampled_from(VALID), position=st.integers(0, 400), patch=st.binary(min_size=1, max_size=3), cut=st.booleans()
)
def test_damaged_transaction_is_refused(raw: bytes, position: int, patch: bytes, cut: bool) -> None:
    place = position % len(raw)
    damaged = raw[:place] + patch + (b"" if cut else raw[place + len(patch) :])
    chain = rich_chain()
    if damaged != raw:
        with pytest.raises(TransactionRefused):
            chain.send(damaged)
        assert chain.balance(ALICE.address) == RICH


@settings(UNHURRIED)
@given(st.binary(max_size=200))
def test_random_bytes_are_refused(raw: bytes) -> None:
    with pytest.raises(TransactionRefused):
        rich_chain().send(raw)


def test_selfdestruct_is_no_warning_in_python(chain: EvmChain) -> None:
    assert ALICE.send(chain, data=assemble("CALLER SELFDESTRUCT")).succeeded


def test_call_leaves_no_trace(chain: EvmChain) -> None:
    contract = ALICE.deploy(chain, init_code(COUNTER))
    before = (chain.balance(BOB.address), chain.next_nonce(BOB.address), chain.blocks.latest)
    for _ in range(2):
        chain.call(contract, word(1) + word(2), BOB.address)
    chain.run(Call(sender=BOB.address, data=init_code(COUNTER), value=1))
    assert chain.storage(contract, 0) == 0
    assert (chain.balance(BOB.address), chain.next_nonce(BOB.address), chain.blocks.latest) == before
    assert ALICE.send(chain, contract, data=word(1) + word(2)).logs[0].data == word(1)


def test_call_raises_what_the_contract_reverts_with(chain: EvmChain) -> None:
    contract = ALICE.deploy(chain, init_code(REVERTER))
    with pytest.raises(Reverted) as reverted:
        chain.call(contract, b"")
    assert reverted.value.data == CUSTOM_ERROR
    receipt = ALICE.send(chain, contract)
    assert (receipt.succeeded, receipt.revert_data) == (False, CUSTOM_ERROR)


def test_call_that_never_ends_runs_out_of_gas(chain: EvmChain) -> None:
    contract = ALICE.deploy(chain, init_code(assemble("JUMPDEST 0 JUMP")))
    execution = chain.run(Call(to=contract, gas=100_000))
    assert execution.error is not None
    assert execution.gas_used == 100_000
    assert not execution.reverted


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
    call = Call(sender=ALICE.address, to=contract)
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
    authorization = {"chainId": CHAIN_ID, "address": "0x" + clock.hex(), "nonce": 0}
    ALICE.send(chain, BOB.address, authorizationList=[Account.sign_authorization(authorization, BOB.key)])
    assert seen_time(chain, BOB.address) == chain.timestamp()


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


def test_estimate_of_a_transfer_is_exact(chain: EvmChain) -> None:
    assert estimated(chain, Call(sender=ALICE.address, to=BOB.address, value=1)) == 21_000


def test_estimate_of_data_at_its_floor_price_is_exact(chain: EvmChain) -> None:
    assert estimated(chain, Call(sender=ALICE.address, to=BOB.address, data=b"\x01" * 4_000)) == 181_000


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


def test_estimate_of_a_refusal_tells_why(chain: EvmChain) -> None:
    contract = ALICE.deploy(chain, init_code(REVERTER))
    execution = chain.estimate(Call(to=contract))
    assert execution.reverted
    assert execution.output == CUSTOM_ERROR


def test_fund_adds_without_a_block(chain: EvmChain) -> None:
    chain.fund(POOR.address, 5)
    chain.fund(POOR.address, 6)
    assert chain.balance(POOR.address) == 11
    assert chain.blocks.latest.number == 0


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


@settings(UNHURRIED)
@given(st.binary(max_size=200))
def test_jump_targets_are_what_a_disassembler_shows_as_such(code: bytes) -> None:
    expected, position = set(), 0
    while position < len(code):
        if code[position] == 0x5B:
            expected.add(position)
        position += 1 + (code[position] - 0x5F if 0x60 <= code[position] <= 0x7F else 0)
    assert jump_targets(code) == expected


def test_jump_behind_a_long_run_of_pushes_lands_on_instructions_only(chain: EvmChain) -> None:
    # 20,000 PUSH1 in a row: a search backwards for the beginning of each would go as many calls deep.
    jump = assemble("0x4e24 JUMP")
    for pushes, lands in ((b"\x60" * 20_000, True), (b"\x00" + b"\x60" * 19_999, False)):
        contract = ALICE.deploy(chain, init_code(jump + pushes + b"\x5b"))
        assert ALICE.send(chain, contract).succeeded is lands
