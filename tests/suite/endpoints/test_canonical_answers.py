"""Answers by canonical names: nested members, wrapped answers, group ids that lists show in text."""

from __future__ import annotations

import pytest

from conformance.endpoints.canonical import canonical, with_id_as_listed
from conformance.endpoints.requests import OutgoingRequest, message
from conformance.profile import Profile, resolve
from conformance.values.json_values import member

NESTED = {
    "wire": {
        "get_action_ipfs_id": {"answer_member": "result.cid"},
        "paging": {"container": {"form": "object", "items_member": "data.items"}},
        "list_items": {
            "group_ids_form": "decimal_string",
            "fields": {
                "usage_key": {
                    "name": "label",
                    "can_create_groups": "may.can_create_groups",
                    "execute_in_groups": "may.run",
                }
            },
        },
    }
}
"""A profile with members inside of members."""


def of_nested(operation: str, answer: object) -> object:
    return canonical(resolve(Profile.model_validate(NESTED), operation), answer)


def test_name_with_dots_leads_into_the_objects_of_an_item() -> None:
    item: dict[str, object] = {"label": "k", "may": {"can_create_groups": True, "run": ["7", "0"]}}
    listed = of_nested("list_api_keys", {"data": {"items": [item]}})
    assert listed == [{"name": "k", "can_create_groups": True, "execute_in_groups": [7, 0]}]


@pytest.mark.parametrize(
    ("name", "item", "read"),
    [
        ("name", {"id": 1, "position": 4, "used": "today"}, {"id": 1}),
        ("title", {"id": 1, "name": "a number of rows", "title": "g"}, {"id": 1, "name": "g"}),
        (None, {"id": 1, "name": "g"}, {"id": 1}),
    ],
)
def test_item_is_read_by_the_names_of_the_profile_alone(
    name: str | None, item: dict[str, object], read: dict[str, object]
) -> None:
    profile = Profile.model_validate({"wire": {"list_groups": {"item_fields": {"name": name, "description": None}}}})
    assert canonical(resolve(profile, "list_groups"), [item]) == [read]


@pytest.mark.parametrize(
    "stated", [{"mutating_responses": None}, {"mutating_responses": {"success": "ok", "group_id": None}}]
)
def test_member_that_the_profile_says_is_not_there_is_none_of_that_name(stated: dict[str, object]) -> None:
    profile = Profile.model_validate({"wire": stated})
    assert canonical(resolve(profile, "add_group"), {"group_id": "req-77", "x": 1}) == {"x": 1}


def test_name_with_dots_that_leads_nowhere_gives_no_member() -> None:
    assert of_nested("list_api_keys", {"data": {"items": [{"label": "k"}]}}) == [{"name": "k"}]


@pytest.mark.parametrize("ids", [[7], ["7x"], [None]])
def test_group_ids_in_another_form_than_stated_are_like_no_integer(ids: list[object]) -> None:
    listed = of_nested("list_api_keys", {"data": {"items": [{"may": {"run": ids}}]}})
    found = member(member(listed, "0"), "execute_in_groups")
    assert isinstance(found, list)
    assert not any(isinstance(one, int) for one in found)


def test_group_ids_in_hex_are_read_as_numbers() -> None:
    stated = {"wire": {"list_groups": {"id_form": "hex"}, "list_items": {"group_ids_form": "hex"}}}
    profile = Profile.model_validate(stated)
    groups = canonical(resolve(profile, "list_groups"), [{"id": "0x1f"}, {"id": f"0x{31:064x}"}, {"id": 31}])
    assert groups == [{"id": "31"}, {"id": "31"}, {"id": 31}]
    keys = canonical(resolve(profile, "list_api_keys"), [{"execute_in_groups": ["0x1F", "0x0", "31", 31]}])
    assert keys == [{"execute_in_groups": [31, 0, "31", "31"]}]


@pytest.mark.parametrize("answered", [31, "31", "0x1f", f"0x{31:064x}"])
@pytest.mark.parametrize(("form", "listed"), [("integer", 31), ("decimal_string", "31"), ("hex", "31"), (None, None)])
def test_group_id_of_an_answer_is_compared_in_the_form_of_lists(
    answered: object, form: str | None, listed: object
) -> None:
    expected = answered if form is None else listed
    assert with_id_as_listed({"group_id": answered}, form) == {"group_id": expected}


@pytest.mark.parametrize("answered", [None, True, "x", "0x", 1.5, f"0x1{31:016x}", f"0x{31:065x}"])
def test_what_is_no_group_id_stays_as_it_was_answered(answered: object) -> None:
    assert with_id_as_listed({"group_id": answered}, "integer") == {"group_id": answered}


def test_cid_stands_in_the_member_that_the_profile_names() -> None:
    assert of_nested("get_action_ipfs_id", {"result": {"cid": "Qm1"}}) == {"result": {"cid": "Qm1"}, "cid": "Qm1"}
    assert canonical(resolve(Profile(), "get_action_ipfs_id"), "Qm1") == {"cid": "Qm1"}


@pytest.mark.parametrize(
    ("form", "operation", "sent"),
    [
        ("integer", "update_group", '{"group_id":31}'),
        ("decimal_string", "update_group", '{"group_id":"31"}'),
        ("decimal_string", "add_pkp_to_group", '{"group_id":"31"}'),
        ("integer", "remove_group", '{"group_id":"31"}'),
    ],
)
def test_group_id_is_sent_in_the_form_that_bodies_take(form: str, operation: str, sent: str) -> None:
    profile = Profile.model_validate({"wire": {"requests": {"group_id_form": form}}})
    for listed in (31, "31"):
        request = OutgoingRequest(resolve(profile, operation), members={"group_id": listed})
        assert message(request, ids_listed_as_text=True).body == sent


def test_what_is_no_group_id_is_sent_as_it_is() -> None:
    profile = Profile.model_validate({"wire": {"requests": {"group_id_form": "decimal_string"}}})
    request = OutgoingRequest(resolve(profile, "update_group"), members={"group_id": True})
    assert message(request).body == '{"group_id":true}'
