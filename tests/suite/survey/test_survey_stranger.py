"""`init` of a node that another team wrote: what its OpenAPI description tells, and what its answers show."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from stranger import CHOICES, DEVIATIONS, Part, altered

from conformance.selftest.tools.serving import target_node
from conformance.survey import Asker, Notes, read, try_out
from conformance.survey.described import DescribedApi

PATHS = "wire.operations.method_and_path"


def surveyed(parts: Mapping[str, Part]) -> Notes:
    """What `init --try` sees of a node with these parts."""
    notes = Notes()
    with target_node(altered(*parts.values()), "0") as target:
        ask = Asker(target)
        read(ask, notes)
        try_out(ask, notes)
    return notes


@pytest.fixture(scope="module")
def notes() -> Notes:
    return surveyed(CHOICES)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (f"{PATHS}.create_wallet", "GET /create_wallet"),
        (f"{PATHS}.run_action", "POST /execute"),
        ("wire.new_account.fields.account_name", "handle"),
        ("wire.new_account.fields.account_description", "blurb"),
        ("wire.add_group.fields.group_name", "handle"),
        ("wire.list_groups.item_fields.name", "name"),
        ("wire.list_groups.id_form", "hex"),
        ("wire.mutating_responses.group_id", "group_id"),
        ("wire.pkp.id_source.rule", "keccak256_of_address"),
        ("wire.requests.group_id_form", "decimal_string"),
        ("wire.convert.response.success", "success"),
        ("limits.entries_per_write", 10),
        ("exec.sandbox_api.arguments", "object"),
        ("exec.pkp_selection.swallowed_refusal", "refuses_run"),
        ("auth.conflicting_headers", "refused"),
        ("auth.usage_key_permission.update_group", "account_key"),
        ("semantics.group_membership_idempotence.add_present", "conflict"),
    ],
)
def test_survey_sees_what_the_stranger_does(notes: Notes, key: str, value: object) -> None:
    assert notes.seen[key].value == value, notes.unclear.get(key)


def test_survey_sees_past_what_the_stranger_breaks() -> None:
    seen = {key: note.value for key, note in surveyed(DEVIATIONS).seen.items()}
    assert seen["wire.requests.pkp_id_form"] == "address"
    assert seen["exec.pkp_selection.named_by"] == "sandbox_call", "a usage key runs what the account key may not"
    assert seen["exec.run_without_pkp"] == "action_only"
    assert seen["semantics.list_order_in_group"] == "adding", "wallets were put into groups by their addresses"


def described(paths: dict[str, object], **schemas: object) -> DescribedApi:
    document = {"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}
    return DescribedApi(document, "http://node.example/core/v1/openapi.json")


def body(schema: object) -> dict[str, object]:
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


def test_described_operation_is_known_by_its_members_whatever_its_path_is_called() -> None:
    schema = {"type": "object", "properties": {"group_id": {}, "pkp_id": {}}}
    api = described({"/core/v1/a": {"put": body(schema)}, "/core/v1/remove_pkp_from_group": {"post": body(schema)}})

    assert api.candidates("add_pkp_to_group", "POST /add_pkp_to_group") == ["PUT /a"]


def test_described_members_are_read_through_references_and_parts() -> None:
    api = described(
        {"/core/v1/new_account": {"post": body({"$ref": "#/components/schemas/New"})}},
        Labels={"properties": {"handle": {"type": "string"}, "blurb": {"type": ["string", "null"]}}},
        New={"allOf": [{"$ref": "#/components/schemas/Labels"}], "properties": {"email": {"type": "string"}}},
    )

    assert api.labels("new_account") == ("handle", "blurb", "email")


def test_description_that_leads_to_itself_tells_nothing() -> None:
    to_itself = {"$ref": "#/components/schemas/A"}
    api = described({"/core/v1/a": {"post": body(to_itself)}}, A=to_itself)

    assert api.labels("a") is None


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"type": "string"}, "7"),
        ({"type": "integer"}, 7),
        ({"type": ["integer", "string"]}, 7),
        ({"type": "boolean"}, 7),
        ({}, 7),
    ],
)
def test_whole_number_is_sent_in_the_type_that_is_described(schema: object, sent: object) -> None:
    api = described({"/core/v1/a": {"post": body({"properties": {"group_id": schema}})}})

    assert api.fitted("a", {"group_id": 7, "name": "x"}) == {"group_id": sent, "name": "x"}
