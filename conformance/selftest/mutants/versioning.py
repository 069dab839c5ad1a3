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
    change_answer,
    change_items,
    each,
    intercept,
    members,
    refusal,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node

DESCRIPTION = "openapi.json"
VIEWER = "swagger-ui"
Members = dict[str, JsonValue]


class Prefix:
    """ASGI layer that serves the paths under another prefix as well."""

    def __init__(self, app: ASGIApp, prefix: str, names: tuple[str, ...]) -> None:
        self._app = app
        self._paths = {prefix + name: CORE + name for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        path = self._paths.get(scope.get("path", ""))
        await self._app({**scope, "path": path, "raw_path": path.encode()} if path else scope, receive, send)


@mutant("VER-010")
def paths_without_prefix(node: Node) -> None:
    """The open endpoints are served without the prefix as well."""
    node.app.add_middleware(Prefix, prefix="/", names=("get_node_chain_config", "get_api_payers"))


@mutant("VER-010")
def second_version_is_the_first(node: Node) -> None:
    """Everything is served under /core/v2 as well."""
    node.app.add_middleware(Prefix, prefix="/core/v2/", names=("list_groups", "add_group"))


@mutant("VER-010")
def cid_without_core(node: Node) -> None:
    """`get_service_action_ipfs_id` is served under /v1 as well."""
    node.app.add_middleware(Prefix, prefix="/v1/", names=("get_service_action_ipfs_id",))


@mutant("VER-010")
def prefix_is_missing(node: Node) -> None:
    """`get_api_payers` is not served under the prefix."""

    async def handler(_: Received, __: Forward) -> Answered:
        return refusal(404)

    intercept(node, "get_api_payers", handler)


# ----------------------------------------------------------------------------------------------- the description


def _described(node: Node, change: Callable[[Members], Members]) -> None:
    """The description changed."""
    change_answer(node, DESCRIPTION, lambda value: change(members(value)))


def _at(document: JsonValue, *names: str) -> Members:
    """An object inside the description."""
    found = members(document)
    for name in names:
        found = members(found[name])
    return found


@mutant("VER-020")
def description_is_not_served(node: Node) -> None:
    """There is no openapi.json."""

    async def handler(_: Received, __: Forward) -> Answered:
        return refusal(404)

    intercept(node, DESCRIPTION, handler)


@mutant("VER-020")
def description_needs_a_key(node: Node) -> None:
    """openapi.json is refused without a key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(request) if presented(request) else refusal(401)

    intercept(node, DESCRIPTION, handler)


@mutant("VER-020")
def description_is_of_swagger_2(node: Node) -> None:
    """openapi.json is a document of Swagger 2.0."""
    _described(node, lambda found: {"swagger": "2.0", "info": found["info"], "paths": {}})


@mutant("VER-020")
def description_is_yaml(node: Node) -> None:
    """openapi.json is YAML."""

    async def handler(_: Received, __: Forward) -> Answered:
        return Answered(200, ((b"content-type", b"application/yaml"),), b"openapi: 3.1.0\npaths: {}\n")

    intercept(node, DESCRIPTION, handler)


@mutant("VER-030")
def viewer_is_not_served(node: Node) -> None:
    """There is no viewer."""

    async def handler(_: Received, __: Forward) -> Answered:
        return refusal(404)

    intercept(node, VIEWER, handler)


@mutant("VER-030")
def viewer_shows_another_description(node: Node) -> None:
    """The viewer shows a description that is not the node's."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return replace(given, body=given.body.replace(b"/core/v1/openapi.json", b"https://petstore.example/v2.json"))

    intercept(node, VIEWER, handler)


@mutant("VER-030")
def viewer_is_json(node: Node) -> None:
    """The viewer is the description itself."""

    async def handler(_: Received, __: Forward) -> Answered:
        return answer(200, {"openapi": "3.1.0", "see": "/core/v1/openapi.json"})

    intercept(node, VIEWER, handler)


@mutant("VER-040")
def description_lacks_a_list(node: Node) -> None:
    """The description leaves `list_wallets_in_group` out."""
    _described(
        node,
        lambda found: {
            **found,
            "paths": {path: item for path, item in _at(found, "paths").items() if "list_wallets_in_group" not in path},
        },
    )


@mutant("VER-040")
def description_says_put(node: Node) -> None:
    """The description gives `update_group` the method PUT."""

    def changed(found: Members) -> Members:
        item = _at(found, "paths", f"{CORE}update_group")
        return {**found, "paths": {**_at(found, "paths"), f"{CORE}update_group": {"put": item["post"]}}}

    _described(node, changed)


@mutant("VER-040")
def description_is_of_another_prefix(node: Node) -> None:
    """The description's paths stand under /api."""

    def changed(found: Members) -> Members:
        return {**found, "paths": {path.replace(CORE, "/api/"): item for path, item in _at(found, "paths").items()}}

    _described(node, changed)


@mutant("VER-040")
def description_is_invalid(node: Node) -> None:
    """An operation of the description has a response without a description, which OpenAPI requires."""

    def changed(found: Members) -> Members:
        broken: JsonValue = {"post": {"responses": {"200": {}}}}
        return {**found, "paths": {**_at(found, "paths"), f"{CORE}add_group": broken}}

    _described(node, changed)


@mutant("VER-040")
def description_has_no_title(node: Node) -> None:
    """The description has no title, which OpenAPI requires."""
    _described(node, lambda found: {**found, "info": {"version": "1"}})


# ------------------------------------------------------------------------------------------ answers as described


@mutant("VER-050")
def created_wallets_have_another_status(node: Node) -> None:
    """`create_wallet` answers 201, which the description does not hold."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return replace(given, status=201) if given.accepted else given

    intercept(node, "create_wallet", handler)


@mutant("VER-050")
def listed_names_may_be_null(node: Node) -> None:
    """Items of `list_actions` have a null where the description says text."""
    change_items(node, "list_actions", each(lambda item: {**item, "description": None}))


@mutant("VER-050")
def chain_id_is_a_text_and_described_as_an_integer(node: Node) -> None:
    """`chain_id` is a text where the description says integer."""
    change_answer(
        node, "get_node_chain_config", lambda value: {**members(value), "chain_id": str(members(value)["chain_id"])}
    )


@mutant("VER-050")
def payers_are_described_as_numbers(node: Node) -> None:
    """The description says that payers are integers."""

    def changed(found: Members) -> Members:
        content: JsonValue = {"application/json": {"schema": {"type": "array", "items": {"type": "integer"}}}}
        responses: JsonValue = {"200": {"description": "payers", "content": content}}
        return {**found, "paths": {**_at(found, "paths"), f"{CORE}get_api_payers": {"get": {"responses": responses}}}}

    _described(node, changed)


@mutant("VER-050")
def refusals_lack_a_described_member(node: Node) -> None:
    """Refusals have no `code`, which the description requires."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            return given
        kept = {name: value for name, value in json.loads(given.body).items() if name != "code"}
        return replace(given, body=json.dumps(kept).encode())

    intercept(node, ("create_wallet", "remove_group"), handler)


@mutant("VER-050")
def lists_have_another_media_type(node: Node) -> None:
    """`list_api_keys` answers a media type that the description does not hold."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return replace(await forward(request), headers=((b"content-type", b"application/vnd.keys+json"),))

    intercept(node, "list_api_keys", handler)
