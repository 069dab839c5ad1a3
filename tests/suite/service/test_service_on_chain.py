"""What the suite's own wallets do on the chain, and with a node that runs actions: against a reference node."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.problems import ChainReverted, ChainTrouble, NotAccepted, NotRefused, UnprovenRefusal
from conformance.service import (
    Accounts,
    ChainSecuredAccount,
    Contract,
    Refusals,
    Session,
    SuiteWallet,
    Wallets,
    sign_envelope,
)
from conformance.service.contract import payers
from conformance.service.contract_calls import ContractCalls, own_names

SENT = ["eth_sendRawTransaction", "eth_getTransactionReceipt"]


@pytest.fixture
def contract(on_chain: Session) -> Contract:
    return Contract(on_chain)


@pytest.fixture
def mallory(on_chain: Session) -> SuiteWallet:
    return Wallets(on_chain).new("mallory")


@pytest.fixture
def dana(on_chain: Session) -> ChainSecuredAccount:
    """The account of a wallet called carol."""
    return Accounts(on_chain).by_wallet(Wallets(on_chain).new("carol"))


@pytest.fixture
def methods(on_chain: Session, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The JSON-RPC methods that the session asks for from now on, in order."""
    asked: list[str] = []
    ask, ask_several = on_chain.chain.request, on_chain.chain.batch

    def request(method: str, params: Sequence[object] = ()) -> object:
        asked.append(method)
        return ask(method, params)

    def batch(calls: Sequence[tuple[str, Sequence[object]]]) -> list[object]:
        asked.extend(method for method, _ in calls)
        return ask_several(calls)

    monkeypatch.setattr(on_chain.chain, "request", request)
    monkeypatch.setattr(on_chain.chain, "batch", batch)
    return asked


def test_requests_to_the_chain_are_read_as_calls_of_the_contract(
    on_chain: Session, contract: Contract, mallory: SuiteWallet, dana: ChainSecuredAccount
) -> None:
    vault = Accounts(on_chain).by_wallet(Wallets(on_chain).contract_wallet(dana.admin))
    contract.write(dana.admin, "add_group", dana.hash, "first", "d", [], [])
    contract.write(vault.admin, "add_group", vault.hash, "second", "d", [], [])
    contract.items("list_groups", dana.hash)
    calls = [(who, [dana.hash, "third", "d", [], []]) for who in (dana.admin.address, mallory.address, mallory.address)]
    contract.dry_runs("add_group", calls)
    with pytest.raises((NotAccepted, ChainReverted), match="the contract to take the call"):
        contract.write(dana.admin, "remove_usage_api_key", dana.hash, dana.hash)

    read = ContractCalls(on_chain).read
    *_, added, by_vault, listed, tried, refused = filter(None, map(read, on_chain.log.raw))

    assert added.sender == dana.admin.address
    assert (added.function, added.result, added.is_write) == ("addGroup", "mined", True)
    assert added.arguments["keyHash"] == dana.hash
    assert added.arguments["name"] == "first"
    assert by_vault.sender.lower() == vault.admin.address.lower()
    assert (listed.function, listed.is_write) == ("listGroups", False)
    assert '"name":"first"' in listed.result
    assert tried.function == "dry run of addGroup"
    assert f"{mallory.address} reverts (2 times)" in tried.result
    assert (refused.function, refused.result) == ("dry run of removeUsageApiKey", "reverts")
    named = own_names(on_chain)
    assert (named["carol's wallet"], named["carol's account"]) == (dana.admin.address, dana.hash)
    assert "payer's wallet" not in named
    first, second, *_, admin = payers(on_chain)
    named = own_names(on_chain)
    assert (named["payer's wallet"], named["payer2's wallet"], named["admin payer's wallet"]) == (first, second, admin)


def test_second_write_of_a_wallet_asks_for_neither_gas_nor_fees_nor_balance_nor_nonce(
    contract: Contract, dana: ChainSecuredAccount, methods: list[str]
) -> None:
    for name in ("first", "other"):
        contract.write(dana.admin, "add_group", dana.hash, name, "d", [], [])

    assert methods[-4:] == SENT * 2


