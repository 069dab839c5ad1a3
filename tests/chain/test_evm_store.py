"""The chain in a file: closed or killed at any moment, it goes on where it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection

import pytest

from reference_node.chain.evm import EvmChain
from reference_node.chain.evm_store import CHAIN_FILE, ChainStore
from reference_node.chain.interface import ChainUnavailable
from reference_node.kept_file import KeptFile, StateError, StateUnavailable

from .bytecode import COUNTER, LOGGER, REVERTER, STORE, assemble, init_code, word
from .wallets import ALICE, BOB, CHAIN_ID, RICH, Clock


def stored(file: Path, clock: Clock | None = None) -> tuple[EvmChain, ChainStore]:
    if not file.exists():
        KeptFile(file, CHAIN_FILE, create=True).close()
    store = ChainStore(file)
    return EvmChain(CHAIN_ID, clock or Clock(), {ALICE.address: RICH, BOB.address: RICH}, store), store


def everything(chain: EvmChain) -> object:
    """All blocks, and the accounts with their slots."""
    accounts = chain._state._accounts._accounts
    blocks = chain.blocks.between(0, chain.block_number())
    return blocks, {
        address: (account.balance, account.nonce, account.code, account.code_hash, dict(account.storage))
        for address, account in accounts.items()
    }


def test_reopened_chain_has_every_block_account_and_slot(tmp_path: Path) -> None:
    chain, store = stored(tmp_path / "chain.sqlite")
    contracts = [ALICE.deploy(chain, init_code(code)) for code in (STORE, LOGGER, COUNTER, REVERTER)]
    for number in (1, 2**256 - 1):
        ALICE.send(chain, contracts[0], data=word(number) + word(3))
    ALICE.send(chain, contracts[0], data=word(5) + word(2**256 - 1))
    ALICE.send(chain, contracts[0], data=word(0) + word(3))
    BOB.send(chain, contracts[1], data=word(9))
    BOB.send(chain, contracts[2], data=word(1) + word(2))
    assert not BOB.send(chain, contracts[3]).succeeded
    ALICE.send(chain, b"\x77" * 20, value=5)
    runtime = assemble("7 1 SSTORE CALLER SELFDESTRUCT")
    ALICE.send(chain, data=runtime, gas=1_000_000)
    chain.fund(b"\x78" * 20, 2**200)
    before = everything(chain)
    store.close()
    again, store = stored(tmp_path / "chain.sqlite")
    assert everything(again) == before
    assert again.logs(contracts[1], 0, again.block_number()) == chain.logs(contracts[1], 0, chain.block_number())
    BOB.send(again, contracts[2], data=word(1) + word(2))
    assert again.storage(contracts[2], 0) == 2
    store.close()


def test_block_time_goes_on_from_the_last_block(tmp_path: Path) -> None:
    chain, store = stored(tmp_path / "chain.sqlite", Clock(5_000))
    ALICE.send(chain, BOB.address, value=1)
    store.close()
    again, store = stored(tmp_path / "chain.sqlite", Clock(1_000))
    assert again.timestamp() == 5_000
    store.close()


def test_transaction_that_cannot_be_kept_has_no_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain, store = stored(tmp_path / "chain.sqlite")
    contract = ALICE.deploy(chain, init_code(STORE))
    before = everything(chain)

    @contextmanager
    def full(_: KeptFile) -> Iterator[Connection]:
        raise StateUnavailable("disk full")
        yield

    with monkeypatch.context() as disk:
        disk.setattr(KeptFile, "transaction", full)
        with pytest.raises(ChainUnavailable, match="disk full"):
            ALICE.send(chain, contract, data=word(1) + word(3))
        with pytest.raises(ChainUnavailable, match="disk full"):
            chain.fund(BOB.address, 1)
    assert everything(chain) == before
    ALICE.send(chain, contract, data=word(1) + word(3))
    store.close()
    again, store = stored(tmp_path / "chain.sqlite")
    assert everything(again) == everything(chain)
    store.close()


def test_block_that_does_not_follow_is_damage(tmp_path: Path) -> None:
    chain, store = stored(tmp_path / "chain.sqlite")
    ALICE.send(chain, BOB.address, value=1)
    store.close()
    file = KeptFile(tmp_path / "chain.sqlite", CHAIN_FILE)
    with file.transaction() as database:
        database.execute("UPDATE block SET timestamp = timestamp + 1 WHERE number = 1")
    file.close()
    with pytest.raises(StateError, match=r"is damaged \(block 1 does not follow"):
        stored(tmp_path / "chain.sqlite")
