"""Answers held against Stripe's OpenAPI description: every member of an answer has to be described, with its type."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from stripe_mock import stripe_description

from reference_node.stripe_simulator.endpoints import OPERATIONS
from reference_node.stripe_simulator.operations import Operation

LOCATION = "urn:stripe"


def templates() -> dict[tuple[str, str], str]:
    """The path in the description of each operation that is served."""
    described = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path)): path
        for path, methods in stripe_description()["paths"].items()
        for method in methods
    }
    return {(served.method, served.path): described[served.method, served.path] for served in OPERATIONS}


def described(operation: Operation) -> dict[str, Any]:
    """What the description has of an operation."""
    path = templates()[operation.method, operation.path]
    found: dict[str, Any] = stripe_description()["paths"][path][operation.method.lower()]
    return found


def parameters(operation: Operation) -> dict[str, Any]:
    """The schemas of an operation's parameters, in the query or in the body, by name."""
    content = described(operation).get("requestBody", {}).get("content", {})
    body = next(iter(content.values()), {}).get("schema", {}).get("properties", {})
    query = {entry["name"]: entry["schema"] for entry in described(operation).get("parameters", ())}
    return {**query, **body}


def closed(schema: Any) -> Any:
    """A schema of OpenAPI 3.0 as JSON Schema, whose objects have the described members and no others."""
    if isinstance(schema, list):
        return [closed(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    converted = {name: closed(value) for name, value in schema.items() if name not in {"nullable", "discriminator"}}
    if "properties" in schema and schema.get("type") == "object":
        converted.setdefault("additionalProperties", False)
    if "properties" not in schema and schema.get("nullable"):
        return {"anyOf": [converted, {"type": "null"}]}
    return converted


@functools.cache
def _registry() -> Registry[Any]:
    schemas = {name: closed(schema) for name, schema in stripe_description()["components"]["schemas"].items()}
    document = {"components": {"schemas": schemas}}
    return Registry().with_resource(LOCATION, Resource(contents=document, specification=DRAFT202012))


@functools.cache
def _validator(method: str, path: str, *, success: bool) -> Draft202012Validator:
    operation = next(served for served in OPERATIONS if (served.method, served.path) == (method, path))
    responses = described(operation)["responses"]
    schema = closed(responses["200" if success else "default"]["content"]["application/json"]["schema"])
    absolute = json.loads(json.dumps(schema).replace('"#/components', f'"{LOCATION}#/components'))
    return Draft202012Validator(absolute, registry=_registry())


def check(operation: Operation, status: int, body: bytes) -> None:
    """Assert that an answer is one that Stripe describes for the operation."""
    answer = json.loads(body)
    validator = _validator(operation.method, operation.path, success=status == 200)
    fault = best_match(validator.iter_errors(answer))
    assert fault is None, f"{operation.method} {operation.path} {status}: {fault.json_path}: {fault.message[:500]}"
