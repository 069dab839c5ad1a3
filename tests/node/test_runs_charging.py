"""What runs cost (specification, "Billing"): a cent for each started second, nothing for what was refused or failed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from actions import ECHO, KEY, SIGN, credit, failed, permitted, ran, run, wallet_of
from nodes import Running, refused, serving
from shops import ledger

from reference_node.chain.interface import ChainUnavailable
from reference_node.sandbox import RunResult, SandboxBroken, SandboxBusy, SandboxUnavailable
from reference_node.settings import Settings

ENDLESS = "async function main() { console.log('begun'); for (;;); }"

CREDITS = 20


@pytest.fixture(scope="module")
def thrifty() -> Iterator[Running]:
    """A node whose accounts can pay for a few writes and runs."""
    with serving(Settings(port=0, starter_credits=CREDITS)) as running:
        yield running


def test_real_run_pays_for_the_seconds_that_it_was_told_of(thrifty: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = permitted(thrifty, KEY)
    before = credit(thrifty, mine.account)
    prices: list[int] = []
    price, host_call = thrifty.node.runs.price, thrifty.node.runs.host_call

    def slow(*arguments: object) -> object:
        end = time.thread_time() + 1.3  # what the node computes for a run is the run's
        while time.thread_time() < end:
            pass
        return host_call(*arguments)  # type: ignore[arg-type] # whatever the sandbox gave

    monkeypatch.setattr(thrifty.node.runs, "price", lambda: prices.append(price()) or prices[-1])
    monkeypatch.setattr(thrifty.node.runs, "host_call", slow)
    ran(thrifty, mine.key, KEY, pkpId=mine.wallet)
    assert credit(thrifty, mine.account) == before - len(prices)
    assert len(prices) >= 2
    assert set(prices) == {1}


def test_run_ends_when_the_credits_do_not_cover_its_next_second(thrifty: Running) -> None:
    mine = permitted(thrifty, ENDLESS)
    while credit(thrifty, mine.account) > 1:
        thrifty.group(mine.account)
    logs = failed(thrifty, mine.key, ENDLESS).splitlines()
    assert logs[0] == "begun"
    assert "credit" in logs[-1]
    assert credit(thrifty, mine.account) == 0


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (SandboxBusy("full"), "sandbox-busy"),
        (SandboxBroken("gone"), "sandbox-failed"),
        (SandboxUnavailable("no seccomp"), "sandbox-unavailable"),
        (ChainUnavailable("gone"), "chain-unavailable"),
    ],
)
def test_failures_that_are_not_the_scripts_cost_nothing(
    thrifty: Running, monkeypatch: pytest.MonkeyPatch, failure: Exception, code: str
) -> None:
    mine = permitted(thrifty, ECHO)
    before = credit(thrifty, mine.account)

    def fail(*given: Any) -> None:
        starts_second = given[4]
        assert starts_second(2)
        raise failure

    monkeypatch.setattr(thrifty.node.sandbox, "run", fail)
    answered = run(thrifty, mine.key, ECHO)
    refused(answered, 503, code)
    assert (answered.headers.get("retry-after") == "1") == (code == "sandbox-busy")
    assert credit(thrifty, mine.account) == before


def test_chain_that_fails_at_a_host_call_is_told_and_costs_nothing(thrifty: Running) -> None:
    mine = permitted(thrifty, SIGN)
    before = credit(thrifty, mine.account)
    with mock.patch.object(thrifty.node.accounts, "can_execute", side_effect=ChainUnavailable("gone")):
        refused(run(thrifty, mine.key, SIGN, pkpId=mine.wallet, message="m"), 503, "chain-unavailable")
    assert credit(thrifty, mine.account) == before


def test_run_comes_first_once_its_account_has_paid(thrifty: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = permitted(thrifty, ECHO)
    turns: list[object] = []

    def last(*given: object) -> RunResult:
        turns.append(given[5])
        return RunResult("1", "", False, 0.5)

    monkeypatch.setattr(thrifty.node.sandbox, "run", last)
    ran(thrifty, mine.key, ECHO)
    ledger(thrifty).note_intent(wallet_of(mine.account), "pi_of_this_test", "cus_of_this_test", 500, "usd")
    ledger(thrifty).credit("pi_of_this_test")
    ran(thrifty, mine.key, ECHO)
    monkeypatch.setattr(thrifty.node, "payments", None)
    other = permitted(thrifty, ECHO)
    ran(thrifty, other.key, ECHO)
    assert turns == [False, True, True]
