"""Faults about the path prefix, the OpenAPI description and its viewer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from pydantic import JsonValue
from starlette.types import ASGIApp, Receive, Scope, Send

from conformance.selftest.tools.alter import (
    CORE,
    Answered,
    Forward,
    Received,
    answer,
    answer_instead,
    change_answer,
    change_items,
    change_refused,
    each,
    intercept,
    members,
    refusal,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node

DESCRIPTION = "openapi.json"
VIEWER = "swagger-ui"
Members = dict[str, JsonValue]


class Prefix:
    """Serves the paths under another prefix as well; an ASGI layer."""

    def __init__(self, app: ASGIApp, prefix: str, names: tuple[str, ...]) -> None:
        self._app = app
        self._paths = {prefix + name: CORE + name for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        path = self._paths.get(scope.get("path", ""))
        await self._app({**scope, "path": path, "raw_path": path.encode()} if path else scope, receive, send)


@mutant(
    "VER-010",
    each=[
        row("none", "/", "get_node_chain_config", "get_api_payers"),
        row("v2", "/core/v2/", "list_groups", "add_group"),
        row("without-core", "/v1/", "get_service_action_ipfs_id"),
    ],
    also="EP-020",
)
def prefix_has_an_alias(node: Node, prefix: str, *names: str) -> None:
    """Serve some operations under `{prefix}` as well."""
    node.app.add_middleware(Prefix, prefix=prefix, names=names)


# ----------------------------------------------------------------------------------------------- the description


def _described(node: Node, change: Callable[[Members], Members]) -> None:
    """Change the description."""
    change_answer(node, DESCRIPTION, lambda value: change(members(value)))


def _at(document: JsonValue, *names: str) -> Members:
    """Return an object inside the description."""
    found = members(document)
    for name in names:
        found = members(found[name])
    return found


@mutant(
    each=[
        row("description", DESCRIPTION, breaks="VER-020", also="VER-030"),
        row("viewer", VIEWER, breaks="VER-030"),
        row("payers", "get_api_payers", breaks="VER-010", also="AUTH-060 AUTH-070 CHAIN-060 VER-050"),
    ]
)
def path_is_not_served(node: Node, operation: str) -> None:
    """Answer 404 to `{operation}`."""
    answer_instead(node, operation, refusal(404))


def _without_path(found: Members, name: str) -> Members:
    return {**found, "paths": {path: item for path, item in _at(found, "paths").items() if name not in path}}


@mutant(
    each=[
        row(
            "swagger-2",
            lambda found: {"swagger": "2.0", "info": found["info"], "paths": {}},
            breaks="VER-020",
            also="VER-040 VER-050",
        ),
        row(
            "without-a-list",
            lambda found: _without_path(found, "list_wallets_in_group"),
            breaks="VER-040",
            also="VER-050",
        ),
        row("without-its-schemas", lambda found: {**found, "components": {}}, breaks="VER-040"),
        row(
            "with-the-prefix-twice",
            lambda found: {**found, "servers": [{"url": CORE}]},
            breaks="VER-040",
            also="VER-050",
        ),
        row("without-a-title", lambda found: {**found, "info": {"version": "1"}}, breaks="VER-040"),
    ]
)
def description_is_wrong(node: Node, change: Callable[[Members], Members]) -> None:
    """Answer another OpenAPI description; the label says which."""
    _described(node, change)


@mutant("VER-020", also="VER-040")
def description_is_yaml(node: Node) -> None:
    """Answer YAML as openapi.json."""

    async def handler(_: Received, __: Forward) -> Answered:
        return Answered(200, ((b"content-type", b"application/yaml"),), b"openapi: 3.1.0\npaths: {}\n")

    intercept(node, DESCRIPTION, handler)


@mutant("VER-020")
def description_is_a_page_for_clients_that_take_one(node: Node) -> None:
    """Answer the viewer's page as openapi.json where `Accept` names `text/html`, however little it is wanted."""

    async def handler(request: Received, forward: Forward) -> Answered:
        takes_pages = b"text/html" in dict(request.headers).get(b"accept", b"")
        page = Answered(200, ((b"content-type", b"text/html"),), b"<!doctype html><title>API</title>")
        return page if takes_pages else await forward(request)

    intercept(node, DESCRIPTION, handler)


@mutant("VER-030")
def viewer_looks_elsewhere(node: Node) -> None:
    """Have the viewer load the description from an address that the node does not have."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return replace(given, body=given.body.replace(b"openapi.json", b"/openapi.json"))

    intercept(node, VIEWER, handler)


@mutant("VER-030")
def scripts_of_the_viewer_are_plain_text(node: Node) -> None:
    """Serve the viewer's scripts as plain text that browsers may take for nothing else."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        kept = tuple(header for header in given.headers if header[0].lower() != b"content-type")
        plain = ((b"content-type", b"text/plain"), (b"x-content-type-options", b"nosniff"))
        return replace(given, headers=(*kept, *plain))

    intercept(node, f"{VIEWER}-assets/swagger-ui-bundle.js", handler)


