"""The in-memory chain does what eth-tester does: same status, gas, logs, storage, on every kind of transaction."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from eth._utils.address import generate_contract_address, generate_safe_contract_address
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_node.chain.evm_transactions import TRANSACTION_GAS

from . import UNHURRIED
from .bytecode import COUNTER, CUSTOM_ERROR, NAMES, REVERTER, STORE, assemble, init_code, word
from .oracle import TESTER_CHAIN_ID, Pair
from .wallets import ALICE, BOB, Wallet

# eth-tester's side of it: py-evm tells contract authors of its future.
pytestmark = pytest.mark.filterwarnings("ignore:SELFDESTRUCT opcode present:DeprecationWarning")

NEW = b"\x77" * 20


@pytest.fixture
def pair() -> Pair:
    return Pair()


@pytest.mark.parametrize(
    "sends",
    [
        [{"to": BOB.address, "value": 5}],
        [{"to": BOB.address, "value": 1, "gasPrice": 10**10}],
        [{"to": NEW, "value": 5}],
        [{"to": NEW}, {"to": NEW, "value": 1}],
    ],
    ids=["existing account", "legacy", "new account", "nothing"],
)
def test_transfers_are_the_same(pair: Pair, sends: list[dict[str, Any]]) -> None:
    for values in sends:
        assert pair.send(**values).gas_used == TRANSACTION_GAS
    pair.compare()
    assert pair.chain.balance(sends[-1]["to"]) > 0


@pytest.mark.parametrize(
    ("code", "values", "output"),
    [
        (REVERTER, {"value": 9}, CUSTOM_ERROR),
        (init_code(b"\xef\x01"), {}, b""),
        (init_code(bytes(5_000)), {"gas": 600_000}, b""),
    ],
    ids=["reverts", "reserved code", "out of gas for its code"],
)
def test_creations_that_fail_are_the_same(pair: Pair, code: bytes, values: dict[str, Any], output: bytes) -> None:
    outcome = pair.send(data=code, **values)
    assert (outcome.succeeded, outcome.output) == (False, output)
    pair.compare(generate_contract_address(ALICE.address, 0))


CHILD = init_code(assemble("1 0 SSTORE"))
BLOCK_VALUES = ["NUMBER", "CHAINID", "GASLIMIT POP 1", "COINBASE", "ADDRESS", "ORIGIN", "CALLER", "BLOBBASEFEE"]

PROGRAMS: dict[str, tuple[str, list[dict[str, Any]], dict[int, int]]] = {
    "set and cleared": ("1 0 SSTORE 0 0 SSTORE 5 1 SSTORE 6 1 SSTORE", [{}, {}], {0: 0, 1: 6}),
    "memory written twice": ("1 0 MSTORE 2 0 MSTORE 0 MLOAD 0 SSTORE", [{}], {0: 2}),
    "refund of more than a fifth": (
        " ".join(f"CALLVALUE {slot} SSTORE" for slot in range(8)),
        [{"value": 1}, {"value": 0}],
        {0: 0, 7: 0},
    ),
    "precompile called": ("32 0 64 0 0 2 GAS CALL POP 0 MLOAD 0 SSTORE", [{}], {}),
    "create and call": (
        f"0x{CHILD.hex()} 0 MSTORE {len(CHILD)} {32 - len(CHILD)} 0 CREATE 0 SSTORE "
        "0 0 0 0 0 0 SLOAD GAS CALL 1 SSTORE",
        [{}],
        {1: 1},
    ),
    "value to a new account": (
        f"0 0 0 0 CALLVALUE 0x{NEW.hex()} GAS CALL 0 SSTORE",
        [{"value": 3}, {"value": 0}],
        {0: 1},
    ),
    "transient storage": ("0 TLOAD 1 ADD DUP1 0 TSTORE 0 SSTORE", [{}, {}], {0: 1}),
    # Called by itself it writes and reverts; called from outside it notes what is left of that.
    "transient storage of a reverted call": (
        "ADDRESS CALLER EQ @inner JUMPI 0 0 0 0 0 ADDRESS GAS CALL POP 1 TLOAD 1 ADD 0 SSTORE STOP "
        "inner: 9 1 TSTORE 1 1 SSTORE 0 0 REVERT",
        [{}],
        {0: 1, 1: 0},
    ),
    "selfdestruct of an old contract": (f"1 0 SSTORE 0x{NEW.hex()} SELFDESTRUCT", [{"value": 11}], {0: 1}),
    "deep recursion": ("0 SLOAD 1 ADD 0 SSTORE 0 0 0 0 0 ADDRESS GAS CALL POP", [{"gas": 20_000_000}], {}),
    "block values": (
        " ".join(f"{source} {slot} SSTORE" for slot, source in enumerate(BLOCK_VALUES)),
        [{}],
        {1: TESTER_CHAIN_ID},
    ),
    **{
        f"log with {topics} topics": (
            f"0xabcdef 0 MSTORE {' '.join(str(100 + index) for index in range(topics))} 32 0 LOG{topics}",
            [{}],
            {},
        )
        for topics in range(5)
    },
}
"""A contract's code, what is sent to it, and what its storage then holds."""


