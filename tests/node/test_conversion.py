"""Specification: "States and transitions / Account mode": from API mode to ChainSecured, once and for good."""

from __future__ import annotations

import base64
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from envelopes import conversion, envelope, fund, new_wallet, refused_with, send, sign, signed, wallet_auth
from nodes import PERMISSIONS, Running, refused

from reference_node.api.access import Caller, ManagementWrite
from reference_node.chain.account_config import Account
from reference_node.chain.interface import ChainUnavailable
from reference_node.permission.keys import address_of, key_hash
from reference_node.permission.typed_data import Flow

CONVERT = "convert_to_chain_secured_account"

CREDIT = 10**9
"""What an account of these tests begins with."""


def account_hash(account: str) -> int:
    return key_hash(base64.b64decode(account))


def record(running: Running, account: str) -> Account:
    return running.node.accounts.account(account_hash(account))


def payers_nonces(running: Running) -> int:
    """How many transactions the payers have sent."""
    return sum(running.node.chain.next_nonce(payer) for payer in running.node.accounts.api_payers())


def furnished(running: Running) -> tuple[str, str]:
    """An account that has one of everything, and a usage key of it."""
    account = running.account()
    wallet = running.wallet(account)
    group = running.group(account, pkp_ids_permitted=[wallet], cid_hashes_permitted=["0"])
    running.done(
        "add_action",
        account,
        action_ipfs_cid="QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH",
        name="a",
        description="b",
    )
    return account, running.usage_key(account, can_create_groups=True, execute_in_groups=[group])


def credit(running: Running, wallet: Any) -> int:
    proof = signed(Flow.BILLING_AUTH, wallet)
    answered = running.http.get("/core/v1/billing/balance", headers=wallet_auth(proof))
    assert answered.status_code == 200, answered.text
    return int(answered.json()["balance_cents"])


def test_account_changes_hands_and_keeps_everything(running: Running) -> None:
    account, key = furnished(running)
    wallet = new_wallet()
    before, former = running.everything(key), record(running, account)
    sent = payers_nonces(running)
    assert running.done(CONVERT, account, **conversion(wallet)) == {"success": True}
    assert payers_nonces(running) == sent + 1
    after = record(running, account)
    assert after == former._replace(managed=False, admin_wallet=bytes.fromhex(wallet.address[2:]))
    assert running.everything(key) == before


def test_old_master_key_opens_nothing_and_its_wallet_neither(running: Running) -> None:
    account, _ = furnished(running)
    running.done(CONVERT, account, **conversion(new_wallet()))
    refused(running.post("create_wallet", account), 401, "unknown-key")
    refused(running.get("list_groups", account), 401, "unknown-key")
    refused(running.get("billing/balance", account), 401, "unknown-key")
    assert running.read("account_exists", account) is False
    old_wallet = address_of(base64.b64decode(account))
    acting = account_hash(account)
    assert refused_with(running, old_wallet, "removeGroup", acting, 1) == "SenderNotPermitted"


def test_usage_keys_read_on_and_write_no_more(running: Running) -> None:
    account, key = furnished(running)
    running.done(CONVERT, account, **conversion(new_wallet()))
    before = running.everything(key)
    problem = refused(
        running.post("add_group", key, group_name="n", group_description="d"), 403, "chain-secured-account"
    )
    assert "admin wallet" in problem["detail"]
    assert running.everything(key) == before


def test_new_admin_wallet_writes_on_chain_under_the_same_hash(running: Running) -> None:
    account, key = furnished(running)
    wallet = new_wallet()
    fund(running, wallet)
    assert not send(running, wallet, "addGroup", account_hash(account), "before", "d", [], [])
    running.done(CONVERT, account, **conversion(wallet))
    assert send(running, wallet, "addGroup", account_hash(account), "after", "d", [], [])
    assert [group["name"] for group in running.read("list_groups", key)] == ["g", "after"]


def test_second_conversion_is_refused(running: Running, account: str) -> None:
    running.done(CONVERT, account, **conversion(new_wallet()))
    before = record(running, account)
    refused(running.post(CONVERT, account, **conversion(new_wallet())), 401, "unknown-key")
    for sender in (*running.node.accounts.api_payers(), before.admin_wallet):
        arguments = (account_hash(account), address_of(b"\x01" * 32))
        assert refused_with(running, sender, "convertToChainSecuredAccount", *arguments) == "AlreadyChainSecured"
    assert record(running, account) == before


