"""Waits for writes to show: before what depends on them alone. The clock is the test's own."""

from __future__ import annotations

import pytest
from tiny_node import Asked, TinyNode, Told, always

from conformance.endpoints.client import Target
from conformance.profile import Profile
from conformance.service import Account, Accounts, Groups, Session, UsageKeys, settling
from conformance.service.cleanup import clean_up

SECONDS = 2.0


class Clock:
    """A clock that only sleeping advances."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(settling, "time", clock)
    return clock


@pytest.fixture
def profile() -> Profile:
    return Profile.model_validate({"semantics": {"settle_time_seconds": SECONDS}})


@pytest.fixture
def target(target: Target, clock: Clock) -> Target:
    target.pause = clock.sleep  # type: ignore[method-assign]  # its time is the test's
    return target


def test_list_waits_for_the_write_before_it_and_the_next_list_does_not(
    session: Session, alice: Account, clock: Clock
) -> None:
    Groups(session).add(alice.key, "g")
    assert clock.slept == 0.0, "a new account and its first group need no wait on a node that shows them at once"

    Groups(session).list(alice.key)
    Groups(session).list(alice.key)

    assert clock.slept == SECONDS


def test_addition_that_a_node_refuses_is_sent_again_after_the_wait(
    session: Session, alice: Account, clock: Clock, node: TinyNode
) -> None:
    def late(asked: Asked) -> Told:
        return node.honest(asked) if clock.slept else Told(401, {"code": "unknown-key"})

    node.faults["add_group"] = late

    Groups(session).add(alice.key, "g")

    assert clock.slept == SECONDS
    assert node.paths().count("add_group") == 2


def test_addition_that_is_refused_after_the_wait_stays_refused(
    session: Session, alice: Account, clock: Clock, node: TinyNode
) -> None:
    node.faults["add_group"] = always(403, {"code": "forbidden"})

    answer = session.send(session.request("add_group", alice.key, group_name="g", group_description=""))

    assert (answer.status, clock.slept) == (403, SECONDS)


def test_same_addition_again_waits_for_the_first(session: Session, alice: Account, clock: Clock) -> None:
    session.settle()
    again = session.request("add_group", alice.key, group_name="g", group_description="")
    before = clock.slept

    session.send(again)
    session.send(again)

    assert clock.slept == before + SECONDS


def test_what_takes_something_away_is_waited_for_by_every_request_of_accounts(
    session: Session, alice: Account, clock: Clock
) -> None:
    groups = Groups(session)
    group = groups.add(alice.key, "g")
    groups.remove(alice.key, group.id)
    assert clock.slept == SECONDS, "the removal waits for the group"

    groups.add(alice.key, "h")

    assert clock.slept == 2 * SECONDS


def test_requests_without_a_key_wait_for_nothing(session: Session, clock: Clock) -> None:
    Accounts(session).new()
    session.call("get_node_chain_config")
    Accounts(session).new()

    assert clock.slept == 0.0


def test_runs_are_waited_for_by_the_balance_alone(
    session: Session, alice: Account, clock: Clock, node: TinyNode
) -> None:
    node.faults["service_action"] = always(200, {"response": 1, "logs": "", "has_error": False})
    node.faults["billing/balance"] = always(200, {"balance_cents": 1, "balance_display": "$0.01"})
    session.settle()
    before = clock.slept

    session.call("run_action", alice.key, code="")
    session.call("run_action", alice.key, code="")
    assert clock.slept == before
    session.call("balance", alice.key)

    assert clock.slept == before + SECONDS


def test_clean_up_waits_once(session: Session, alice: Account, clock: Clock, node: TinyNode) -> None:
    for _ in range(3):
        UsageKeys(session).add(alice.key)
    before = clock.slept

    clean_up(session)

    assert node.paths().count("remove_usage_api_key") == 3
    assert clock.slept <= before + 2 * SECONDS


@pytest.mark.parametrize("profile", [Profile()])
def test_nothing_waits_where_writes_show_at_once(session: Session, alice: Account, clock: Clock) -> None:
    Groups(session).add(alice.key, "g")
    Groups(session).list(alice.key)

    assert clock.slept == 0.0
