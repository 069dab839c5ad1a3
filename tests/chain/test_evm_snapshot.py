"""Snapshots of the in-memory chain: one moment stays as it was while others write, and nobody waits for it."""

from __future__ import annotations

import copy
import threading

import pytest
from eth.typing import JournalDBCheckpoint
from eth_typing import Address
from hypothesis import given
from hypothesis import strategies as st

from reference_node.chain import evm_calls
from reference_node.chain.evm import EvmChain
from reference_node.chain.evm_calls import Call, Execution
from reference_node.chain.evm_machine import MemoryState
from reference_node.chain.evm_state import MemoryAccounts

from . import UNHURRIED
from .bytecode import COUNTER, assemble, init_code, word
from .wallets import ALICE, BOB

ADDRESSES = [Address(bytes([number]) * 20) for number in range(3)]
SLOTS = range(3)


def described(accounts: MemoryAccounts) -> list[object]:
    return [
        (
            accounts.account_exists(address),
            accounts.account_is_empty(address),
            accounts.account_has_code_or_nonce(address),
            accounts.get_balance(address),
            accounts.get_nonce(address),
            accounts.get_code(address),
            accounts.get_code_hash(address),
            [accounts.get_storage(address, slot) for slot in SLOTS],
        )
        for address in ADDRESSES
    ]


def a_change() -> st.SearchStrategy[tuple[str, list[object]]]:
    address, slot, number = st.sampled_from(ADDRESSES), st.sampled_from(SLOTS), st.integers(0, 2)
    return st.one_of(
        st.tuples(st.just("set_storage"), st.tuples(address, slot, number)),
        st.tuples(st.sampled_from(["set_balance", "set_nonce"]), st.tuples(address, number)),
        st.tuples(st.just("set_code"), st.tuples(address, st.sampled_from([b"", b"code"]))),
        st.tuples(
            st.sampled_from(["delete_storage", "delete_account", "touch_account", "increment_nonce", "delete_code"]),
            st.tuples(address),
        ),
        st.tuples(st.sampled_from(["checkpoint", "back", "lock_changes"]), st.just(())),
    ).map(lambda named: (named[0], list(named[1])))


class Acting:
    """Makes changes, with checkpoints and ways back to them."""

    def __init__(self, accounts: MemoryAccounts) -> None:
        self.accounts = accounts
        self._checkpoints: list[JournalDBCheckpoint] = []

    def act(self, change: tuple[str, list[object]]) -> None:
        name, arguments = change
        if name == "checkpoint":
            self._checkpoints.append(self.accounts.record())
        elif name == "back":
            if self._checkpoints:
                self.accounts.discard(self._checkpoints.pop())
        else:
            if name == "lock_changes":
                self._checkpoints.clear()
            getattr(self.accounts, name)(*arguments)


def changed(changes: list[tuple[str, list[object]]], accounts: MemoryAccounts) -> MemoryAccounts:
    acting = Acting(accounts)
    for change in changes:
        acting.act(change)
    return accounts


@UNHURRIED
@given(st.lists(a_change()), st.lists(a_change()))
def test_snapshot_stays_as_it_was(
    before: list[tuple[str, list[object]]], after: list[tuple[str, list[object]]]
) -> None:
    live = changed(before, MemoryAccounts())
    live.lock_changes()
    was = described(live)
    with live.snapshot() as read_early, live.snapshot() as read_late:
        acting = Acting(live)
        for change in after:
            acting.act(change)
            assert described(read_early) == was
        assert described(read_late) == was


@UNHURRIED
@given(st.lists(a_change()), st.lists(a_change()))
def test_snapshot_changes_like_accounts_of_its_own(
    before: list[tuple[str, list[object]]], after: list[tuple[str, list[object]]]
) -> None:
    live = changed(before, MemoryAccounts())
    live.lock_changes()
    was, alone = described(live), MemoryAccounts()
    alone._accounts = copy.deepcopy(live._accounts)
    with live.snapshot() as taken:
        mine, its_own = Acting(taken), Acting(alone)
        for change in after:
            mine.act(change)
            its_own.act(change)
            assert described(taken) == described(alone)
    assert described(live) == was


def test_closed_snapshot_is_handed_nothing_more() -> None:
    live = MemoryAccounts()
    with live.snapshot():
        assert len(live._snapshots) == 1
    assert not live._snapshots


@pytest.fixture
def slow_call(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Calls that say when they have begun, and end when they are told to."""
    begun, ending = threading.Event(), threading.Event()
    execute = evm_calls.execute

    def wait(state: MemoryState, call: Call, chain_id: int) -> Execution:
        begun.set()
        assert ending.wait(60)
        return execute(state, call, chain_id)

    monkeypatch.setattr(evm_calls, "execute", wait)
    return begun, ending


def test_transaction_does_not_wait_for_a_call_that_sees_nothing_of_it(
    chain: EvmChain, slow_call: tuple[threading.Event, threading.Event]
) -> None:
    begun, ending = slow_call
    counter = ALICE.deploy(chain, init_code(COUNTER))
    ALICE.send(chain, counter, data=word(1) + word(2))
    reader = assemble("0 SLOAD 0 MSTORE 32 0 RETURN")
    outputs: list[bytes] = []

    def read() -> None:
        code = {counter: evm_calls.Override(code=reader)}
        outputs.append(chain.run(Call(to=counter), code).output)

    was = chain.storage(counter, 0)
    calling = threading.Thread(target=read)
    calling.start()
    assert begun.wait(60)
    assert ALICE.send(chain, counter, data=word(3) + word(4)).succeeded
    assert chain.storage(counter, 0) != was
    ending.set()
    calling.join()
    assert outputs == [was.to_bytes(32, "big")]


def test_view_of_a_former_state_is_not_remembered_for_the_next(
    chain: EvmChain, slow_call: tuple[threading.Event, threading.Event]
) -> None:
    begun, ending = slow_call
    balance = ALICE.deploy(chain, init_code(assemble("SELFBALANCE 0 MSTORE 32 0 RETURN")))
    calling = threading.Thread(target=chain.call, args=(balance, b""))
    calling.start()
    assert begun.wait(60)
    chain.fund(balance, 5)
    ending.set()
    calling.join()
    assert int.from_bytes(chain.call(balance, b""), "big") == 5
    assert chain.balance(BOB.address) > 0


PAIRS, ROUNDS = 0x08, 0x09


@pytest.mark.parametrize(
    ("precompile", "data"),
    [(PAIRS, bytes(192 * 400)), (ROUNDS, (20_000_000).to_bytes(4, "big") + bytes(208) + b"\x01")],
    ids=["pairing", "blake2"],
)
def test_precompiled_contract_that_outlasts_the_time_is_not_begun(
    chain: EvmChain, precompile: int, data: bytes
) -> None:
    contract = precompile.to_bytes(20, "big")
    assert "took too long" in str(chain.run(Call(to=contract, data=data)).error)
    brief = data[:192] if precompile == PAIRS else (12).to_bytes(4, "big") + data[4:]
    assert chain.run(Call(to=contract, data=brief)).error is None