def test_credits_follow_and_add_up(running: Running) -> None:
    first, second = running.account(), running.account()
    wallet = new_wallet()
    assert credit(running, wallet) == 0
    running.done(CONVERT, first, **conversion(wallet))
    assert credit(running, wallet) == CREDIT - 1
    running.done(CONVERT, second, **conversion(wallet))
    assert credit(running, wallet) == 2 * CREDIT - 2


def test_account_may_be_handed_to_the_wallet_that_it_has(running: Running, account: str) -> None:
    from eth_account import Account as Accounts  # noqa: PLC0415 - the other `Account` of this module is the contract's

    own = Accounts.from_key(base64.b64decode(account))
    running.done(CONVERT, account, **conversion(own))
    assert record(running, account).managed is False
    assert credit(running, own) == CREDIT - 1


def test_conversion_needs_the_master_key(running: Running) -> None:
    account, key = furnished(running)
    strong = running.usage_key(account, **PERMISSIONS)
    body = conversion(new_wallet())
    before = record(running, account), running.read("billing/balance", account)
    refused(running.post(CONVERT, **body), 401, "key-missing")
    for usage_key in (key, strong):
        refused(running.post(CONVERT, usage_key, **body), 403, "owner-only")
    assert (record(running, account), running.read("billing/balance", account)) == before
    running.done(CONVERT, account, **body)


def test_key_alone_says_which_account_is_converted(running: Running) -> None:
    first, second = running.account(), running.account()
    running.done(CONVERT, second, **conversion(new_wallet()))
    assert record(running, first).managed
    assert not record(running, second).managed


def test_same_envelope_converts_another_account_of_the_same_holder(running: Running) -> None:
    body = conversion(new_wallet())
    for account in (running.account(), running.account()):
        running.done(CONVERT, account, **body)


@pytest.mark.parametrize("named", ["0x" + "00" * 20, "0x" + "11" * 20])
def test_new_admin_has_to_be_the_signer(running: Running, account: str, named: str) -> None:
    body = conversion(new_wallet()) | {"new_admin_wallet_address": named}
    refused(running.post(CONVERT, account, **body), 400, "new-admin-not-signer")
    assert record(running, account).managed


@pytest.mark.parametrize("named", [None, 1, "", "0x", "0x" + "11" * 19, "0x" + "11" * 21, "11" * 20, "0x" + "g" * 40])
def test_new_admin_has_to_be_an_address(running: Running, account: str, named: object) -> None:
    body = conversion(new_wallet()) | {"new_admin_wallet_address": named}
    refused(running.post(CONVERT, account, **body), 422, "request-invalid")


def test_case_of_the_new_admin_means_nothing(running: Running, account: str) -> None:
    wallet = new_wallet()
    running.done(CONVERT, account, **conversion(wallet) | {"new_admin_wallet_address": wallet.address.lower()})


def test_refused_conversion_changes_nothing_and_costs_nothing(running: Running) -> None:
    account, key = furnished(running)
    before = running.everything(account), record(running, account), running.read("billing/balance", account)
    wallet, other = new_wallet(), new_wallet()
    chain_b = envelope(Flow.CONVERT_ACCOUNT, wallet, chain_id=1)
    late = envelope(Flow.CONVERT_ACCOUNT, wallet, running.node.clock.now() - 400)
    mine = envelope(Flow.CONVERT_ACCOUNT, wallet)
    for typed_data, signature, expected in (
        (chain_b, sign(wallet, chain_b), "typed-data-chain-id"),
        (late, sign(wallet, late), "typed-data-expired"),
        (mine, sign(other, mine), "signature-mismatch"),
        (mine, "0x", "signature-malformed"),
    ):
        body = {"typed_data": typed_data, "signature": signature, "new_admin_wallet_address": wallet.address}
        refused(running.post(CONVERT, account, **body), 400, expected)
    assert (running.everything(account), record(running, account), running.read("billing/balance", account)) == before
    running.done("create_wallet", account)
    running.read("list_groups", key)