@pytest.mark.parametrize(("source", "sends", "slots"), PROGRAMS.values(), ids=PROGRAMS)
def test_programs_are_the_same(pair: Pair, source: str, sends: list[dict[str, Any]], slots: dict[int, int]) -> None:
    contract = pair.deploy(init_code(assemble(source)))
    assert all(pair.send(contract, **values).succeeded for values in sends)
    pair.compare(NEW)
    assert {slot: pair.chain.storage(contract, slot) for slot in slots} == slots


@pytest.mark.parametrize(
    ("code", "gas"),
    [(REVERTER, 100_000), (assemble("JUMPDEST 0 JUMP"), 50_000), (b"\xfe", 100_000)],
    ids=["custom error", "out of gas", "invalid instruction"],
)
def test_programs_that_fail_are_the_same(pair: Pair, code: bytes, gas: int) -> None:
    outcome = pair.send(pair.deploy(init_code(code)), gas=gas)
    assert not outcome.succeeded
    assert (outcome.output == CUSTOM_ERROR) == (code is REVERTER)
    pair.compare()


@pytest.mark.parametrize("original", [0, 1])
@pytest.mark.parametrize("values", list(product(range(3), repeat=3)), ids=str)
def test_slot_written_three_times_in_one_transaction_is_the_same(
    pair: Pair, original: int, values: tuple[int, int, int]
) -> None:
    writes = " ".join(f"{place} CALLDATALOAD 0 SSTORE" for place in (0, 32, 64))
    contract = pair.deploy(init_code(assemble(writes)))
    pair.send(contract, data=word(original) * 3)
    pair.send(contract, data=b"".join(map(word, values)))
    pair.compare()


def test_slot_and_account_are_cold_again_after_a_reverted_call(pair: Pair) -> None:
    inner = pair.deploy(init_code(assemble(f"0x{NEW.hex()} BALANCE POP 0 SLOAD POP 0 0 REVERT")))
    source = f"0 0 0 0 0x{inner.hex()} GAS DELEGATECALL POP 0x{NEW.hex()} BALANCE POP 0 SLOAD POP"
    pair.send(pair.deploy(init_code(assemble(source))))


def test_account_that_only_a_call_touched_does_not_exist(pair: Pair) -> None:
    stranger = Wallet(0x5742)
    pair.chain.call(stranger.address, b"")
    pair.send(BOB.address, authorizationList=[stranger.authorize(BOB.address, chain_id=0)])
    pair.compare(stranger.address)


def test_logs_of_nested_calls_are_in_the_same_order(pair: Pair) -> None:
    inner = pair.deploy(init_code(assemble("2 0 0 LOG1")))
    call = f"0 0 0 0 0 0x{inner.hex()} GAS CALL POP"
    outer = pair.deploy(init_code(assemble(f"1 0 0 LOG1 {call} 3 0 0 LOG1 {call}")))
    assert [topics[0] for _, topics, _ in pair.send(outer).logs] == [1, 2, 3, 2]


def test_logs_of_a_reverted_inner_call_are_dropped_alike(pair: Pair) -> None:
    inner = pair.deploy(init_code(assemble("1 7 SSTORE 2 0 0 LOG1 0 0 REVERT")))
    outer = pair.deploy(init_code(assemble(f"0 0 0 0 0 0x{inner.hex()} GAS CALL 0 SSTORE 1 0 0 LOG1")))
    assert len(pair.send(outer).logs) == 1
    pair.compare()


def test_selfdestruct_in_the_creating_transaction_is_the_same(pair: Pair) -> None:
    assert pair.send(data=assemble(f"1 0 SSTORE 0x{BOB.address.hex()} SELFDESTRUCT"), value=11).succeeded
    pair.compare(generate_contract_address(ALICE.address, 0))


@pytest.mark.parametrize("precompile", [*range(1, 18), 0x100])
def test_precompiles_are_the_same(pair: Pair, precompile: int) -> None:
    address = precompile.to_bytes(20, "big")
    pair.send(address, data=b"precompiled", value=1, gas=200_000)
    pair.send(address, data=word(1) * 6, gas=200_000)
    pair.compare()


def test_create2_is_the_same(pair: Pair) -> None:
    child = init_code(STORE)
    factory = pair.deploy(init_code(assemble(f"0x{child.hex()} 0 MSTORE 42 {len(child)} {32 - len(child)} 0 CREATE2")))
    pair.send(factory)
    pair.send(factory)
    address = generate_safe_contract_address(factory, 42, child)
    pair.compare(address)
    assert pair.chain.code(address) == STORE


