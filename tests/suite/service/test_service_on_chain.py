"""What the suite's own wallets do on the chain, and with a node that runs actions: against a reference node."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.problems import ChainReverted, ChainTrouble, NotAccepted, NotRefused, UnprovenRefusal
from conformance.service import (
    Accounts,
    Contract,
    Refusals,
    Session,
    Wallets,
    sign_envelope,
)
from conformance.service.contract import payers
from conformance.service.contract_calls import ContractCalls, own_names


def test_requests_to_the_chain_are_read_as_calls_of_the_contract(on_chain: Session) -> None:
    wallets, contract = Wallets(on_chain), Contract(on_chain)
    carol, mallory = wallets.new("carol"), wallets.new("mallory")
    dana, vault = Accounts(on_chain).by_wallet(carol), Accounts(on_chain).by_wallet(wallets.contract_wallet(carol))
    contract.write(carol, "add_group", dana.hash, "first", "d", [], [])
    contract.write(vault.admin, "add_group", vault.hash, "second", "d", [], [])
    contract.items("list_groups", dana.hash)
    calls = [(who, [dana.hash, "third", "d", [], []]) for who in (carol.address, mallory.address, mallory.address)]
    contract.dry_runs("add_group", calls)
    with pytest.raises((NotAccepted, ChainReverted), match="the contract to take the call"):
        contract.write(carol, "remove_usage_api_key", dana.hash, dana.hash)

    read = ContractCalls(on_chain).read
    *_, added, by_vault, listed, tried, refused = filter(None, map(read, on_chain.log.raw))

    assert (added.sender, added.function, added.result, added.is_write) == (carol.address, "addGroup", "mined", True)
    assert added.arguments["keyHash"] == dana.hash
    assert added.arguments["name"] == "first"
    assert by_vault.sender.lower() == vault.admin.address.lower()
    assert (listed.function, listed.is_write) == ("listGroups", False)
    assert '"name":"first"' in listed.result
    assert tried.function == "dry run of addGroup"
    assert f"{mallory.address} reverts (2 times)" in tried.result
    assert (refused.function, refused.result) == ("dry run of removeUsageApiKey", "reverts")
    assert own_names(on_chain)["carol's wallet"] == carol.address
    assert own_names(on_chain)["carol's account"] == dana.hash
    assert "payer's wallet" not in own_names(on_chain)
    first, second, *_, admin = payers(on_chain)
    named = own_names(on_chain)
    assert (named["payer's wallet"], named["payer2's wallet"], named["admin payer's wallet"]) == (first, second, admin)


class Spy:
    """The JSON-RPC methods that a session asks for, in order."""

    def __init__(self, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
        self.methods: list[str] = []
        ask, ask_several = session.chain.request, session.chain.batch

        def request(method: str, params: Sequence[object] = ()) -> object:
            self.methods.append(method)
            return ask(method, params)

        def batch(calls: Sequence[tuple[str, Sequence[object]]]) -> list[object]:
            self.methods += [method for method, _ in calls]
            return ask_several(calls)

        monkeypatch.setattr(session.chain, "request", request)
        monkeypatch.setattr(session.chain, "batch", batch)


SENT = ["eth_sendRawTransaction", "eth_getTransactionReceipt"]


def test_second_write_of_a_wallet_asks_for_neither_gas_nor_fees_nor_balance_nor_nonce(
    on_chain: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    carol = Wallets(on_chain).new("carol")
    dana = Accounts(on_chain).by_wallet(carol)
    spy = Spy(on_chain, monkeypatch)

    for name in ("first", "other"):
        Contract(on_chain).write(carol, "add_group", dana.hash, name, "d", [], [])

    assert spy.methods[-4:] == SENT * 2


def test_write_is_sent_again_with_the_chain_s_nonce_where_another_has_taken_it(
    on_chain: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    carol = Wallets(on_chain).new("carol")
    dana = Accounts(on_chain).by_wallet(carol)
    on_chain.chain.note_nonce(carol.address, 0)
    spy = Spy(on_chain, monkeypatch)

    receipt, _ = Contract(on_chain).write(carol, "add_group", dana.hash, "first", "d", [], [])

    assert receipt.succeeded
    assert spy.methods[-5:] == [*SENT, "eth_getTransactionCount", *SENT]


def test_wallet_that_has_offered_what_it_had_gets_ether_that_costs_nothing_without_a_look_at_its_balance(
    on_chain: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    carol = Wallets(on_chain).new("carol")
    dana = Accounts(on_chain).by_wallet(carol)
    assert on_chain.funder is not None
    on_chain.funder.holdings[carol.address] = 1
    spy = Spy(on_chain, monkeypatch)

    Contract(on_chain).write(carol, "add_group", dana.hash, "first", "d", [], [])

    assert spy.methods[-2:] == SENT
    assert "eth_getBalance" not in spy.methods
    assert on_chain.funder.holdings[carol.address] > 1


def test_chain_that_the_run_has_started_is_not_asked_for_the_nonce_of_a_new_wallet(
    on_chain: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_chain.target, "ends_with_run", True)
    spy = Spy(on_chain, monkeypatch)

    carol = Wallets(on_chain).new("carol")
    assert spy.methods == []

    Accounts(on_chain).by_wallet(carol)
    assert "eth_getTransactionCount" not in spy.methods


def test_refused_transaction_without_reads_is_no_proof(on_chain: Session) -> None:
    carol, mallory = (Wallets(on_chain).new(name) for name in ("carol", "mallory"))
    contract = Contract(on_chain)
    dana = Accounts(on_chain).by_wallet(carol)
    _, control = contract.write(carol, "add_group", dana.hash, "first", "d", [], [])

    with pytest.raises(UnprovenRefusal), Refusals(on_chain, control=control, unchanged=[]) as refusals:
        contract.must_revert(refusals, mallory, "add_group", [dana.hash, "second", "d", [], []])


def test_dry_run_asks_and_changes_nothing(on_chain: Session) -> None:
    carol, mallory = (Wallets(on_chain).new(name) for name in ("carol", "mallory"))
    contract = Contract(on_chain)
    dana = Accounts(on_chain).by_wallet(carol)
    arguments = [dana.hash, "first", "d", [], []]

    control = contract.dry_run("add_group", arguments, sender=carol.address)
    with Refusals(on_chain, control=control, unchanged=[]) as refusals:
        contract.must_revert_dry(refusals, "add_group", arguments, sender=mallory.address)
    with pytest.raises(NotRefused), Refusals(on_chain, control=control, unchanged=[]) as refusals:
        contract.must_revert_dry(refusals, "add_group", arguments, sender=carol.address)

    assert contract.view("list_groups", dana.hash, 0, 10) == {"groups": []}


def test_write_that_the_contract_refuses_raises(on_chain: Session) -> None:
    carol = Wallets(on_chain).new("carol")
    dana = Accounts(on_chain).by_wallet(carol)

    with pytest.raises((NotAccepted, ChainReverted)):
        Contract(on_chain).write(carol, "remove_group", dana.hash, 99)


def test_transactions_after_a_block_hold_the_writes_with_their_logs(on_chain: Session) -> None:
    carol = Wallets(on_chain).new("carol")
    contract = Contract(on_chain)
    dana = Accounts(on_chain).by_wallet(carol)
    before = on_chain.chain.block_number()

    receipt, _ = contract.write(carol, "add_group", dana.hash, "first", "d", [], [])

    (sent,) = [sent for sent in contract.transactions_after(before) if sent["hash"] == receipt.hash]
    assert (sent["from"], sent["to"]) == (carol.address.lower(), contract.address.lower())
    assert sent["logs"]
    held = [contract.transactions_after(before, holding=part) for part in (b"first".hex(), f"0x{b'second'.hex()}")]
    assert held == [[sent], []]


def test_chain_whose_blocks_go_back_proves_nothing(on_chain: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    before = on_chain.chain.block_number()
    assert Contract(on_chain).transactions_after(before) == []

    monkeypatch.setattr(on_chain.chain, "block_number", lambda: before - 1)

    with pytest.raises(ChainTrouble, match=f"a chain that has block {before}, as before"):
        Contract(on_chain).transactions_after(before)


def test_clock_stands_where_it_was_moved_to_however_often(on_chain: Session) -> None:
    now = on_chain.clock.now()

    for seconds in (1000, 3000):
        on_chain.clock.move_to(now + seconds)
        assert 0 <= on_chain.clock.now() - (now + seconds) <= 5
        wallet = Wallets(on_chain).new(f"carol {seconds}")
        on_chain.call("create_wallet_with_signature", **sign_envelope(on_chain, "CreateWallet", wallet).members)

    on_chain.clock.reset()
    assert on_chain.clock.offset == 0