def test_conversion_that_the_chain_fails_keeps_account_and_credits(
    running: Running, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wallet = new_wallet()

    def fail(*_: object) -> None:
        raise ChainUnavailable("gone")

    with monkeypatch.context() as broken:
        broken.setattr(running.node.accounts, "convert_to_chain_secured", fail)
        refused(running.post(CONVERT, account, **conversion(wallet)), 503, "chain-unavailable")
    assert credit(running, wallet) == 0
    assert running.read("billing/balance", account)["balance_cents"] == CREDIT
    running.done("create_wallet", account)


def test_of_conversions_at_once_exactly_one_wins(running: Running, account: str) -> None:
    wallets = [new_wallet() for _ in range(6)]
    with ThreadPoolExecutor(len(wallets)) as pool:
        bodies = [conversion(wallet) for wallet in wallets]
        statuses = list(pool.map(lambda body: running.post(CONVERT, account, **body).status_code, bodies))
    assert sorted(statuses)[0] == 200
    assert set(sorted(statuses)[1:]) <= {401, 403, 409}
    winner = wallets[statuses.index(200)]
    assert record(running, account).admin_wallet == bytes.fromhex(winner.address[2:])
    assert [credit(running, wallet) for wallet in wallets] == [
        CREDIT - 1 if wallet is winner else 0 for wallet in wallets
    ]


def test_loser_that_was_let_in_before_is_told_of_the_conflict(
    running: Running, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The winner's transaction lands when the loser has passed every check of the node."""
    first, second = new_wallet(), new_wallet()
    convert = running.node.accounts.convert_to_chain_secured

    def late(acting_key: int, new_admin: bytes) -> None:
        convert(acting_key, bytes.fromhex(first.address[2:]))
        convert(acting_key, new_admin)

    with monkeypatch.context() as raced:
        raced.setattr(running.node.accounts, "convert_to_chain_secured", late)
        refused(running.post(CONVERT, account, **conversion(second)), 409, "already-chain-secured")
    assert record(running, account).admin_wallet == bytes.fromhex(first.address[2:])
    assert credit(running, second) == 0


def test_charge_in_flight_waits_until_the_credits_have_changed_hands(
    running: Running, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wallet, move = new_wallet(), running.node.billing.move
    moving, go_on = threading.Event(), threading.Event()
    let_in_before = ManagementWrite(running.node, Caller(account_hash(account), account_hash(account), True, True))

    def slow(converted: int, wallet: bytes, new_wallet: bytes) -> None:
        moving.set()
        assert go_on.wait(60)
        move(converted, wallet, new_wallet)

    def charge() -> None:
        with let_in_before.charged():
            pass

    monkeypatch.setattr(running.node.billing, "move", slow)
    with ThreadPoolExecutor(2) as pool:
        converted = pool.submit(running.post, CONVERT, account, **conversion(wallet))
        assert moving.wait(60)
        charged = pool.submit(charge)
        with pytest.raises(TimeoutError):
            charged.result(0.2)
        go_on.set()
        assert converted.result(60).status_code == 200
        charged.result(60)
    assert credit(running, wallet) == CREDIT - 2


def test_no_write_in_flight_finds_the_credits_gone(running: Running, account: str) -> None:
    """Writes before, while and after the account changes hands: done or refused for its mode, never for its credits."""
    start = threading.Barrier(9)

    def write(number: int) -> str:
        start.wait(60)
        answered = running.post("add_group", account, group_name=str(number), group_description="d")
        return "done" if answered.status_code == 200 else str(answered.json()["code"])

    def convert() -> int:
        start.wait(60)
        return running.post(CONVERT, account, **conversion(wallet)).status_code

    wallet = new_wallet()
    with ThreadPoolExecutor(9) as pool:
        writes = [pool.submit(write, number) for number in range(8)]
        assert pool.submit(convert).result() == 200
        outcomes = [future.result() for future in writes]
    assert set(outcomes) <= {"done", "chain-secured-account", "unknown-key"}
    assert credit(running, wallet) == CREDIT - 1 - outcomes.count("done")