def test_write_is_sent_again_with_the_chain_s_nonce_where_another_has_taken_it(
    on_chain: Session, contract: Contract, dana: ChainSecuredAccount, methods: list[str]
) -> None:
    on_chain.chain.note_nonce(dana.admin.address, 0)

    receipt, _ = contract.write(dana.admin, "add_group", dana.hash, "first", "d", [], [])

    assert receipt.succeeded
    assert methods[-5:] == [*SENT, "eth_getTransactionCount", *SENT]


def test_wallet_that_has_offered_what_it_had_gets_ether_that_costs_nothing_without_a_look_at_its_balance(
    on_chain: Session, contract: Contract, dana: ChainSecuredAccount, methods: list[str]
) -> None:
    assert on_chain.funder is not None
    on_chain.funder.holdings[dana.admin.address] = 1

    contract.write(dana.admin, "add_group", dana.hash, "first", "d", [], [])

    assert methods[-2:] == SENT
    assert "eth_getBalance" not in methods
    assert on_chain.funder.holdings[dana.admin.address] > 1


def test_chain_that_the_run_has_started_is_not_asked_for_the_nonce_of_a_new_wallet(
    on_chain: Session, methods: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_chain.target, "ends_with_run", True)

    carol = Wallets(on_chain).new("carol")
    assert methods == []

    Accounts(on_chain).by_wallet(carol)
    assert "eth_getTransactionCount" not in methods


def test_refused_transaction_without_reads_is_no_proof(
    on_chain: Session, contract: Contract, mallory: SuiteWallet, dana: ChainSecuredAccount
) -> None:
    _, control = contract.write(dana.admin, "add_group", dana.hash, "first", "d", [], [])

    with pytest.raises(UnprovenRefusal), Refusals(on_chain, control=control, unchanged=[]) as refusals:
        contract.must_revert(refusals, mallory, "add_group", [dana.hash, "second", "d", [], []])


def test_dry_run_asks_and_changes_nothing(
    on_chain: Session, contract: Contract, mallory: SuiteWallet, dana: ChainSecuredAccount
) -> None:
    arguments = [dana.hash, "first", "d", [], []]

    control = contract.dry_run("add_group", arguments, sender=dana.admin.address)
    with Refusals(on_chain, control=control, unchanged=[]) as refusals:
        contract.must_revert_dry(refusals, "add_group", arguments, sender=mallory.address)
    with pytest.raises(NotRefused), Refusals(on_chain, control=control, unchanged=[]) as refusals:
        contract.must_revert_dry(refusals, "add_group", arguments, sender=dana.admin.address)

    assert contract.view("list_groups", dana.hash, 0, 10) == {"groups": []}


def test_transactions_after_a_block_hold_the_writes_with_their_logs(
    on_chain: Session, contract: Contract, dana: ChainSecuredAccount
) -> None:
    before = on_chain.chain.block_number()

    receipt, _ = contract.write(dana.admin, "add_group", dana.hash, "first", "d", [], [])

    (sent,) = [sent for sent in contract.transactions_after(before) if sent["hash"] == receipt.hash]
    assert (sent["from"], sent["to"]) == (dana.admin.address.lower(), contract.address.lower())
    assert sent["logs"]
    held = [contract.transactions_after(before, holding=part) for part in (b"first".hex(), f"0x{b'second'.hex()}")]
    assert held == [[sent], []]


def test_chain_whose_blocks_go_back_proves_nothing(
    on_chain: Session, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = on_chain.chain.block_number()
    assert contract.transactions_after(before) == []

    monkeypatch.setattr(on_chain.chain, "block_number", lambda: before - 1)

    with pytest.raises(ChainTrouble, match=f"a chain that has block {before}, as before"):
        contract.transactions_after(before)


def test_clock_stands_where_it_was_moved_to_however_often(on_chain: Session) -> None:
    now = on_chain.clock.now()

    for seconds in (1000, 3000):
        on_chain.clock.move_to(now + seconds)
        assert 0 <= on_chain.clock.now() - (now + seconds) <= 5
        wallet = Wallets(on_chain).new(f"carol {seconds}")
        on_chain.call("create_wallet_with_signature", **sign_envelope(on_chain, "CreateWallet", wallet).members)

    on_chain.clock.reset()
    assert on_chain.clock.offset == 0
