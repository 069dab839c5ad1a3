"""Permissions that change while an action runs count from its next use of a wallet on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from actions import TWICE, Permitted, permitted, ran, run, signer
from envelopes import conversion, new_wallet
from nodes import Running, refused

REFUSED = "execution-not-permitted"


def before_second_use(running: Running, monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Have the change made, over HTTP, between the first use of a wallet and the second."""
    host_call = running.node.runs.host_call
    uses: list[str] = []

    def counted(run: Any, name: str, arguments: Any) -> Any:
        uses.append(name)
        if len(uses) == 2:
            change()
        return host_call(run, name, arguments)

    monkeypatch.setattr(running.node.runs, "host_call", counted)


def test_new_permission_counts_from_the_next_use_on(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    both = """async function main({ one, other }) {
      await Service.Actions.signMessage({ pkpId: one, message: "m" });
      return await Service.Actions.signMessage({ pkpId: other, message: "m" });
    }"""
    mine = permitted(running, both)
    other = running.wallet(mine.account)
    refused(run(running, mine.key, both, one=mine.wallet, other=other), 403, REFUSED)
    permit = partial(running.done, "add_pkp_to_group", mine.account, group_id=mine.group, pkp_id=other)
    before_second_use(running, monkeypatch, permit)
    ran(running, mine.key, both, one=mine.wallet, other=other)


@pytest.fixture
def converted(running: Running, monkeypatch: pytest.MonkeyPatch) -> Permitted:
    """Who may run an action, and whose account is converted between its first use of a wallet and its second."""
    mine = permitted(running, TWICE)

    def convert() -> None:
        running.done("convert_to_chain_secured_account", mine.account, **conversion(new_wallet()))

    before_second_use(running, monkeypatch, convert)
    return mine


def test_account_key_loses_its_wallets_at_once_when_its_account_is_converted(
    running: Running, converted: Permitted
) -> None:
    refused(run(running, converted.account, TWICE, pkpId=converted.wallet), 403, REFUSED)


def test_usage_key_keeps_its_wallets_while_its_account_is_converted(running: Running, converted: Permitted) -> None:
    first, second = ran(running, converted.key, TWICE, pkpId=converted.wallet)
    assert signer(first, "first") == signer(second, "second")
