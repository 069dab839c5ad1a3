"""Specification: "States and transitions / Account mode": from API mode to ChainSecured, once and for good."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest
from actions import account_hash
from envelopes import conversion, new_wallet, wallet_balance
from nodes import Running, refused
from waiting import Held

from reference_node.api.access import Caller, ManagementWrite
from reference_node.chain.interface import ChainUnavailable

CONVERT = "convert_to_chain_secured_account"

CREDIT = 10**9
"""What an account of these tests begins with."""


def test_former_account_key_is_unknown_and_usage_keys_write_no_more(running: Running, account: str) -> None:
    key = running.usage_key(account, can_create_pkps=True)
    running.done(CONVERT, account, **conversion(new_wallet()))
    refused(running.get("list_groups", account), 401, "unknown-key")
    refused(running.get("billing/balance", account), 401, "unknown-key")
    assert running.read("account_exists", account) is False
    assert "admin wallet" in refused(running.post("create_wallet", key), 403, "chain-secured-account")["detail"]


NO_ADDRESSES = [None, 1, "", "0x", "0x" + "11" * 19, "0x" + "11" * 21, "11" * 20, "0x" + "g" * 40]


@pytest.mark.parametrize(
    ("named", "status", "code"),
    [("0x" + "11" * 20, 400, "new-admin-not-signer"), *((named, 422, "request-invalid") for named in NO_ADDRESSES)],
)
def test_new_admin_is_the_address_of_the_signer(
    running: Running, account: str, named: object, status: int, code: str
) -> None:
    body = conversion(new_wallet()) | {"new_admin_wallet_address": named}
    refused(running.post(CONVERT, account, **body), status, code)


def test_conversion_that_the_chain_fails_keeps_account_and_credits(running: Running, account: str) -> None:
    wallet = new_wallet()
    gone = ChainUnavailable("gone")
    with mock.patch.object(running.node.accounts, "convert_to_chain_secured", side_effect=gone):
        refused(running.post(CONVERT, account, **conversion(wallet)), 503, "chain-unavailable")
    assert wallet_balance(running, wallet) == 0
    assert running.balance(account) == CREDIT
    running.done("create_wallet", account)


def test_loser_that_was_let_in_before_is_told_of_the_conflict(running: Running, account: str) -> None:
    """The winner's transaction lands when the loser has passed every check of the node."""
    first, second = new_wallet(), new_wallet()
    convert = running.node.accounts.convert_to_chain_secured

    def late(acting_key: int, new_admin: bytes) -> None:
        convert(acting_key, bytes.fromhex(first.address[2:]))
        convert(acting_key, new_admin)

    with mock.patch.object(running.node.accounts, "convert_to_chain_secured", late):
        refused(running.post(CONVERT, account, **conversion(second)), 409, "already-chain-secured")
    assert running.node.accounts.account(account_hash(account)).admin_wallet == bytes.fromhex(first.address[2:])
    assert wallet_balance(running, second) == 0


def test_charge_in_flight_waits_until_the_credits_have_changed_hands(
    running: Running, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wallet, held = new_wallet(), Held(monkeypatch, running.node.billing, "move")
    let_in_before = ManagementWrite(running.node, Caller(account_hash(account), account_hash(account), True, True))

    def charge() -> None:
        with let_in_before.charged():
            pass

    with ThreadPoolExecutor(2) as pool:
        converted = pool.submit(running.post, CONVERT, account, **conversion(wallet))
        held.begun()
        charged = pool.submit(charge)
        with pytest.raises(TimeoutError):
            charged.result(0.2)
        held.let_go()
        assert converted.result(60).status_code == 200
        charged.result(60)
    assert wallet_balance(running, wallet) == CREDIT - 2
