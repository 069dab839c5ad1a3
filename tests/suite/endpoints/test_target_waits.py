"""Nodes that ask to wait, and nodes that were there a moment ago."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest
from tiny_node import Asked, TinyNode, Told, always

from conformance.endpoints import client
from conformance.endpoints.client import Target
from conformance.endpoints.messages import Answer
from conformance.problems import Throttled, Unreachable, Unsendable
from conformance.profile import Profile
from conformance.service import Accounts, Session


@pytest.mark.parametrize(
    ("headers", "most"),
    [
        (lambda: {"Retry-After": "1"}, 1),
        (lambda: {"Retry-After": formatdate(time.time() + 3, usegmt=True)}, 3),
        (dict, 1),
    ],
    ids=["seconds", "date", "no time"],
)
def test_request_is_sent_again_after_the_time_that_the_node_asks_for(
    node: TinyNode, session: Session, headers: Callable[[], dict[str, str]], most: int
) -> None:
    asked: list[float] = []

    def busy_once(request: Asked) -> Told:
        asked.append(time.monotonic())
        return Told(429, headers=headers()) if len(asked) == 1 else node.honest(request)

    node.faults["new_account"] = busy_once
    Accounts(session).new()
    assert asked[1] - asked[0] >= 1
    assert 1 <= session.log.spending.waited <= most


@pytest.mark.parametrize("time_to_wait", ["in a while", "3600"])
def test_node_that_asks_to_wait_for_no_time_or_too_long_teaches_nothing(
    node: TinyNode, session: Session, time_to_wait: str
) -> None:
    node.faults["new_account"] = always(429, Retry_After=time_to_wait)
    with pytest.raises(Throttled):
        Accounts(session).new()


@pytest.mark.parametrize("key", ["k7\nx", "k7\x00x", " k7"])
def test_key_that_no_header_can_hold_is_told_as_such_at_once(session: Session, key: str) -> None:
    with pytest.raises(Unsendable) as told:
        session.send(session.request("list_groups", key))
    assert "k7" not in str(told.value)


def test_node_that_was_never_there_is_told_at_once() -> None:
    with Target("http://127.0.0.1:9", Profile()) as target, pytest.raises(Unreachable):
        Session(target, "pack::case").call("get_api_payers")


def test_request_that_a_node_was_not_there_to_see_is_sent_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    Accounts(session).new()
    send, tries = Target._send, []

    def gone_at_first(self: Target, *arguments: Any) -> Answer:
        tries.append(arguments)
        if len(tries) == 1:
            raise Unreachable("a node that listens", "nobody")
        return send(self, *arguments)

    monkeypatch.setattr(Target, "_send", gone_at_first)
    Accounts(session).new()
    assert len(tries) == 2


def test_node_that_puts_everything_off_is_waited_for_once(
    node: TinyNode, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(client, "LONGEST_WAIT_SECONDS", 0.1)
    node.faults["new_account"] = always(429)
    for _ in range(4):
        with pytest.raises(Throttled):
            Accounts(session).new()

    assert len(node.asked) <= 4 + 3, "again after 0.01, 0.02 and 0.04 s; the three others at once"
