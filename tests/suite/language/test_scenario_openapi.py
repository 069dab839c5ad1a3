"""Tests for how answers are held against an OpenAPI description."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from conformance.drivers.openapi.answers import check_answer, check_request
from conformance.drivers.openapi.description import Description
from conformance.endpoints.log import RawExchange
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import Mismatch, SetupFailed
from conformance.profile import Profile, resolve

URL = "http://node.invalid/core/v1/openapi.json"
ACCOUNT = {
    "type": "object",
    "required": ["api_key", "wallet_address"],
    "properties": {"api_key": {"type": "string"}, "wallet_address": {"type": "string"}},
}


def description(version: str = "3.1.0", path: str = "/core/v1/new_account", **more: Any) -> Description:
    schema = {"$ref": "#/components/schemas/Account"}
    responses = {
        "200": {"content": {"application/json": {"schema": schema}}},
        "4XX": {"$ref": "#/components/responses/Refusal"},
    }
    refusal = {"content": {"application/problem+json": {"schema": {"type": "object", "required": ["code"]}}}}
    document = {
        "openapi": version,
        "paths": {path: {"summary": "no operation", "post": {"responses": responses}}},
        "components": {"schemas": {"Account": ACCOUNT}, "responses": {"Refusal": refusal}},
    }
    return Description({**document, **more}, URL)


def answer(text: str, status: int = 200, media: str = "application/json") -> Answer:
    return Answer(status, httpx.Headers({"content-type": media}), text, 0, resolve(Profile(), "new_account"))


WANTED = OutgoingRequest(resolve(Profile(), "new_account"))
RIGHT = '{"api_key": "k", "wallet_address": "w"}'


@pytest.mark.parametrize(
    ("path", "servers"),
    [
        ("/core/v1/new_account", []),
        ("/new_account", [{"url": "/core/v1"}]),
        ("/new_account", [{"url": "http://elsewhere.invalid/core/v1/"}]),
        ("/new_account", [{"url": "."}]),
        ("/v1/new_account", [{"url": "/other"}, {"url": "/core"}]),
    ],
)
def test_operations_are_found_below_their_servers(path: str, servers: list[dict[str, str]]) -> None:
    assert ("POST", "/core/v1/new_account") in description(path=path, servers=servers).operations


@pytest.mark.parametrize(
    ("url", "server", "path", "found"),
    [
        ("http://node.invalid", "/core/v1", "/core/v1/new_account", {"/core/v1/core/v1/new_account"}),
        ("http://node.invalid", "http://node.invalid/core/v1", "/core/v1/x", {"/core/v1/core/v1/x"}),
        ("http://node.invalid/behind", "/behind/core/v1", "/new_account", {"/core/v1/new_account"}),
        ("http://node.invalid/behind", "http://node.invalid/behind", "/core/v1/x", {"/core/v1/x"}),
        ("http://node.invalid", "/{version}", "/core/v1/x", {"/core/v1/x", "/{version}/core/v1/x"}),
        ("http://node.invalid", "http://elsewhere.invalid/v2", "/core/v1/x", {"/core/v1/x", "/v2/core/v1/x"}),
    ],
)
def test_paths_stand_behind_their_servers(url: str, server: str, path: str, found: set[str]) -> None:
    document = {"openapi": "3.1.0", "servers": [{"url": server}], "paths": {path: {"get": {}}}}
    operations = Description(document, f"{url}/core/v1/openapi.json").operations
    assert {*operations} == {("GET", place) for place in found}


def test_operations_are_only_what_is_named_like_a_method() -> None:
    assert set(description().operations) == {("POST", "/core/v1/new_account")}


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0", "3.2.0"])
def test_answer_as_described_passes(version: str) -> None:
    check_answer(description(version), WANTED, answer(RIGHT))
    check_answer(description(version), WANTED, answer('{"code": "x"}', 422, "application/problem+json; charset=utf-8"))


@pytest.mark.parametrize(
    "wrong",
    [
        answer('{"api_key": "k"}'),
        answer('{"api_key": 5, "wallet_address": "w"}'),
        answer("[]"),
        answer(RIGHT, 201),
        answer(RIGHT, 200, "text/plain"),
        answer('{"detail": "x"}', 422, "application/problem+json"),
    ],
    ids=["member-missing", "member-of-another-type", "array", "status", "media-type", "refusal"],
)
def test_answer_that_departs_is_told(wrong: Answer) -> None:
    with pytest.raises(Mismatch) as told:
        check_answer(description(), WANTED, wrong)
    described = wrong.status != 201
    assert told.value.assumed == ({} if described else None), "both are the node's own words, whatever is assumed"


def test_null_is_no_text_in_one_dialect_and_may_be_in_the_other() -> None:
    nullable = {"type": "object", "properties": {"api_key": {"type": "string", "nullable": True}}}
    components = {"schemas": {"Account": nullable}}
    check_answer(description("3.0.3", components=components), WANTED, answer('{"api_key": null}'))
    with pytest.raises(Mismatch):
        check_answer(description("3.1.0", components=components), WANTED, answer('{"api_key": null}'))


def test_refusal_that_is_not_described_passes() -> None:
    undescribed = description(paths={"/core/v1/new_account": {"post": {"responses": {}}}})
    check_answer(undescribed, WANTED, answer("no JSON", 405, "text/plain"))


@pytest.mark.parametrize("reference", ["#/components/schemas/Absent", "#/components/schemas/Itself"])
def test_schema_that_leads_nowhere_says_nothing_of_the_answer(reference: str) -> None:
    schemas = {"Account": {"$ref": reference}, "Itself": {"$ref": "#/components/schemas/Itself"}}
    with pytest.raises(SetupFailed, match="lead to schemas"):
        check_answer(description(components={"schemas": schemas}), WANTED, answer(RIGHT))


@pytest.mark.parametrize("reference", ["http://elsewhere.invalid/x", "#/components/responses/Loop", "#/nowhere"])
def test_response_that_refers_to_nothing_is_told(reference: str) -> None:
    components = {"responses": {"Loop": {"$ref": "#/components/responses/Loop"}}}
    paths = {"/core/v1/new_account": {"post": {"responses": {"200": {"$ref": reference}}}}}
    with pytest.raises(Mismatch):
        check_answer(description(paths=paths, components=components), WANTED, answer(RIGHT))


def sent(operation: str, body: str | None = None, query: str = "") -> tuple[OutgoingRequest, RawExchange]:
    request = OutgoingRequest(resolve(Profile(), operation))
    url = f"http://node.invalid{request.operation.path}{query}"
    return request, RawExchange(request.operation.method, url, {}, body, 200, {}, "", 0.0)


def described(operation: str, *shared: dict[str, Any], **stated: Any) -> Description:
    known = resolve(Profile(), operation)
    item = {"parameters": [*shared], known.method.lower(): {"responses": {}, **stated}}
    return Description({"openapi": "3.1.0", "paths": {known.path: item}}, URL)


FILTER = {"name": "group_id", "in": "query", "required": True}


@pytest.mark.parametrize("below", [described("list_actions", FILTER), described("list_actions", parameters=[FILTER])])
def test_query_without_a_parameter_that_the_description_requires(below: Description) -> None:
    check_request(below, *sent("list_actions", query="?group_id=1"), answer("[]"))
    with pytest.raises(Mismatch, match="a description that requires 'group_id'"):
        check_request(below, *sent("list_actions"), answer("[]"))


def test_operation_s_own_parameter_counts_before_its_path_s() -> None:
    optional = {**FILTER, "required": False}
    check_request(described("list_actions", FILTER, parameters=[optional]), *sent("list_actions"), answer("[]"))


def body(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "required": [*properties], "properties": properties}
    return {"content": {"application/json; charset=utf-8": {"schema": schema}}}


@pytest.mark.parametrize(
    ("operation", "described_as", "member"),
    [
        ("new_account", {"email": {"type": "string"}}, '"email": "a@b.example"'),
        (
            "remove_group",
            {"group_id": {"type": "integer"}},
            '"group_id": "1"',
        ),  # a form left open
    ],
)
def test_body_that_the_description_rules_out(operation: str, described_as: dict[str, Any], member: str) -> None:
    below = described(operation, requestBody=body(**described_as))
    check_request(below, *sent(operation, f"{{{member}}}"), answer("{}"))
    with pytest.raises(Mismatch, match="is a required property"):
        check_request(below, *sent(operation, "{}"), answer("{}"))


def test_request_without_a_described_body_passes() -> None:
    check_request(described("new_account"), *sent("new_account", "{}"), answer("{}"))
    check_request(described("remove_group"), *sent("new_account", "{}"), answer("{}"))