@pytest.mark.parametrize("instruction", ["DELEGATECALL", "STATICCALL", "CALLCODE", "CALL"])
def test_calls_into_a_library_are_the_same(pair: Pair, instruction: str) -> None:
    library = pair.deploy(init_code(assemble("ADDRESS 3 SSTORE CALLER 4 SSTORE CALLVALUE 5 SSTORE")))
    value = "" if instruction in {"DELEGATECALL", "STATICCALL"} else "1"
    caller = pair.deploy(init_code(assemble(f"0 0 0 0 {value} 0x{library.hex()} GAS {instruction} 0 SSTORE")))
    pair.send(caller, value=1)
    pair.compare(library)


def test_access_list_is_the_same(pair: Pair) -> None:
    contract = pair.deploy(init_code(assemble("0 SLOAD POP 1 SLOAD POP 2 SLOAD POP")))
    access_list = [{"address": "0x" + contract.hex(), "storageKeys": ["0x" + word(slot).hex() for slot in range(2)]}]
    listed = pair.send(contract, accessList=access_list, gasPrice=10**10)
    dynamic = pair.send(contract, accessList=access_list)
    assert listed.gas_used == dynamic.gas_used != pair.send(contract).gas_used


def test_set_code_transaction_is_the_same(pair: Pair) -> None:
    counter = pair.deploy(init_code(COUNTER))
    pair.send(BOB.address, authorizationList=[BOB.authorize(counter, TESTER_CHAIN_ID)], data=word(1) + word(2))
    assert pair.send(BOB.address, data=word(1) + word(2)).logs
    pair.compare()
    assert pair.chain.storage(BOB.address, 0) == 2


def test_data_floor_is_the_same(pair: Pair) -> None:
    assert pair.send(BOB.address, data=b"\x01" * 4_000).gas_used == TRANSACTION_GAS + 4_000 * 40
    pair.send(BOB.address, data=bytes(4_000))
    pair.compare()


def test_payment_for_gas_leaves_what_the_receipt_says(pair: Pair) -> None:
    before = pair.chain.balance(BOB.address)
    outcome = pair.send(data=init_code(STORE), sender=BOB, maxFeePerGas=3 * 10**9, maxPriorityFeePerGas=5)
    assert before - pair.chain.balance(BOB.address) == outcome.gas_used * (10**9 + 5)


# What makes outcomes depend on the chain rather than on the rules.
UNEQUAL = {"TIMESTAMP", "BLOCKHASH", "GASLIMIT", "DIFFICULTY", "BASEFEE", "GASPRICE", "BALANCE", "SELFBALANCE"}
PUSHES = {f"PUSH{length}" for length in range(33)}
WORDS = sorted(set(NAMES) - UNEQUAL - PUSHES)
ADDRESSES = ["ADDRESS", "CALLER", "2", "4", f"0x{BOB.address.hex()}", f"0x{NEW.hex()}"]

numbers = st.sampled_from(["0", "1", "2", "3", "4", "32", "33", "64", "0xffff", "0x" + "ff" * 32])
calls = st.builds(
    lambda instruction, gas, to, value, size: (
        f"{size} 0 {size} 0 {value if instruction in {'CALL', 'CALLCODE'} else ''} {to} {gas} {instruction}"
    ),
    st.sampled_from(["CALL", "CALLCODE", "DELEGATECALL", "STATICCALL"]),
    st.sampled_from(["GAS", "0", "3000", "0xffff"]),
    st.sampled_from(ADDRESSES),
    st.sampled_from(["0", "1", "CALLVALUE"]),
    numbers,
)
stores = st.builds(
    lambda value, slot, to: f"{value} {slot} {to}", numbers, numbers, st.sampled_from(["SSTORE", "TSTORE"])
)
programs = st.lists(st.one_of(numbers, st.sampled_from(WORDS), calls, stores), max_size=40).map(" ".join)


@settings(UNHURRIED, max_examples=60)
@given(
    runtimes=st.lists(programs, min_size=1, max_size=2),
    sends=st.lists(st.tuples(st.integers(0, 1), st.binary(max_size=70), st.integers(0, 2)), min_size=1, max_size=4),
)
def test_random_programs_are_the_same(runtimes: list[str], sends: list[tuple[int, bytes, int]]) -> None:
    pair = Pair()
    contracts = [pair.deploy(init_code(assemble(runtime))) for runtime in runtimes if runtime] or [BOB.address]
    for choice, data, value in sends:
        pair.send(contracts[choice % len(contracts)], data=data, value=value, gas=300_000)
    pair.compare(NEW)


@settings(UNHURRIED, max_examples=40)
@given(code=st.binary(max_size=80), value=st.integers(0, 1))
def test_random_bytes_as_init_code_are_the_same(code: bytes, value: int) -> None:
    unequal = {NAMES[name] for name in UNEQUAL}
    pair = Pair()
    pair.send(data=bytes(byte for byte in code if byte not in unequal), value=value, gas=300_000)
    pair.compare(generate_contract_address(ALICE.address, 0))
