"""Billing of management writes (specification, "Limits" and "Billing"): held before, settled after."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from unittest import mock

import pytest
from actions import credit
from nodes import Running, refused, serving
from shops import ledger
from waiting import until

from reference_node.chain.interface import OutcomeUnknown, Receipt
from reference_node.settings import Settings


@pytest.fixture
def thrifty() -> Iterator[Running]:
    """A node whose accounts can pay for three writes."""
    with serving(Settings(port=0, starter_credits=3)) as running:
        yield running


def test_unforeseen_failure_is_a_problem_that_tells_nothing(thrifty: Running) -> None:
    account, fault = thrifty.account(), RuntimeError("/a/path and a secret")
    with mock.patch.object(thrifty.node.accounts, "create_wallet", side_effect=fault):
        response = thrifty.post("create_wallet", account)
    refused(response, 500, "internal-error")
    assert "secret" not in response.text
    assert credit(thrifty, account) == 3


def test_charge_of_a_write_whose_outcome_is_unknown_waits_for_what_the_chain_says(
    thrifty: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = thrifty.account()
    chain, sent = thrifty.node.chain, threading.Event()
    send, known = chain.send, threading.Event()

    def lose(raw: bytes) -> Receipt:
        send(raw)
        sent.set()
        raise OutcomeUnknown("no block held it in time")

    with monkeypatch.context() as losing:
        losing.setattr(chain, "send", lose)
        losing.setattr(chain, "landed", lambda _: known.is_set() or None)
        refused(thrifty.post("create_wallet", account), 503, "chain-unavailable")
        assert sent.is_set()
        assert credit(thrifty, account) == 2
        known.set()
        until(lambda: not ledger(thrifty).left_holds())
    assert credit(thrifty, account) == 2
