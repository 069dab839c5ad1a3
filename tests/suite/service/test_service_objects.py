"""Accounts, groups and usage keys, made over HTTP."""

from __future__ import annotations

import json

import pytest
from tiny_node import Asked, TinyNode, Told, always

from conformance.drivers.fuzz.judge import _ids
from conformance.endpoints.canonical import with_id_as_listed
from conformance.endpoints.requests import message
from conformance.problems import Departure, Malformed, Mismatch, ProfileSilent
from conformance.profile import Profile
from conformance.service import (
    Account,
    Accounts,
    Actions,
    Groups,
    Permissions,
    Session,
    UsageKeys,
    chain_id,
    unchanged_list,
)
from conformance.service.derivations import code_cid
from conformance.service.groups import group_id
from conformance.service.lists import read_pages
from conformance.values.json_values import pluck


def test_account_has_its_key_its_wallet_and_the_label_of_the_case(session: Session, node: TinyNode) -> None:
    alice = Accounts(session).new("alice of a trial")

    assert alice.key in node.groups
    assert alice.wallet_address == "0x" + "ab" * 20
    assert node.asked[0].body == {"account_name": session.label, "account_description": "alice of a trial"}


def test_members_of_the_case_go_before_those_of_the_suite(session: Session, node: TinyNode) -> None:
    Accounts(session).new(members={"account_name": "own", "email": "a@b.example"})

    assert node.asked[0].body["account_name"] == "own"
    assert node.asked[0].body["email"] == "a@b.example"


TOO_MANY_DIGITS = "2" * 5_000
"""More than Python reads as a number."""


def test_number_with_thousands_of_digits_is_none(session: Session, node: TinyNode) -> None:
    node.faults["get_node_chain_config"] = always(200, {"chain_id": TOO_MANY_DIGITS})
    addition = session.request("add_usage_api_key", "a key", execute_in_groups=[TOO_MANY_DIGITS])

    with pytest.raises(Mismatch, match="the id of a group"):
        group_id(TOO_MANY_DIGITS)
    with pytest.raises(Malformed, match="a chain id"):
        chain_id(session)
    assert with_id_as_listed({"group_id": TOO_MANY_DIGITS}, "integer") == {"group_id": TOO_MANY_DIGITS}
    assert TOO_MANY_DIGITS in str(message(addition, ids_listed_as_text=True).body)
    assert _ids([TOO_MANY_DIGITS, "7", 7]) == {TOO_MANY_DIGITS, 7}


def test_answer_without_a_key_is_no_account(session: Session, node: TinyNode) -> None:
    node.faults["new_account"] = always(200, {"wallet_address": "0x00"})

    with pytest.raises(Malformed, match="api_key"):
        Accounts(session).new()


@pytest.mark.parametrize("profile", [Profile.model_validate({"accounts": {"credits": None}})])
def test_account_without_credits_is_made_only_where_it_spends_nothing(session: Session, node: TinyNode) -> None:
    with pytest.raises(ProfileSilent, match=r"accounts\.credits"):
        Accounts(session).new()
    assert Accounts(session).new(spends=False).key in node.groups


def test_group_has_the_id_of_the_answer(session: Session, alice: Account, node: TinyNode) -> None:
    group = Groups(session).add(alice.key, "readers")

    assert (group.id, group.listed_id) == (1, 1)
    assert "list_groups" not in node.paths()
    assert node.groups[alice.key][0]["name"] == f"{session.label} readers"


def test_group_whose_answer_has_no_id_is_the_last_in_the_list(session: Session, alice: Account, node: TinyNode) -> None:
    def without_id(asked: Asked) -> Told:
        node.honest(asked)
        return Told(body={"success": True})

    node.faults["add_group"] = without_id
    Groups(session).add(alice.key, "first")

    assert Groups(session).add(alice.key, "second").id == 2


@pytest.mark.parametrize("listed", [7, "7"])
def test_group_id_is_the_integer_of_either_form(listed: object) -> None:
    assert group_id(listed) == 7


@pytest.mark.parametrize("listed", [None, True, -1.5, "0x7", ""])
def test_anything_else_is_no_group_id(listed: object) -> None:
    with pytest.raises(Mismatch):
        group_id(listed)


CID_PATH = "get_service_action_ipfs_id"


def test_node_that_computes_cids_as_its_profile_says_is_asked_once(session: Session, node: TinyNode) -> None:
    node.faults[CID_PATH] = lambda asked: Told(body=json.dumps(code_cid(json.loads(asked.text), "ipfs_add_v0")))
    actions = Actions(session)

    assert actions.cid("hello world\n") == "QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o"
    assert actions.cid("") == "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
    assert node.paths() == [CID_PATH]


def test_node_that_computes_other_cids_than_its_profile_says_is_asked_for_each(
    session: Session, node: TinyNode
) -> None:
    node.faults[CID_PATH] = lambda asked: Told(body=json.dumps(f"cid of {json.loads(asked.text)}"))
    actions = Actions(session)

    assert [actions.cid("one"), actions.cid("two")] == ["cid of one", "cid of two"]


def test_permissions_are_the_arguments_of_the_contract_in_its_order() -> None:
    permissions = Permissions(can_delete_groups=True, add_pkp_to_groups=(1, 2), execute_in_groups=[0])

    assert permissions.arguments == [False, True, False, [], [1, 2], [], [0]]


def test_usage_key_that_is_not_answered_is_told(session: Session, alice: Account, node: TinyNode) -> None:
    node.faults["add_usage_api_key"] = always(200, {"success": True})

    with pytest.raises(Malformed, match="usage key"):
        UsageKeys(session).add(alice.key)


def test_unchanged_list_reads_every_page_each_time(session: Session, alice: Account) -> None:
    read = unchanged_list(session, "list_groups", alice.key)

    before = read.get()
    Groups(session).add(alice.key)

    assert (read.name, before) == ("list_groups", [])
    assert read.get() != before


def pages_of_two(session: Session) -> list[object]:
    return read_pages(session, session.request("list_groups", Accounts(session).new().key), page_size=2)


def test_list_reads_every_page_and_stops_at_a_short_one(session: Session, node: TinyNode) -> None:
    node.faults["list_groups"] = lambda asked: Told(
        body=[{"id": number} for number in range(5)][2 * int(asked.query["page_number"]) :][:2]
    )

    assert pluck(pages_of_two(session), "id") == [0, 1, 2, 3, 4]
    assert [asked.query for asked in node.asked if asked.path == "list_groups"] == [
        {"page_number": str(number), "page_size": "2"} for number in (0, 1, 2)
    ]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([{"id": 1}, {"id": 2}], "other items on page 1"),
        ([{"id": 1}, {"id": 2}, {"id": 3}], "at most 2 items"),
        ({"items": []}, "an array of items"),
    ],
    ids=["same page again", "page too long", "no array"],
)
def test_list_that_does_not_page_departs(session: Session, node: TinyNode, answer: object, words: str) -> None:
    node.faults["list_groups"] = always(200, answer)

    with pytest.raises(Departure, match=words):
        pages_of_two(session)
