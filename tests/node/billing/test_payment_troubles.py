"""Payments where provider, ledger or account do not hold still (specification, "Billing")."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest
from envelopes import conversion, new_wallet, wallet_balance
from eth_account.signers.local import LocalAccount
from nodes import Running, refused, serving
from processes import client, node_process
from shops import bought, confirm, intend, ledger, pay, simulator
from waiting import until

from reference_node.billing import provider
from reference_node.billing.audit import verify
from reference_node.billing.ledger import Ledger
from reference_node.billing.payments import Payments
from reference_node.settings import Settings, StripeKeys
from reference_node.stripe_simulator.actions import (
    AddFault,
    DeleteCustomer,
    DisputePayment,
    RefundPayment,
    SetLatencies,
    SetRateLimit,
)
from reference_node.stripe_simulator.conditions import Fault, Latency, RateLimit
from reference_node.stripe_simulator.server import serving as serving_simulator
from reference_node.stripe_simulator.simulator import StripeSimulator


@pytest.fixture
def provider_url() -> Iterator[tuple[StripeSimulator, str]]:
    """A provider in another place, over HTTP."""
    simulated = StripeSimulator()
    with serving_simulator(simulated) as url:
        yield simulated, url


@pytest.fixture
def outside(provider_url: tuple[StripeSimulator, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A node whose provider is reached over HTTP, and is given up on soon."""
    monkeypatch.setattr(provider, "TIMEOUT_SECONDS", 0.3)
    monkeypatch.setattr(provider, "RETRIES", 1)
    simulated, url = provider_url
    keys = StripeKeys(simulated.keys.secret, simulated.keys.publishable)
    with serving(Settings(port=0, payments="stripe", stripe_keys=keys, stripe_api_base=url)) as running:
        yield running


def always(**fault: object) -> Callable[[StripeSimulator], object]:
    return AddFault(fault=Fault.model_validate({"times": None, **fault})).carry_out


