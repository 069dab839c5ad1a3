"""The table of operations against the specification's tables, and what a profile changes about them."""

from __future__ import annotations

import re

import pytest
from without import without

from conformance.profile import OPERATIONS, WHOLE, Auth, Effect, NotStated, Place, Profile, resolve
from conformance.requirements.specification import specification_file


def profile(text: str) -> Profile:
    return Profile.model_validate_json(text)


SPECIFICATION = specification_file().read_text(encoding="utf-8")


def test_every_endpoint_of_the_specification_is_an_operation() -> None:
    rows = re.findall(r"^\| (GET|POST) \| `([^`]+)` \|", SPECIFICATION, re.MULTILINE)
    specified = {f"{method} {path}".replace(":id", "{group_id}") for method, path in rows}
    served = [resolve(Profile(), name) for name in OPERATIONS]
    assert specified - {f"{one.method} {one.path.removeprefix('/core/v1')}" for one in served} == set()


def test_operations_that_the_specification_names_without_a_path_come_from_the_profile() -> None:
    named = {name for name in OPERATIONS if not OPERATIONS[name].endpoint and not name.startswith("flow_")}
    assert named == {"account_exists", "create_wallet", "add_action_to_group", "add_pkp_to_group", "run_action"}
    assert "`account_exists`, create wallet, `add_action_to_group`, `add_pkp_to_group` and run action" in SPECIFICATION


def test_unauthenticated_operations_are_those_of_the_specification() -> None:
    listed = re.search(r"Unauthenticated endpoints: (.+), and the attestation paths", SPECIFICATION)
    assert listed is not None
    stated = set(re.findall(r"`/([^`]+)`", listed[1]))
    attestation = {"info", "attestation"} | {name for name in OPERATIONS if name.startswith("evidence")}
    described_elsewhere = {"new_account", "openapi", "swagger_ui"}
    open_paths = {
        fixed.endpoint.rpartition("/core/v1/")[2].replace("{slug}", "service")
        for name, fixed in OPERATIONS.items()
        if fixed.auth is Auth.NONE and name not in attestation | described_elsewhere
    }
    assert open_paths == stated


def test_only_writes_and_runs_are_billed() -> None:
    assert {one.effect for one in OPERATIONS.values() if one.billed} == {Effect.WRITE, Effect.RUN}
    assert not OPERATIONS["list_groups"].billed
    assert OPERATIONS["add_group"].billed


@pytest.mark.parametrize("name", ["account_exists", "create_wallet", "add_pkp_to_group", "run_action"])
def test_operation_without_a_stated_path_is_not_offered(name: str) -> None:
    with pytest.raises(NotStated, match=name):
        resolve(without(f"wire.operations.method_and_path.{name}"), name)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("new_account", "wire.new_account.fields"),
        ("add_group", "wire.add_group.fields"),
        ("list_wallets", "wire.paging.container"),
        ("flow_create_pkp", "flows.relationship"),
        ("account_exists", "wire.account_exists.request_response"),
    ],
)
def test_operation_whose_form_is_not_stated_is_not_offered(name: str, key: str) -> None:
    with pytest.raises(NotStated) as caught:
        resolve(without(key), name)
    assert caught.value.path == key


def test_profile_gives_paths_and_brand() -> None:
    acme = profile(
        '{"brand": {"slug": "acme"}, "wire": {"operations": {"method_and_path": {"create_wallet": "PUT /wallets"}}}}'
    )
    assert resolve(acme, "get_action_ipfs_id").path == "/core/v1/get_acme_action_ipfs_id"
    assert resolve(acme, "run_action").path == "/core/v1/acme_action"
    assert (resolve(acme, "create_wallet").method, resolve(acme, "create_wallet").path) == ("PUT", "/core/v1/wallets")


def test_profile_gives_wire_names() -> None:
    other = profile(
        '{"wire": {"new_account": {"fields": {"account_name": "name"}}, "add_group": {"fields": {"group_name": "n"}},'
        ' "list_items": {"fields": {"wallet": {"id": "pkp_id", "name": null}}}}}'
    )
    assert resolve(other, "new_account").request["account_name"] == "name"
    assert resolve(other, "new_account").request["email"] == "email"
    assert resolve(other, "add_group").request["group_name"] == "n"
    assert resolve(other, "add_group").request["cid_hashes_permitted"] == "cid_hashes_permitted"
    items = resolve(other, "list_wallets").items
    assert items is not None
    assert items["id"] == "pkp_id"
    assert "name" not in items


def test_names_of_the_specification_stay() -> None:
    silent = profile('{"wire": {"list_groups": {"item_fields": null}, "list_items": {"fields": null}}}')
    assert resolve(silent, "list_groups").items == {"id": "id"}
    assert resolve(silent, "list_actions").items == {"hashed_cid": "hashed_cid"}
    assert resolve(silent, "list_wallets").items == {}
    assert resolve(silent, "new_account").response == {"api_key": "api_key", "wallet_address": "wallet_address"}


def test_page_container_is_the_profiles_but_for_groups() -> None:
    boxed = profile('{"wire": {"paging": {"container": {"form": "object", "items_member": "rows"}}}}')
    assert resolve(boxed, "list_wallets").page_member == "rows"
    assert resolve(boxed, "list_groups").page_member is None
    assert resolve(Profile(), "list_wallets").page_member is None
    assert resolve(Profile(), "add_group").items is None


def test_answers_of_writes_are_the_profiles() -> None:
    assert resolve(Profile(), "add_group").response == {"success": "success", "group_id": "group_id"}
    assert resolve(Profile(), "remove_group").response == {"success": "success"}
    silent = without("wire.mutating_responses")
    assert resolve(silent, "add_group").response == {}
    assert resolve(silent, "add_usage_api_key").response == {"usage_api_key": "usage_api_key"}
    assert resolve(silent, "create_wallet").response == {"wallet_address": "wallet_address"}


def test_place_of_request_members() -> None:
    assert resolve(Profile(), "add_group").place is Place.BODY
    assert resolve(Profile(), "list_groups").place is Place.QUERY
    assert resolve(Profile(), "get_action_ipfs_id").place is Place.STRING
    assert resolve(Profile(), "create_wallet").place is Place.NOWHERE
    named = profile('{"wire": {"create_wallet": {"fields": {"name": "label"}}}}')
    assert resolve(named, "create_wallet").place is Place.BODY
    assert resolve(named, "create_wallet").request == {"name": "label"}


def test_account_exists_takes_its_key_where_the_profile_says() -> None:
    assert resolve(Profile(), "account_exists").place is Place.NOWHERE
    assert resolve(Profile(), "account_exists").response == {"exists": WHOLE}
    text = '{"wire": {"account_exists": {"request_response": {"key_in": "body", "answer_member": "exists"}}}}'
    asked = resolve(profile(text), "account_exists")
    assert (asked.place, dict(asked.request)) == (Place.BODY, {"api_key": "api_key"})
    assert asked.response == {"exists": "exists"}


def test_operation_that_does_not_exist_is_told() -> None:
    with pytest.raises(KeyError):
        resolve(Profile(), "drop_everything")
