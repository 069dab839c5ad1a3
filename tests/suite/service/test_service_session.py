"""A case's session: what it remembers of its requests, what it asks once, and what it cleans up."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace

import pytest
from tiny_node import Asked, TinyNode, Told, always

from conformance.endpoints.client import Target
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import BeyondLimits, Malformed, NotAccepted
from conformance.profile import Profile
from conformance.service import (
    Account,
    Accounts,
    Groups,
    Session,
    UsageKeys,
    chain_id,
    cleanup,
    contract_address,
    lists,
)
from conformance.service.cleanup import clean_up


def test_call_that_is_refused_raises(session: Session) -> None:
    with pytest.raises(NotAccepted, match="401"):
        session.call("list_groups", "no key", page_number=0, page_size=1)


def test_credentials_of_requests_and_answers_are_hidden_in_the_log(session: Session, alice: Account) -> None:
    UsageKeys(session).add(alice.key)

    shown = [session.log.redacted(number) for number in range(len(session.log))]

    assert "$API_KEY_1" in shown[0].response_body
    assert all(alice.key not in str(exchange) for exchange in shown)


def test_credential_that_no_header_can_hold_is_not_kept_for_the_run(node: TinyNode, session: Session) -> None:
    node.faults["new_account"] = always(200, {"api_key": "QUJD" * 5_000, "wallet_address": "0x" + "ab" * 20})

    with pytest.raises(BeyondLimits, match="20000 characters"):
        Accounts(session).new()

    assert not session.target.seen_keys.secrets


def test_list_without_an_end_is_read_far_once(
    session: Session, node: TinyNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count()
    node.faults["list_groups"] = lambda asked: Told(
        body=[{"id": next(numbers)} for _ in range(int(asked.query["page_size"]))]
    )
    monkeypatch.setattr(lists, "MOST_PAGES", 30)
    monkeypatch.setattr(lists, "PAGES_OF_ENDLESS", 5)

    with pytest.raises(Malformed, match="an end of the list within 30 pages"):
        lists.read_list(session, "list_groups", None)
    with pytest.raises(BeyondLimits, match="another list of list_groups had none in 30"):
        lists.read_list(Session(session.target, "trial::two"), "list_groups", None)

    assert node.paths().count("list_groups") == 35


def test_witness_sees_every_request_with_its_answer(session: Session) -> None:
    seen: list[tuple[str, int]] = []

    def witness(request: OutgoingRequest, answer: Answer) -> None:
        seen.append((request.operation.name, answer.status))

    session.witnesses.append(witness)
    alice = Accounts(session).new()
    Groups(session).add(alice.key)

    assert seen == [("new_account", 200), ("add_group", 200)]


def test_two_cases_have_other_labels_and_one_case_always_the_same(target: Target) -> None:
    first, again, other = (Session(target, name).label for name in ("a::one", "a::one", "a::two"))

    assert first == again != other


def test_branch_has_randomness_of_its_own_and_shares_everything_else(session: Session) -> None:
    branch, other = session.branch("first"), session.branch("second")

    assert branch.random.random() != other.random.random()
    assert branch.log is session.log
    assert branch.cleanup is session.cleanup


def test_chain_configuration_is_asked_once_for_all_cases(target: Target, node: TinyNode) -> None:
    for name in ("a::one", "a::two"):
        session = Session(target, name)
        assert chain_id(session) == 31337
        assert contract_address(session) == "0x" + "11" * 20

    assert node.paths().count("get_node_chain_config") == 2


def test_chain_configuration_that_cannot_be_read_is_asked_again(session: Session, node: TinyNode) -> None:
    node.faults["get_node_chain_config"] = always(200, {"chain_id": "many"})
    with pytest.raises(Malformed):
        chain_id(session)
    del node.faults["get_node_chain_config"]

    assert chain_id(session) == 31337


def test_clean_up_of_a_slow_node_removes_several_at_the_same_time(
    session: Session, alice: Account, node: TinyNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second", "third"):
        Groups(session).add(alice.key, name)
    monkeypatch.setattr(cleanup, "SLOW_SECONDS", 0.0)
    together = threading.Barrier(2, timeout=30)

    def slow(asked: Asked) -> Told:
        if node.paths().count("remove_group") > 1:
            together.wait()
        return node.honest(asked)

    node.faults["remove_group"] = slow

    clean_up(session)

    assert node.groups[alice.key] == []


def test_clean_up_goes_on_where_something_cannot_be_removed(session: Session, alice: Account, node: TinyNode) -> None:
    UsageKeys(session).add(alice.key)
    Groups(session).add(alice.key)
    node.faults["remove_usage_api_key"] = always(500)

    clean_up(session)

    assert node.groups[alice.key] == []


@pytest.mark.parametrize("profile", [Profile().assuming(frozenset({"limits.page_size_max"}))])
def test_list_is_read_to_an_empty_page_where_nobody_states_the_largest(
    session: Session, alice: Account, node: TinyNode
) -> None:
    def clamped(asked: Asked) -> Told:
        return node.honest(replace(asked, query={**asked.query, "page_size": "2"}))

    node.faults["list_groups"] = clamped
    for name in "abcde":
        Groups(session).add(alice.key, name)

    assert len(Groups(session).list(alice.key)) == 5
