"""The chain in a file: closed or killed at any moment, it goes on where it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from sqlite3 import Connection

import pytest

from reference_node.chain.evm import EvmChain
from reference_node.chain.evm_store import CHAIN_FILE, ChainStore
from reference_node.chain.interface import ChainUnavailable
from reference_node.kept_file import KeptFile, StateError, StateUnavailable

from .bytecode import COUNTER, LOGGER, REVERTER, STORE, assemble, init_code, word
from .wallets import ALICE, BOB, Clock, rich_chain


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An empty file of a chain."""
    path = tmp_path / "chain.sqlite"
    KeptFile(path, CHAIN_FILE, create=True).close()
    return path


@contextmanager
def opened(file: Path, clock: Clock | None = None) -> Iterator[EvmChain]:
    """The chain in a file, which is closed at the end."""
    with closing(ChainStore(file)) as store:
        yield rich_chain(clock, store=store)


def everything(chain: EvmChain) -> object:
    """All blocks, and the accounts with their slots."""
    accounts = chain._state._accounts._accounts
    blocks = chain.blocks.between(0, chain.block_number())
    return blocks, {
        address: (account.balance, account.nonce, account.code, account.code_hash, dict(account.storage))
        for address, account in accounts.items()
    }


def test_reopened_chain_has_every_block_account_and_slot(file: Path) -> None:
    with opened(file) as chain:
        contracts = [ALICE.deploy(chain, init_code(code)) for code in (STORE, LOGGER, COUNTER, REVERTER)]
        for value, slot in ((1, 3), (2**256 - 1, 3), (5, 2**256 - 1), (0, 3)):
            ALICE.send(chain, contracts[0], data=word(value) + word(slot))
        BOB.send(chain, contracts[1], data=word(9))
        BOB.send(chain, contracts[2], data=word(1) + word(2))
        assert not BOB.send(chain, contracts[3]).succeeded
        ALICE.send(chain, b"\x77" * 20, value=5)
        ALICE.send(chain, data=assemble("7 1 SSTORE CALLER SELFDESTRUCT"), gas=1_000_000)
        chain.fund(b"\x78" * 20, 2**200)
    with opened(file) as again:
        assert everything(again) == everything(chain)
        assert again.logs(contracts[1], 0, again.block_number()) == chain.logs(contracts[1], 0, chain.block_number())
        BOB.send(again, contracts[2], data=word(1) + word(2))
        assert again.storage(contracts[2], 0) == 2


def test_block_time_goes_on_from_the_last_block(file: Path) -> None:
    with opened(file, Clock(5_000)) as chain:
        ALICE.send(chain, BOB.address, value=1)
    with opened(file, Clock(1_000)) as again:
        assert again.timestamp() == 5_000


def test_transaction_that_cannot_be_kept_has_no_effect(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def full(_: KeptFile) -> Iterator[Connection]:
        raise StateUnavailable("disk full")
        yield

    with opened(file) as chain:
        contract = ALICE.deploy(chain, init_code(STORE))
        before = everything(chain)
        with monkeypatch.context() as disk:
            disk.setattr(KeptFile, "transaction", full)
            with pytest.raises(ChainUnavailable, match="disk full"):
                ALICE.send(chain, contract, data=word(1) + word(3))
            with pytest.raises(ChainUnavailable, match="disk full"):
                chain.fund(BOB.address, 1)
        assert everything(chain) == before
        ALICE.send(chain, contract, data=word(1) + word(3))
    with opened(file) as again:
        assert everything(again) == everything(chain)


def test_block_that_does_not_follow_is_damage(file: Path) -> None:
    with opened(file) as chain:
        ALICE.send(chain, BOB.address, value=1)
    with closing(KeptFile(file, CHAIN_FILE)) as kept, kept.transaction() as database:
        database.execute("UPDATE block SET timestamp = timestamp + 1 WHERE number = 1")
    with pytest.raises(StateError, match=r"is damaged \(block 1 does not follow"), opened(file):
        pass
