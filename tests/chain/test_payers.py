"""The pool of payers: what it sends, what it refuses to send, and that a payer is free again afterwards."""

from __future__ import annotations

import threading

import pytest

from reference_node.chain.evm import EvmChain
from reference_node.chain.interface import Reverted, TransactionRefused
from reference_node.chain.payers import PayerPool

from .bytecode import COUNTER, CUSTOM_ERROR, REVERTER, assemble, init_code, word
from .wallets import ALICE, RICH, Wallet

KEYS = [Wallet(number).key for number in range(1, 5)]


@pytest.fixture
def pool(chain: EvmChain) -> PayerPool:
    """Four rich payers."""
    pool = PayerPool(chain, KEYS)
    for address in pool.addresses:
        chain.fund(address, RICH)
    return pool


def test_pool_without_a_key_is_an_error(chain: EvmChain) -> None:
    with pytest.raises(ValueError, match="at least one"):
        PayerPool(chain, [])


def test_calls_beside_writes_see_whole_transactions_only(chain: EvmChain, pool: PayerPool) -> None:
    # A write changes both slots; a call that saw one of them changed would return 1.
    write = "0 SLOAD 1 ADD DUP1 0 SSTORE 1 SSTORE"
    contract = ALICE.deploy(
        chain,
        init_code(assemble(f"CALLDATASIZE 20 JUMPI 1 SLOAD 0 SLOAD EQ ISZERO 0 MSTORE 32 0 RETURN JUMPDEST {write}")),
    )
    done = threading.Event()
    seen: set[bytes] = set()

    def read() -> None:
        while not done.is_set():
            seen.add(chain.call(contract, b""))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(50):
        pool.submit(contract, b"\x01")
    done.set()
    reader.join()
    assert seen == {word(0)}
    assert chain.storage(contract, 1) == 50


def test_refusal_is_raised_and_the_payer_is_free_again(chain: EvmChain) -> None:
    pool = PayerPool(chain, KEYS[:1])
    chain.fund(pool.addresses[0], RICH)
    refusing, counting = (ALICE.deploy(chain, init_code(runtime)) for runtime in (REVERTER, COUNTER))
    with pytest.raises(Reverted) as refused:
        pool.submit(refusing, b"")
    assert refused.value.data == CUSTOM_ERROR
    assert pool.submit(counting, word(1) + word(2)).succeeded


def test_payer_without_funds_is_refused_and_free_again(chain: EvmChain) -> None:
    pool = PayerPool(chain, KEYS[:1])
    with pytest.raises(TransactionRefused, match="insufficient funds"):
        pool.submit(ALICE.address, b"")
    chain.fund(pool.addresses[0], RICH)
    assert pool.submit(ALICE.address, b"").succeeded


def test_gas_of_the_caller_is_kept(chain: EvmChain, pool: PayerPool) -> None:
    endless = ALICE.deploy(chain, init_code(assemble("JUMPDEST 0 JUMP")))
    with pytest.raises(Reverted):
        pool.submit(endless, b"", gas=30_000)
    mined = chain.blocks.latest.transaction
    assert mined is not None
    assert mined.receipt.gas_used == 30_000