@mutant("VER-030")
def viewer_is_json(node: Node) -> None:
    """Answer JSON as the viewer."""
    answer_instead(node, VIEWER, answer(200, {"openapi": "3.1.0", "see": "/core/v1/openapi.json"}))


@mutant("VER-040", also="VER-050")
def description_says_put(node: Node) -> None:
    """Describe `update_group` with the method PUT."""

    def changed(found: Members) -> Members:
        item = _at(found, "paths", f"{CORE}update_group")
        return {**found, "paths": {**_at(found, "paths"), f"{CORE}update_group": {"put": item["post"]}}}

    _described(node, changed)


@mutant("VER-040")
def description_is_invalid(node: Node) -> None:
    """Describe a response without a description, which OpenAPI requires."""

    def changed(found: Members) -> Members:
        broken: JsonValue = {"post": {"responses": {"200": {}}}}
        return {**found, "paths": {**_at(found, "paths"), f"{CORE}add_group": broken}}

    _described(node, changed)


# ------------------------------------------------------------------------------------------ answers as described


@mutant("VER-050", also="ACC-090 ACT-060 EP-280 LIST-170")
def listed_names_may_be_null(node: Node) -> None:
    """Show null descriptions in `list_actions`, though the OpenAPI description says text."""
    change_items(node, "list_actions", each(lambda item: {**item, "description": None}))


@mutant("VER-050", also="CHAIN-150")
def chain_id_is_a_text_and_described_as_an_integer(node: Node) -> None:
    """Answer `chain_id` as a text, though the description says integer."""
    change_answer(
        node, "get_node_chain_config", lambda value: {**members(value), "chain_id": str(members(value)["chain_id"])}
    )


@mutant("VER-050")
def payers_are_described_as_numbers(node: Node) -> None:
    """Describe payers as integers."""

    def changed(found: Members) -> Members:
        content: JsonValue = {"application/json": {"schema": {"type": "array", "items": {"type": "integer"}}}}
        responses: JsonValue = {"200": {"description": "payers", "content": content}}
        return {**found, "paths": {**_at(found, "paths"), f"{CORE}get_api_payers": {"get": {"responses": responses}}}}

    _described(node, changed)


@mutant("VER-050")
def key_is_described_in_both_headers_at_once(node: Node) -> None:
    """Describe operations with a key so that it has to be in both headers."""

    def changed(found: Members) -> Members:
        both: JsonValue = [{"ApiKey": [], "Bearer": []}]
        paths: dict[str, JsonValue] = {
            path: {
                method: {**members(operation), "security": both} if "security" in members(operation) else operation
                for method, operation in members(item).items()
            }
            for path, item in _at(found, "paths").items()
        }
        return {**found, "paths": paths}

    _described(node, changed)


@mutant("VER-050", also="ERR-130")
def refusals_lack_a_described_member(node: Node) -> None:
    """Leave `code` out of refusals, though the description requires it."""

    def changed(_request: Received, given: Answered) -> Answered:
        kept = {name: value for name, value in json.loads(given.body).items() if name != "code"}
        return given.having(kept)

    change_refused(node, ("create_wallet", "remove_group"), changed)


@mutant("VER-050")
def lists_have_another_media_type(node: Node) -> None:
    """Answer `list_api_keys` with a media type that the description lacks."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return replace(await forward(request), headers=((b"content-type", b"application/vnd.keys+json"),))

    intercept(node, "list_api_keys", handler)


def _array(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


@mutant("VER-050")
def filter_of_actions_is_described_as_required(node: Node) -> None:
    """Describe `group_id` of `list_actions` as required, though the node lists all actions without it."""

    def changed(found: Members) -> Members:
        operation = _at(found, "paths", f"{CORE}list_actions", "get")
        parameters = [members(one) for one in _array(operation["parameters"])]
        operation["parameters"] = [{**one, "required": one["name"] == "group_id"} for one in parameters]
        return found

    _described(node, changed)


@mutant("VER-050")
def parameters_are_described_as_required(node: Node) -> None:
    """Require `jsParams`, which may be left out, in the described schema `RunRequest`."""

    def changed(found: Members) -> Members:
        described = _at(found, "components", "schemas", "RunRequest")
        described["required"] = [*_array(described.get("required", [])), "jsParams"]
        return found

    _described(node, changed)
