"""The rule of refusals as Python calls it: control and unchanged state are insisted on, and one answer is judged."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import pytest
from tiny_node import Asked, Fault, TinyNode, Told, always

from conformance.cases import Judge
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import (
    ControlNotAccepted,
    Departure,
    LeakyRefusal,
    NotAccepted,
    NotRefused,
    ProfileSilent,
    SecretTold,
    StateChanged,
    UnprovenRefusal,
    WrongRefusal,
)
from conformance.profile import Profile
from conformance.service import (
    Account,
    Groups,
    Permissions,
    Read,
    Refusals,
    Session,
    UsageKeys,
    must_refuse,
    reads,
    unchanged_list,
)
from conformance.service.acceptance import Accepted
from conformance.service.refusal import must_be_as_stated

ADD = "add_usage_api_key"
LOOK = ["list_groups", "list_api_keys"]


@pytest.fixture
def control(session: Session, alice: Account) -> Accepted:
    """The addition of a usage key by the account key."""
    return UsageKeys(session).add(alice.key, Permissions(), "by the owner").accepted


@pytest.fixture
def refused(session: Session, node: TinyNode, alice: Account, control: Accepted) -> OutgoingRequest:
    """The same with a usage key. The node remembers only what it is asked from now on."""
    assert control.request is not None
    key = UsageKeys(session).add(alice.key).key
    node.asked.clear()
    return replace(control.request, credential=key)


@pytest.fixture
def lists(session: Session, alice: Account) -> list[Read]:
    return [unchanged_list(session, name, alice.key) for name in LOOK]


@pytest.fixture
def refuse(session: Session, refused: OutgoingRequest, control: Accepted, lists: list[Read]) -> Callable[[], object]:
    """Send the request that must be refused."""
    return lambda: must_refuse(session, refused, ["forbidden"], control=control, unchanged=lists)


@pytest.fixture
def refusals(session: Session, control: Accepted, lists: list[Read]) -> Refusals:
    """A block of requests that must be refused."""
    return Refusals(session, control=control, unchanged=lists)


def by_usage_key(node: TinyNode, fault: Fault) -> Fault:
    """Answer usage keys in another way; the account itself gets what it should."""
    return lambda asked: fault(asked) if asked.key in node.owners else node.honest(asked)


def test_write_without_reads_is_no_proof_and_is_not_sent(
    session: Session, node: TinyNode, refused: OutgoingRequest, control: Accepted
) -> None:
    with pytest.raises(UnprovenRefusal, match="writes"):
        must_refuse(session, refused, ["forbidden"], control=control, unchanged=[])

    assert node.asked == []


def test_control_of_another_operation_is_no_proof(
    session: Session, alice: Account, refused: OutgoingRequest, lists: list[Read]
) -> None:
    with pytest.raises(UnprovenRefusal, match="control of a refused add_usage_api_key is a new_account"):
        must_refuse(session, refused, ["forbidden"], control=alice.accepted, unchanged=lists)


def test_one_of_several_controls_has_to_be_of_the_operation(
    session: Session, alice: Account, refused: OutgoingRequest, control: Accepted, lists: list[Read]
) -> None:
    must_refuse(session, refused, ["forbidden"], control=[alice.accepted, control], unchanged=lists)


def test_refused_read_needs_no_reads(session: Session, alice: Account) -> None:
    first = {"page_number": 0, "page_size": 1}
    _, control = session.accept(session.request("list_groups", alice.key, **first))

    must_refuse(session, session.request("list_groups", **first), ["unauthenticated"], control=control, unchanged=[])


@pytest.mark.parametrize(
    ("body", "is_page"),
    [
        (["Bad Request"], False),
        ([], False),
        ([{"name": "unauthenticated", "description": "send a key"}], False),
        ([{"id": 1, "name": "g", "description": "d"}], True),
    ],
)
def test_refused_list_may_hold_an_array_but_no_page(
    session: Session, node: TinyNode, alice: Account, body: object, is_page: bool
) -> None:
    _, control = session.accept(session.request("list_groups", alice.key, page_number=0, page_size=1))
    node.faults["list_groups"] = always(401, body)
    unkeyed = session.request("list_groups", page_number=0, page_size=1)
    with pytest.raises(LeakyRefusal, match="the page") if is_page else nullcontext():
        must_refuse(session, unkeyed, ["unauthenticated"], control=control, unchanged=[])


def test_refusal_that_tells_a_key_says_where(node: TinyNode, refuse: Callable[[], object]) -> None:
    node.faults[ADD] = by_usage_key(node, lambda asked: Told(403, {"detail": [f"not by {asked.key}"]}))
    with pytest.raises(SecretTold, match=re.escape('got the value of one in .["detail"][0] of the body: ')):
        refuse()


def test_many_refusals_share_one_look_at_the_state(
    node: TinyNode, refused: OutgoingRequest, refusals: Refusals
) -> None:
    with refusals:
        for _ in range(3):
            refusals.send(refused, ["forbidden"])

    assert node.paths() == [*LOOK, ADD, ADD, ADD, *LOOK]


def test_departure_inside_the_block_is_told_before_the_state_is_compared(
    node: TinyNode, refuse: Callable[[], object]
) -> None:
    node.faults[ADD] = by_usage_key(node, always(404))

    with pytest.raises(WrongRefusal):
        refuse()

    assert node.paths() == [*LOOK, ADD]


def test_call_that_is_not_refused_hides_no_other_in_a_block_that_judges(
    session: Session, node: TinyNode, refused: OutgoingRequest, refusals: Refusals
) -> None:
    node.faults[ADD] = by_usage_key(node, always(404))

    def case() -> None:
        with Judge(session, ["AUTH-080"])(), refusals:
            for expected in ("forbidden", "malformed"):
                refusals.send(refused, [expected])

    with pytest.raises(WrongRefusal) as caught:
        case()

    assert node.paths() == [*LOOK, ADD, ADD]
    assert caught.value.requirements == ("AUTH-080",)
    assert "forbidden" in caught.value.expected
    assert ["malformed" in other for other in caught.value.beside] == [True]
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__]
    assert lines[-1] == "refusals.send(refused, [expected])", "a case's line is told"


def test_calls_that_are_not_refused_are_told_before_trouble_after_them(
    session: Session, node: TinyNode, refused: OutgoingRequest, refusals: Refusals
) -> None:
    node.faults[ADD] = by_usage_key(node, always(404))
    judge = Judge(session, ["AUTH-080"])

    def case() -> None:
        with judge(), refusals:
            refusals.send(refused, ["forbidden"])
            judge.set_up(False, "something else that holds")

    with pytest.raises(WrongRefusal):
        case()


def test_control_that_is_tried_last_comes_after_the_comparison(
    session: Session, node: TinyNode, alice: Account, refused: OutgoingRequest, lists: list[Read]
) -> None:
    def add_by_owner() -> None:
        session.accept(replace(refused, credential=alice.key))

    must_refuse(session, refused, ["forbidden"], control=add_by_owner, unchanged=lists)

    assert node.paths() == [*LOOK, ADD, *LOOK, ADD]


def test_control_that_is_tried_last_and_refused_leaves_the_refusals_unproven(
    session: Session, refused: OutgoingRequest, lists: list[Read]
) -> None:
    def add_by_usage_key() -> None:
        session.accept(refused)

    with pytest.raises(ControlNotAccepted):
        must_refuse(session, refused, ["forbidden"], control=add_by_usage_key, unchanged=lists)


def test_reads_are_asked_again_after_any_other_request(
    node: TinyNode, session: Session, refuse: Callable[[], object]
) -> None:
    refuse()
    session.call("get_node_chain_config")
    refuse()
    assert node.paths() == [*LOOK, ADD, *LOOK, "get_node_chain_config", *LOOK, ADD, *LOOK]


def test_reads_are_asked_again_after_a_while(
    node: TinyNode, refuse: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse()
    monkeypatch.setattr(reads, "SECONDS_TO_REMEMBER", -1.0)
    refuse()
    assert node.paths() == [*LOOK, ADD, *LOOK, *LOOK, ADD, *LOOK]


def test_reads_are_asked_again_beside_other_threads(
    node: TinyNode, session: Session, refused: OutgoingRequest, control: Accepted, lists: list[Read]
) -> None:
    branch = session.branch("one of two")
    for _ in range(2):
        must_refuse(branch, refused, ["forbidden"], control=control, unchanged=lists)
    assert node.paths() == [*LOOK, ADD, *LOOK, *LOOK, ADD, *LOOK]


def test_write_of_a_refused_request_is_told_though_the_reads_before_it_were_remembered(
    node: TinyNode, refuse: Callable[[], object]
) -> None:
    refuse()
    assert node.paths() == [*LOOK, ADD, *LOOK]

    def write_and_refuse(asked: Asked) -> Told:
        node.owners["a key that nobody asked for"] = node.owners[asked.key]
        return Told(403, {})

    node.faults[ADD] = by_usage_key(node, write_and_refuse)

    with pytest.raises(StateChanged, match="list_api_keys as before"):
        refuse()
    assert node.paths()[5:] == [ADD, *LOOK], "the reads before it"


DUPLICATE = "semantics.add_action_duplicate"


def duplicates(stated: str | None) -> Profile:
    return Profile.model_validate({"semantics": {"add_action_duplicate": stated}})


@pytest.mark.parametrize(
    ("profile", "answer", "problem"),
    [
        (duplicates("conflict"), 409, None),
        (duplicates("conflict"), 200, NotRefused),
        (duplicates("keeps_first"), 200, None),
        (duplicates("keeps_first"), 409, NotAccepted),
    ],
)
def test_call_is_refused_or_accepted_as_the_profile_says(
    session: Session, node: TinyNode, alice: Account, answer: int, problem: type[Departure] | None
) -> None:
    added = Groups(session).add(alice.key).accepted
    groups = unchanged_list(session, "list_groups", alice.key)
    node.faults["add_group"] = always(answer, {})
    with pytest.raises(problem) if problem else nullcontext():
        must_be_as_stated(session, added.changed(), DUPLICATE, control=added, unchanged=[groups])


@pytest.mark.parametrize("profile", [duplicates(None)])
def test_call_of_which_the_profile_says_nothing_is_not_sent(session: Session, node: TinyNode, alice: Account) -> None:
    added = Groups(session).add(alice.key).accepted
    node.asked.clear()
    with pytest.raises(ProfileSilent):
        must_be_as_stated(session, added.changed(), DUPLICATE, control=added, unchanged=[])
    assert node.asked == []
