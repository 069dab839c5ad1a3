"""What the suite's own wallets do on the chain, and with a node that runs actions: against a reference node."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.problems import ChainReverted, Mismatch, NotAccepted, NotRefused, StateChanged, UnprovenRefusal
from conformance.service import (
    ALL_PKPS,
    Accounts,
    Actions,
    Contract,
    Groups,
    Permissions,
    Pkps,
    Refusals,
    Runs,
    Session,
    UsageKeys,
    Wallets,
    billing_auth,
    must_refuse,
    sign_envelope,
)
from conformance.service.acceptance import must_accept
from conformance.service.derivations import account_hash, usage_key_hash, wallet_hash
from conformance.service.runs import signer_of_message


def test_account_that_a_wallet_made_is_known_to_the_contract_by_its_address(on_chain: Session) -> None:
    carol = Wallets(on_chain).new("carol")

    dana = Accounts(on_chain).by_wallet(carol)

    assert dana.hash == wallet_hash(carol.address)
    shown = Contract(on_chain).view("get_account", dana.hash)
    assert isinstance(shown, dict)
    assert (shown["managed"], shown["adminWalletAddress"]) == (False, carol.address.lower())


def test_converted_account_keeps_its_hash(on_chain: Session) -> None:
    carol = Wallets(on_chain).new("carol")

    accounts = Accounts(on_chain)
    account = accounts.converted(accounts.new().key, carol)

    shown = Contract(on_chain).view("get_account", account.hash)
    assert isinstance(shown, dict)
    assert (shown["managed"], shown["adminWalletAddress"]) == (False, carol.address.lower())


def test_contract_wallet_owns_an_account_through_its_owner(on_chain: Session) -> None:
    wallets = Wallets(on_chain)
    vault = wallets.contract_wallet(wallets.new("carol"))

    dana = Accounts(on_chain).by_wallet(vault)
    receipt, _ = Contract(on_chain).write(vault, "add_group", dana.hash, "first", "d", [], [])

    assert receipt.succeeded
    assert dana.hash == wallet_hash(vault.address)


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


def test_write_of_a_stranger_must_revert_and_change_nothing(on_chain: Session) -> None:
    carol, mallory = (Wallets(on_chain).new(name) for name in ("carol", "mallory"))
    contract = Contract(on_chain)
    dana = Accounts(on_chain).by_wallet(carol)
    _, control = contract.write(carol, "add_group", dana.hash, "first", "d", [], [])
    groups = contract.unchanged_view("list_groups", dana.hash, 0, 100)
    second = [dana.hash, "second", "d", [], []]

    with Refusals(on_chain, control=control, unchanged=[groups]) as refusals:
        contract.must_revert(refusals, mallory, "add_group", second)
    with pytest.raises(NotRefused), Refusals(on_chain, control=control, unchanged=[groups]) as refusals:
        contract.must_revert(refusals, carol, "add_group", second)
    with pytest.raises(StateChanged), Refusals(on_chain, control=control, unchanged=[groups]):
        contract.write(carol, "add_group", dana.hash, "third", "d", [], [])


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


def test_envelope_is_valid_unless_the_case_makes_it_another(on_chain: Session) -> None:
    carol = Wallets(on_chain).new("carol")
    valid = sign_envelope(on_chain, "CreateWallet", carol)
    expired = sign_envelope(on_chain, "CreateWallet", carol, issued=-1000)

    _, control = on_chain.accept(on_chain.request("create_wallet_with_signature", **valid.members))
    refused = on_chain.request("create_wallet_with_signature", **expired.members)
    must_refuse(on_chain, refused, ["any"], control=control, unchanged=[])


def test_wallet_of_a_converted_account_reads_its_balance(on_chain: Session) -> None:
    carol = Wallets(on_chain).new("carol")
    Accounts(on_chain).convert(Accounts(on_chain).new().key, carol)
    request = on_chain.request("balance")
    request.headers.update(billing_auth(on_chain, carol))

    must_accept(on_chain.send(request))


def test_wallet_of_an_account_key_is_the_one_that_the_node_named(on_chain: Session) -> None:
    alice = Accounts(on_chain).new()

    assert Wallets(on_chain).of_account_key(alice.key).address == alice.wallet_address
    assert on_chain.wallets == []


def test_hashes_of_keys_are_those_of_the_contract(on_chain: Session) -> None:
    alice = Accounts(on_chain).new()
    reader = UsageKeys(on_chain).add(alice.key)
    hashed = account_hash(alice.key, on_chain.profile)

    shown = Contract(on_chain).view("get_usage_api_key", hashed, usage_key_hash(reader.key, on_chain.profile))

    assert isinstance(shown, dict)


def test_run_gives_what_main_returned_and_is_the_control_of_a_refused_one(on_chain: Session) -> None:
    alice = Accounts(on_chain).new()
    pkp = Pkps(on_chain).create(alice.key)
    actions, runs = Actions(on_chain), Runs(on_chain)
    code = actions.source("sign_message", "permitted")
    group = Groups(on_chain).add(alice.key, pkp_ids=[pkp.id], cid_hashes=[actions.hashed_cid(code)])
    runner = UsageKeys(on_chain).add(alice.key, Permissions(execute_in_groups=[group.id]))
    message: dict[str, object] = {"message": "hello"}

    run = runs.run(runner.key, code, pkp_id=pkp.id, params=message)

    assert signer_of_message("hello", run.result) == pkp.address
    other = runs.request(runner.key, actions.source("sign_message", "another"), pkp_id=pkp.id, params=message)
    must_refuse(on_chain, other, ["forbidden"], control=run.accepted, unchanged=[])


def test_wildcards_permit_every_wallet_and_action(on_chain: Session) -> None:
    alice = Accounts(on_chain).new()
    pkp = Pkps(on_chain).create(alice.key)
    groups = Groups(on_chain)
    groups.add(alice.key, pkp_ids=[ALL_PKPS], cid_hashes=[groups.all_actions])

    code = Actions(on_chain).source("sign_message")
    run = Runs(on_chain).run(alice.key, code, pkp_id=pkp.id, params={"message": "hello"})

    assert signer_of_message("hello", run.result) == pkp.address


def test_run_without_a_signature_has_no_signer() -> None:
    with pytest.raises(Mismatch, match="recovers to a signer"):
        signer_of_message("hello", "0x00")


def test_clock_stands_where_it_was_moved_to_however_often(on_chain: Session) -> None:
    now = on_chain.clock.now()

    for seconds in (1000, 3000):
        on_chain.clock.move_to(now + seconds)
        assert 0 <= on_chain.clock.now() - (now + seconds) <= 5
        wallet = Wallets(on_chain).new(f"carol {seconds}")
        on_chain.call("create_wallet_with_signature", **sign_envelope(on_chain, "CreateWallet", wallet).members)

    on_chain.clock.reset()
    assert on_chain.clock.offset == 0