TROUBLES: dict[str, Callable[[StripeSimulator], object]] = {
    "slow": SetLatencies(latencies=[Latency(before_ms=3_000)]).carry_out,
    "slow after the effect": SetLatencies(latencies=[Latency(after_ms=3_000)]).carry_out,
    "connections dropped": always(kind="drop"),
    "answers lost": always(kind="drop", when="after"),
    "failing": always(kind="status", status=500),
    "unavailable": always(kind="status", status=503, should_retry=False),
    "refusing the key": always(kind="status", status=401),
    "rate limiting": SetRateLimit(rate_limit=RateLimit(requests=0)).carry_out,
    "answering HTML": always(kind="garbage", status=200),
    "answering another object": always(kind="garbage", status=200, body='{"object": "list", "data": []}'),
    "answering no object": always(kind="garbage", status=200, body="[]"),
    "answering half": always(kind="garbage", status=200, body='{"id": "pi_1", "amou'),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_provider_in_trouble_is_503_with_retry_after_and_nothing_changes(
    outside: Running, provider_url: tuple[StripeSimulator, str], trouble: str
) -> None:
    simulated, url = provider_url
    account = outside.account()
    intent, secret = intend(outside, account)
    assert pay(outside, secret, provider=url).json()["status"] == "succeeded"
    TROUBLES[trouble](simulated)
    with ThreadPoolExecutor(2) as pool:
        answers = [
            pool.submit(confirm, outside, account, intent),
            pool.submit(outside.post, "billing/create_payment_intent", account, amount_cents=700),
        ]
        for answer in answers:
            refused(answer.result(), 503, "payment-provider-unavailable")
            assert answer.result().headers["retry-after"].isdecimal()
    assert outside.balance(account) == 0
    simulated.conditions.clear()
    assert confirm(outside, account, intent).status_code == 200
    assert outside.balance(account) == 500
    outside.done("create_wallet", account)
    assert outside.balance(account) == 499


def test_connection_that_the_embedded_provider_drops_is_closed_without_an_answer(shop: Running) -> None:
    _, secret = intend(shop, shop.account())
    always(kind="drop")(simulator(shop))
    with pytest.raises(httpx.RemoteProtocolError):
        pay(shop, secret)
    simulator(shop).conditions.clear()
    assert pay(shop, secret).json()["status"] == "succeeded"


def test_customer_that_was_deleted_at_the_provider_is_made_anew(shop: Running) -> None:
    account = shop.account()
    intent = bought(shop, account)
    for _ in range(2):
        DeleteCustomer(payment_intent=intent).carry_out(simulator(shop))
        intent = bought(shop, account)
    assert shop.balance(account) == 1500


def test_failure_that_the_provider_repeats_for_its_idempotency_key_keeps_nobody_from_buying(shop: Running) -> None:
    account = shop.account()
    AddFault(fault=Fault(path="/v1/customers", when="saved", status=500)).carry_out(simulator(shop))
    refused(shop.post("billing/create_payment_intent", account, amount_cents=500), 503, "payment-provider-unavailable")
    bought(shop, account)
    assert shop.balance(account) == 500


def test_ledger_that_outlives_the_provider_goes_on_selling(tmp_path: Path) -> None:
    """The embedded simulator forgets its customers when the node ends; the ledger remembers them."""
    file = tmp_path / "ledger.sqlite"
    wallet = b"\x07" * 20
    for _ in range(2):
        with serving(Settings(port=0, ledger=file)) as running:
            assert running.node.payments is not None
            secret = running.node.payments.create(wallet, 500)
            assert pay(running, secret).json()["status"] == "succeeded"
            running.node.payments.confirm(wallet, secret.partition("_secret_")[0])
    assert verify(file).cents == {"payment": 1000}


def convert_before(shop: Running, monkeypatch: pytest.MonkeyPatch, request: str, account: str) -> LocalAccount:
    """Have the account converted before this request to the provider. The wallet that it then belongs to."""
    wallet = new_wallet()
    asked = getattr(shop.node.payments._provider, request)  # type: ignore[union-attr]

    def change_hands(*arguments: object) -> object:
        monkeypatch.undo()
        shop.done("convert_to_chain_secured_account", account, **conversion(wallet))
        return asked(*arguments)

    monkeypatch.setattr(shop.node.payments._provider, request, change_hands)  # type: ignore[union-attr]
    return wallet


def test_intent_for_an_account_that_changes_hands_meanwhile_is_told_to_nobody(
    shop: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = shop.account()
    bought(shop, account)
    wallet = convert_before(shop, monkeypatch, "create_intent", account)
    refused(shop.post("billing/create_payment_intent", account, amount_cents=500), 401)
    assert wallet_balance(shop, wallet) == 499


def test_account_that_changes_hands_while_its_payment_is_looked_up_keeps_the_credit(
    shop: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = shop.account()
    bought(shop, account)
    intent, secret = intend(shop, account)
    pay(shop, secret)
    wallet = convert_before(shop, monkeypatch, "look_up", account)
    assert confirm(shop, account, intent).status_code == 200
    assert wallet_balance(shop, wallet) == 999


@pytest.mark.parametrize("change", [RefundPayment, DisputePayment])
def test_refund_counts_before_the_credit_is_given_and_not_after(
    shop: Running, change: type[RefundPayment | DisputePayment]
) -> None:
    account = shop.account()
    credited = bought(shop, account)
    change(payment_intent=credited).carry_out(simulator(shop))
    assert confirm(shop, account, credited).status_code == 200
    assert shop.balance(account) == 500
    intent, secret = intend(shop, account)
    pay(shop, secret)
    change(payment_intent=intent).carry_out(simulator(shop))
    refused(confirm(shop, account, intent), 402, "payment-incomplete")
    assert shop.balance(account) == 500


def test_payments_that_nobody_confirmed_are_found_at_the_next_start_although_the_provider_fails(
    shop: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reference_node.billing.payments.PAUSES", (0.01,))
    account = shop.account()
    unpaid, _ = intend(shop, account)
    secrets = [intend(shop, account)[1] for _ in range(3)]
    for secret in secrets:
        pay(shop, secret)
    fault = Fault(method="GET", kind="status", status=503, should_retry=False, times=7)
    AddFault(fault=fault).carry_out(simulator(shop))
    ledger(shop).note_email(b"\x01" * 20, "ada@example.org")
    assert shop.node.payments is not None
    with closing(Payments(ledger(shop), shop.node.payments._provider)) as restarted:
        restarted.recover()
        until(lambda: shop.balance(account) == 1500 and not ledger(shop).emails())
    assert [intent.id for intent in ledger(shop).open_intents()] == [unpaid]


def test_end_of_the_node_waits_for_no_provider(tmp_path: Path) -> None:
    """What asks the provider, and what waits for its answer over HTTP, ends with the process."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        options = ("--payments", "stripe", "--stripe-api-base", f"http://127.0.0.1:{silent.getsockname()[1]}")
        keys = {"STRIPE_SECRET_KEY": "sk_test_1", "STRIPE_PUBLISHABLE_KEY": "pk_test_1"}
        with node_process(tmp_path / "ready.json", *options, **keys) as (process, ready), client(ready) as http:
            running = Running(None, http)
            account = running.account()
            with ThreadPoolExecutor(1) as pool:
                paying = pool.submit(running.post, "billing/create_payment_intent", account, amount_cents=500)
                asked, _ = silent.accept()
                process.send_signal(signal.SIGTERM)
                assert process.wait(provider.TIMEOUT_SECONDS) == 0
                asked.close()
                refused(paying.result(), 503, "payment-provider-unavailable")


# ------------------------------------------------------------------------------------------------- a ledger that fails


def test_ledger_that_fails_is_503_and_nothing_is_written(shop: Running) -> None:
    account = shop.account()
    bought(shop, account)
    intent, secret = intend(shop, account)
    pay(shop, secret)
    before = shop.everything(account)
    with _full(ledger(shop)):
        for answer in (
            shop.post("create_wallet", account),
            confirm(shop, account, intent),
            shop.post("billing/create_payment_intent", account, amount_cents=500),
        ):
            refused(answer, 503, "ledger-unavailable")
        assert shop.balance(account) == 500
    assert shop.everything(account) == before
    assert confirm(shop, account, intent).status_code == 200
    shop.done("create_wallet", account)
    assert shop.balance(account) == 999


def test_charge_of_a_write_that_the_ledger_fails_to_settle_is_settled_later(
    shop: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reference_node.billing.credits.RETRY_SECONDS", 0.01)
    account = shop.account()
    bought(shop, account)
    create = shop.node.accounts.create_wallet
    with ExitStack() as failing:

        def create_then_fail(*values: object) -> object:
            done = create(*values)  # type: ignore[arg-type]
            failing.enter_context(_full(ledger(shop)))
            return done

        monkeypatch.setattr(shop.node.accounts, "create_wallet", create_then_fail)
        shop.done("create_wallet", account)
        assert len(shop.read("list_wallets", account)) == 1
    until(lambda: not ledger(shop).left_holds())
    assert shop.balance(account) == 499


@contextmanager
def _full(kept: Ledger) -> Iterator[None]:
    """While the ledger's disk is full: what is written can be read, and nothing more can be written."""
    kept._database.execute("PRAGMA query_only = ON")
    yield
    kept._database.execute("PRAGMA query_only = OFF")
