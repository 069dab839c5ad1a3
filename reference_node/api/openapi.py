"""The OpenAPI description (specification, "Versioning"), with every status that an endpoint may answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI

from reference_node.api.answers import ProblemDocument
from reference_node.api.examples import complete_examples, exemplify
from reference_node.fields import U64_MAX
from reference_node.permission.keys import new_secret
from reference_node.permission.typed_data import UINT256_MAX
from reference_node.problems import MEDIA_TYPE

MEANINGS = {
    400: "The body is not one JSON value in UTF-8 or does not say that it is, or its typed data or signature is wrong.",
    401: "No key, or one that does not count.",
    402: "The credits do not cover the call.",
    403: "The key is known, and may not do this.",
    404: "This account has no such thing.",
    409: "It contradicts the present state.",
    413: "The body is over 1 MiB.",
    422: "The request has the wrong shape, or a value that is out of range.",
    503: "The chain, the sandbox or the payment provider is unavailable or busy: nothing was changed or charged.",
}

BODY = (400, 413)
"""The statuses by which any endpoint may refuse the body of a request."""

LINKS = {
    "/add_group": ("group_id", ("update_group", "remove_group", "add_pkp_to_group", "add_action_to_group")),
    "/add_usage_api_key": (
        "usage_api_key",
        ("update_usage_api_key", "update_usage_api_key_metadata", "remove_usage_api_key"),
    ),
}
"""By the path of what makes an object: the member of the answer that names it, and the operations that take it."""

Responses = dict[int | str, dict[str, Any]]
"""Responses by status, in FastAPI's form."""

LARGE_BOUNDS = {float(bound): bound for bound in (U64_MAX, UINT256_MAX)}
"""Bounds that a float can't represent, keyed by the float they are rounded to."""

_REQUEST_ID = {
    "X-Request-Id": {
        "description": "The request's id.",
        "required": True,
        "schema": {"type": "string", "format": "uuid"},
    }
}


def problems(*statuses: int) -> Responses:
    """Problem documents with these statuses."""
    schema = {"$ref": "#/components/schemas/ProblemDocument"}
    return {
        status: {"description": MEANINGS[status], "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in sorted(statuses)
    }


def key_read(*more: int) -> Responses:
    """The problems that every endpoint that reads with a key may answer."""
    return problems(401, 422, 503, *more)


def key_write(*more: int, body: bool = True) -> Responses:
    """The problems that every management write may answer."""
    return problems(401, 402, 403, 422, 503, *more, *(BODY if body else ()))


def describe(app: FastAPI) -> None:
    """Add what FastAPI can't derive to the app's description."""
    generate: Callable[[], dict[str, Any]] = app.openapi
    wallet_key = new_secret()

    def completed() -> dict[str, Any]:
        if app.openapi_schema is None:
            _complete(generate())
        assert app.openapi_schema is not None  # noqa: S101 - generate has just set it
        complete_examples(app.openapi_schema, app.state.node, wallet_key)
        return app.openapi_schema

    app.openapi = completed  # type: ignore[method-assign] # FastAPI's documented way of extending it


def _complete(description: dict[str, Any]) -> None:
    schemas = description.setdefault("components", {}).setdefault("schemas", {})
    schemas["ProblemDocument"] = ProblemDocument.model_json_schema()
    _restore_bounds(description)
    for path in description["paths"].values():
        for operation in path.values():
            for response in operation["responses"].values():
                response["headers"] = _REQUEST_ID
    _link(description["paths"])
    exemplify(description)


def _link(paths: dict[str, Any]) -> None:
    """Link what makes groups and usage keys to what changes and removes them (OpenAPI 3.1, "Link Object")."""
    for source, (name, targets) in LINKS.items():
        for path, item in paths.items():
            if path.endswith(source):
                item["post"]["responses"]["200"]["links"] = {
                    target: {
                        "operationId": paths[path.replace(source, f"/{target}")]["post"]["operationId"],
                        "requestBody": {name: f"$response.body#/{name}"},
                    }
                    for target in targets
                }


def _restore_bounds(part: object) -> None:
    """Turn the bounds of integers back into integers; FastAPI stores floats, which round 2**64 - 1 to 2**64."""
    if isinstance(part, dict):
        for name in ("minimum", "maximum"):
            if isinstance(bound := part.get(name), float):
                part[name] = LARGE_BOUNDS.get(bound, int(bound))
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _restore_bounds(inner)
