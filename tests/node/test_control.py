"""The test-control interface, there only where it is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from actions import wallet_of
from nodes import Running, refused, serving

from reference_node.permission.keys import address_of, new_secret
from reference_node.settings import Settings


@pytest.fixture(scope="module")
def controlled() -> Iterator[Running]:
    with serving(Settings(port=0, starter_credits=100, control=True)) as running:
        yield running


def control(running: Running, operation: str, body: object) -> httpx.Response:
    return running.http.post(f"/control/{operation}", json=body)


def test_without_the_option_there_is_no_control(running: Running) -> None:
    for operation, body in (("clock", {"offset_seconds": 5}), ("fund", {"address": "0x" + "11" * 20}), ("reset", {})):
        refused(control(running, operation, body), 404, "not-found")
    assert running.node.clock.offset_seconds == 0


@pytest.mark.parametrize("offset", ["1", None, True, 1.5, 10**10, -(10**10)])
def test_clock_takes_seconds_within_reason(controlled: Running, offset: object) -> None:
    refused(control(controlled, "clock", {"offset_seconds": offset}), 422)
    refused(control(controlled, "clock", {}), 422)
    assert controlled.node.clock.offset_seconds == 0


def test_wallet_is_given_as_much_as_is_asked_for(controlled: Running) -> None:
    wallet = address_of(new_secret())
    address = f"0x{wallet.hex()}"
    for wei in (1, 10**18, 10**30):
        before = controlled.node.chain.balance(wallet)
        control(controlled, "fund", {"address": address, "wei": wei})
        assert controlled.node.chain.balance(wallet) - before == wei
    for amount in (0, -1, 10**30 + 1, "1", 1.5, True, None):
        refused(control(controlled, "fund", {"address": address, "wei": amount}), 422)


def test_spent_wallet_keeps_what_is_to_be_left(controlled: Running) -> None:
    account = controlled.account()
    address = f"0x{wallet_of(account).hex()}"
    for leave, left in ((2, 2), (3, 2), (1, 1), (0, 0)):
        assert control(controlled, "spend", {"address": address, "leave": leave}).status_code == 200
        assert controlled.balance(account) == left
    for leave in (-1, 2**64, "1", 1.5, True, None):
        refused(control(controlled, "spend", {"address": address, "leave": leave}), 422)


def test_reset_forgets_everything(controlled: Running) -> None:
    account = controlled.account()
    contract = controlled.read("get_node_chain_config")
    control(controlled, "clock", {"offset_seconds": 1000})
    assert control(controlled, "reset", {}).status_code == 200
    refused(controlled.get("list_groups", account), 401, "unknown-key")
    assert controlled.node.clock.offset_seconds == 0
    assert controlled.read("get_node_chain_config") == contract
    controlled.group(controlled.account())
