"""Billing of management writes (specification, "Limits" and "Billing"): held before, settled after."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from nodes import Running, refused, serving

from reference_node.billing import charged
from reference_node.billing.in_memory import InMemoryBilling
from reference_node.chain.interface import ChainUnavailable
from reference_node.keys import address_of
from reference_node.problems import PaymentRequired
from reference_node.settings import Settings

WALLET, OTHER = b"\x01" * 20, b"\x02" * 20


@pytest.fixture
def thrifty() -> Iterator[Running]:
    """A node whose accounts can pay for three writes."""
    with serving(Settings(port=0, starter_credits=3)) as running:
        yield running


def credit(running: Running, account: str) -> int:
    return running.node.billing.balance(address_of(base64.b64decode(account)))


def test_every_accepted_write_costs_one_cent_and_the_last_is_refused(thrifty: Running) -> None:
    account = thrifty.account()
    for left in (2, 1, 0):
        thrifty.done("create_wallet", account)
        assert credit(thrifty, account) == left
    before = thrifty.everything(account)
    refused(thrifty.post("create_wallet", account), 402, "insufficient-credits")
    refused(thrifty.post("add_group", account, group_name="n", group_description="d"), 402)
    assert thrifty.everything(account) == before
    assert credit(thrifty, account) == 0


def test_usage_keys_spend_the_credit_of_their_account(thrifty: Running) -> None:
    account = thrifty.account()
    key = thrifty.usage_key(account, can_create_pkps=True)
    thrifty.done("create_wallet", key)
    assert credit(thrifty, account) == 1


def test_reads_and_refused_writes_cost_nothing(thrifty: Running) -> None:
    account = thrifty.account()
    key = thrifty.usage_key(account)
    left = credit(thrifty, account)
    thrifty.everything(account)
    thrifty.read("account_exists", account)
    refused(thrifty.post("create_wallet", key), 403)
    refused(thrifty.post("remove_group", account, group_id="9"), 404)
    refused(thrifty.post("add_group", account, group_name=1), 422)
    assert credit(thrifty, account) == left


def test_failed_write_costs_nothing(thrifty: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    account = thrifty.account()

    def fail(*_: object) -> None:
        raise ChainUnavailable("gone")

    monkeypatch.setattr(thrifty.node.accounts, "create_wallet", fail)
    refused(thrifty.post("create_wallet", account), 503, "chain-unavailable")
    assert credit(thrifty, account) == 3


def test_unforeseen_failure_is_a_problem_that_tells_nothing(thrifty: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    account = thrifty.account()

    def fail(*_: object) -> None:
        raise RuntimeError("/a/path and a secret")

    monkeypatch.setattr(thrifty.node.accounts, "create_wallet", fail)
    response = thrifty.post("create_wallet", account)
    refused(response, 500, "internal-error")
    assert "secret" not in response.text
    assert credit(thrifty, account) == 3


def test_concurrent_writes_never_overdraw(thrifty: Running) -> None:
    account = thrifty.account()
    with ThreadPoolExecutor(10) as pool:
        statuses = list(pool.map(lambda _: thrifty.post("create_wallet", account).status_code, range(10)))
    assert sorted(statuses) == [200] * 3 + [402] * 7
    assert len(thrifty.read("list_wallets", account)) == 3
    assert credit(thrifty, account) == 0


def test_hold_takes_credit_at_once_and_release_gives_it_back() -> None:
    billing = InMemoryBilling(5)
    billing.open_record(WALLET, None)
    hold = billing.hold(WALLET, 4)
    assert billing.balance(WALLET) == 1
    with pytest.raises(PaymentRequired):
        billing.hold(WALLET, 2)
    billing.release(hold)
    assert billing.balance(WALLET) == 5


def test_settling_gives_back_what_was_not_used_and_never_takes_more() -> None:
    billing = InMemoryBilling(10)
    billing.open_record(WALLET, None)
    billing.settle(billing.hold(WALLET, 4), 1)
    assert billing.balance(WALLET) == 9
    billing.settle(billing.hold(WALLET, 4), 9)
    assert billing.balance(WALLET) == 5


def test_moved_record_adds_up_and_takes_its_holds_along() -> None:
    billing = InMemoryBilling(10)
    for wallet in (WALLET, OTHER):
        billing.open_record(wallet, None)
    hold = billing.hold(WALLET, 4)
    billing.move(WALLET, OTHER)
    assert (billing.balance(WALLET), billing.balance(OTHER)) == (0, 16)
    billing.release(hold)
    assert (billing.balance(WALLET), billing.balance(OTHER)) == (0, 20)


def test_record_moved_to_its_own_wallet_stays_as_it_is() -> None:
    billing = InMemoryBilling(10)
    billing.open_record(WALLET, None)
    hold = billing.hold(WALLET, 4)
    billing.move(WALLET, WALLET)
    assert billing.balance(WALLET) == 6
    billing.release(hold)
    assert billing.balance(WALLET) == 10


def test_charge_is_released_when_what_it_was_for_fails() -> None:
    billing = InMemoryBilling(1)
    billing.open_record(WALLET, None)
    with pytest.raises(KeyError), charged(billing, WALLET, 1):
        raise KeyError
    assert billing.balance(WALLET) == 1
    with charged(billing, WALLET, 1):
        pass
    assert billing.balance(WALLET) == 0
