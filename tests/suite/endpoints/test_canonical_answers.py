"""Answers by canonical names: nested members, wrapped answers, group ids that lists show in text."""

from __future__ import annotations

import pytest

from conformance.endpoints.canonical import canonical
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
    assert listed == [{"name": "k", "may": item["may"], "can_create_groups": True, "execute_in_groups": [7, 0]}]


def test_name_with_dots_that_leads_nowhere_gives_no_member() -> None:
    assert of_nested("list_api_keys", {"data": {"items": [{"label": "k"}]}}) == [{"name": "k"}]


@pytest.mark.parametrize("ids", [[7], ["7x"], [None]])
def test_group_ids_in_another_form_than_stated_are_like_no_integer(ids: list[object]) -> None:
    listed = of_nested("list_api_keys", {"data": {"items": [{"may": {"run": ids}}]}})
    found = member(member(listed, "0"), "execute_in_groups")
    assert isinstance(found, list)
    assert not any(isinstance(one, int) for one in found)


def test_cid_stands_in_the_member_that_the_profile_names() -> None:
    assert of_nested("get_action_ipfs_id", {"result": {"cid": "Qm1"}}) == {"result": {"cid": "Qm1"}, "cid": "Qm1"}
    assert canonical(resolve(Profile(), "get_action_ipfs_id"), "Qm1") == {"cid": "Qm1"}
