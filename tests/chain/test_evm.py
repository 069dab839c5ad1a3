"""The in-memory chain itself: time, blocks, refusals at the door, its jumps."""

from __future__ import annotations

import pytest
import rlp
from eth_account import Account
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_node.chain.evm import BASE_FEE, EvmChain
from reference_node.chain.evm_timed import jump_targets
from reference_node.chain.evm_transactions import BLOCK_GAS_LIMIT
from reference_node.chain.interface import TransactionRefused

from . import UNHURRIED
from .bytecode import CLOCK, assemble, init_code, word
from .wallets import ALICE, BOB, CHAIN_ID, RICH, Clock, Wallet, rich_chain

POOR = Wallet(0xDEAD)


def mined_time(chain: EvmChain) -> int:
    ALICE.send(chain, BOB.address)
    return chain.blocks.latest.timestamp


def test_block_time_follows_the_clock_at_once_and_never_goes_back(chain: EvmChain, clock: Clock) -> None:
    began = clock.now
    for moved, seen in ((0, 0), (4_000, 4_000), (3_000, 4_000), (4_001, 4_001)):
        clock.now = began + moved
        assert chain.timestamp() == mined_time(chain) == began + seen


def test_call_sees_the_live_clock_without_a_new_block(chain: EvmChain, clock: Clock) -> None:
    began = clock.now
    contract = ALICE.deploy(chain, init_code(CLOCK))
    for moved, seen in ((8_000, 8_000), (-1_000, 0)):
        clock.now = began + moved
        assert int.from_bytes(chain.call(contract, b"")) == chain.timestamp() == began + seen


def test_transaction_sees_the_time_of_its_block(chain: EvmChain, clock: Clock) -> None:
    contract = ALICE.deploy(chain, init_code(assemble("TIMESTAMP 0 SSTORE")))
    clock.now += 234
    ALICE.send(chain, contract)
    assert chain.storage(contract, 0) == chain.blocks.latest.timestamp == clock.now


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


def with_the_other_s(raw: bytes) -> bytes:
    """The same type 2 transaction with the other signature that the curve allows: `s` is in the upper half."""
    fields = rlp.decode(raw[1:])
    order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
    parity, s = int.from_bytes(fields[9]), int.from_bytes(fields[11])
    fields[9], fields[11] = (b"\x01", b"")[parity], (order - s).to_bytes(32)
    return b"\x02" + rlp.encode(fields)


BLOB = [CHAIN_ID, 0, 1, 10**10, 21_000, BOB.address, 0, b"", [], 1, [b"\x01" + bytes(31)], 0, 1, 1]
UNPROTECTED = {"nonce": 0, "gas": 21_000, "gasPrice": 10**10, "value": 0, "to": BOB.address}

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
    "blobs": (b"\x03" + rlp.encode(BLOB), "transaction type not supported"),
    "no replay protection": (
        bytes(Account.sign_transaction(UNPROTECTED, ALICE.key).raw_transaction),
        "only replay-protected",
    ),
    "signature in the upper half": (
        with_the_other_s(ALICE.sign(0, BOB.address)),
        "invalid transaction: Invalid signature S value",
    ),
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


VALID = [
    ALICE.sign(0, BOB.address),
    ALICE.sign(0, BOB.address, gasPrice=10**10),
    ALICE.sign(0, BOB.address, gasPrice=10**10, accessList=[]),
    ALICE.sign(0, BOB.address, authorizationList=[BOB.authorize(b"\x11" * 20, chain_id=0)]),
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


def test_selfdestruct_is_no_warning_in_python(chain: EvmChain) -> None:
    assert ALICE.send(chain, data=assemble("CALLER SELFDESTRUCT")).succeeded


def test_fund_adds_without_a_block(chain: EvmChain) -> None:
    chain.fund(POOR.address, 5)
    chain.fund(POOR.address, 6)
    assert chain.balance(POOR.address) == 11
    assert chain.blocks.latest.number == 0


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
