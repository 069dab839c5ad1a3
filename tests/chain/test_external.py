"""`ExternalChain` against a real anvil, and against this node's own JSON-RPC."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest
from anvils import anvil_in

from reference_node.chain.external import ExternalChain
from reference_node.chain.interface import Reverted, TransactionRefused, WrongChain
from reference_node.chain.payers import PayerPool
from reference_node.chain.rpc import JsonRpc

from .bytecode import CLOCK, COUNTER, CUSTOM_ERROR, ERROR_TEXT, REVERTER, assemble, init_code, returning, word
from .http import serve
from .wallets import ALICE, BOB, CHAIN_ID, RICH, Wallet, rich_chain


@pytest.fixture(scope="session")
def anvil_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real anvil of its own, on which Alice and Bob are rich."""
    home = tmp_path_factory.mktemp("anvil") / "home"
    with anvil_in(home, "--prune-history", "--hardfork", "prague", chain_id=CHAIN_ID) as anvil:
        for wallet in (ALICE, BOB):
            anvil.ask("anvil_setBalance", "0x" + wallet.address.hex(), hex(RICH))
        yield anvil.url


@pytest.fixture(params=["anvil", "own"])
def external(request: pytest.FixtureRequest) -> Iterator[ExternalChain]:
    """Anvil, and the in-memory chain behind its own JSON-RPC."""
    with ExitStack() as stack:
        if request.param == "anvil":
            url = request.getfixturevalue("anvil_url")
        else:
            url = stack.enter_context(serve(JsonRpc(rich_chain()).handle))
        yield stack.enter_context(closing(ExternalChain(url, CHAIN_ID)))


def test_balance_and_nonce_follow_a_transfer(external: ExternalChain) -> None:
    to, nonce = b"\x99" * 20, external.next_nonce(BOB.address)
    before = external.balance(to)
    assert BOB.send(external, to, value=12).gas_used == 21_000
    assert external.balance(to) - before == 12
    assert external.next_nonce(BOB.address) == nonce + 1
    assert external.code(to) == b""


@pytest.mark.parametrize("data", [b"", CUSTOM_ERROR, ERROR_TEXT], ids=["nothing", "custom error", "text"])
def test_revert_is_told_with_its_data(external: ExternalChain, data: bytes) -> None:
    contract = ALICE.deploy(external, init_code(returning(data, "REVERT")))
    with pytest.raises(Reverted) as called:
        external.call(contract, b"", ALICE.address)
    assert called.value.data == data
    with pytest.raises(Reverted) as estimated:
        external.gas_limit(contract, b"", ALICE.address)
    assert estimated.value.data == data
    receipt = ALICE.send(external, contract)
    assert not receipt.succeeded
    assert receipt.revert_data == data


def test_call_out_of_gas_is_a_revert_without_data(external: ExternalChain) -> None:
    contract = ALICE.deploy(external, init_code(b"\xfe"))
    with pytest.raises(Reverted) as called:
        external.call(contract, b"")
    assert called.value.data == b""


def test_payer_does_not_send_a_doomed_write(external: ExternalChain) -> None:
    contract = ALICE.deploy(external, init_code(REVERTER))
    pool, nonce = PayerPool(external, [ALICE.key]), external.next_nonce(ALICE.address)
    with pytest.raises(Reverted) as refused:
        pool.submit(contract, b"")
    assert refused.value.data == CUSTOM_ERROR
    assert external.next_nonce(ALICE.address) == nonce


def test_call_sees_the_latest_time(external: ExternalChain) -> None:
    contract = ALICE.deploy(external, init_code(CLOCK))
    before = external.timestamp()
    seen = int.from_bytes(external.call(contract, b""), "big")
    ALICE.send(external, BOB.address)
    assert before <= seen <= external.timestamp()


def test_call_has_its_sender(external: ExternalChain) -> None:
    contract = ALICE.deploy(external, init_code(assemble("CALLER 0 MSTORE 32 0 RETURN")))
    assert external.call(contract, b"", BOB.address)[12:] == BOB.address


def test_used_nonce_is_refused(external: ExternalChain) -> None:
    nonce = external.next_nonce(ALICE.address)
    ALICE.send(external, BOB.address)
    with pytest.raises(TransactionRefused, match="nonce too low"):
        external.send(ALICE.sign(nonce, BOB.address, value=1))


def test_sending_twice_gives_the_same_receipt(external: ExternalChain) -> None:
    raw = ALICE.sign(external.next_nonce(ALICE.address), BOB.address, value=1)
    assert external.send(raw) == external.send(raw)


def test_poor_sender_is_refused(external: ExternalChain) -> None:
    with pytest.raises(TransactionRefused, match=r"(?i)insufficient funds"):
        Wallet(0xDEAD).send(external, BOB.address, value=1)


def test_other_chain_id_is_noticed_at_the_start(external: ExternalChain) -> None:
    url = external._rpc._url
    with pytest.raises(WrongChain, match="id 31337, not 1"):
        ExternalChain(url, 1)


def test_concurrent_writes_all_arrive_once(external: ExternalChain) -> None:
    writes, keys = 60, [wallet.key for wallet in map(Wallet, range(0x1000, 0x1004))]
    pool = PayerPool(external, keys)
    for address in pool.addresses:
        ALICE.send(external, address, value=10**20)
    contract = ALICE.deploy(external, init_code(COUNTER))
    with ThreadPoolExecutor(16) as threads:
        receipts = list(threads.map(lambda number: pool.submit(contract, word(number) + word(0)), range(writes)))
    assert all(receipt.succeeded for receipt in receipts)
    assert [receipt.logs[0].topics[0] for receipt in receipts] == [word(number) for number in range(writes)]
    assert sorted(receipt.logs[0].data for receipt in receipts) == [word(count) for count in range(1, writes + 1)]
    nonces = sum(external.next_nonce(address) for address in pool.addresses)
    assert nonces == writes
