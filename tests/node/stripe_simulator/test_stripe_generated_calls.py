"""Calls that schemathesis generates from Stripe's description get answers that the description allows."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import description
from simulators import KEYS, Caller
from stripe_mock import stripe_description

from reference_node.stripe_simulator.endpoints import OPERATIONS
from reference_node.stripe_simulator.operations import Operation
from reference_node.stripe_simulator.parameters import Choice, Kind, Nested
from reference_node.stripe_simulator.server import serving
from reference_node.stripe_simulator.simulator import StripeSimulator
from reference_node.stripe_simulator.test_methods import TEST_METHODS, TOKENS

SHOWN = {"charge", "customer", "deleted_customer", "dispute", "payment_intent", "payment_method", "refund"} | {
    "test_helpers.test_clock",
    "deleted_test_helpers.test_clock",
}
"""The objects that the simulator shows; where others could stand, an answer may have their ids alone."""

CLIENT_PARAMETERS = {"client_secret", "payment_method_data"}
"""What no secret key needs, and what would only be refused beside others."""

EXPANSIONS = ["customer", "payment_method", "latest_charge.customer", "payment_intent", "charge", "refunds", "amount"]

MANY = 60

LEFT_OUT = {"description", "properties", "x-expansionResources", "x-expandableFields", "x-stripeBypassValidation"}

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def test_schemathesis_finds_no_fault(tmp_path: Path) -> None:
    simulator = StripeSimulator(KEYS)
    values = _objects(Caller(simulator, KEYS.secret))
    document = tmp_path / "description.json"
    document.write_text(json.dumps(_served(values)))
    with serving(simulator) as url:
        output = _schemathesis(document, url)
    assert f"{len(OPERATIONS)} selected / {len(OPERATIONS)} total" in output
    succeeded = {_operation(entry.method, entry.path) for entry in simulator.log if entry.status == 200}
    assert {(operation.method, operation.path) for operation in OPERATIONS} == succeeded


def _schemathesis(document: Path, url: str) -> str:
    program = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    assert program is not None
    options = [
        "--checks",
        CHECKS,
        "--phases",
        "coverage,fuzzing",
        "--max-examples",
        "30",
        "--seed",
        "1",
        "--continue-on-failure",
    ]
    headers = ["--header", f"Authorization: Bearer {KEYS.secret}"]
    done = subprocess.run(  # noqa: S603 - our own tool
        [program, "--no-color", "run", str(document), "--url", url, *options, *headers],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        cwd=document.parent,
        env=os.environ | {"COLUMNS": "120"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _operation(method: str, path: str) -> tuple[str, str]:
    found = next(
        served
        for served in OPERATIONS
        if served.method == method and re.fullmatch(served.path.replace("{}", "[^/]+"), path)
    )
    return found.method, found.path


def _objects(merchant: Caller) -> dict[str, list[str]]:
    """Ids for each parameter that takes one, and for the paths of operations that change what they name."""
    customers = [merchant.v1.customers.create({"email": "a@example.com"}).id for _ in range(3)]
    paid = [merchant.paid(100_000_000 - 1) for _ in range(3)]
    for _ in range(MANY):
        merchant.intent(confirm=True, payment_method="pm_card_createDispute")
    disputes = [dispute.id for dispute in merchant.v1.disputes.list({"limit": MANY}).data]
    methods = [
        merchant.v1.payment_methods.create({"type": "card", "card": {"token": "tok_visa"}}).id for _ in range(MANY)
    ]
    for method in methods:
        merchant.v1.payment_methods.attach(method, {"customer": customers[0]})
    clocks = [merchant.v1.test_helpers.test_clocks.create({"frozen_time": 1000}).id for _ in range(MANY)]
    return {
        "intent": [merchant.intent(customer=customers[0]).id, paid[0].id],
        "payment_intent": [entry.id for entry in paid],
        "customer": customers,
        "charge": [str(entry.latest_charge) for entry in paid],
        "refund": [merchant.v1.refunds.create({"payment_intent": paid[0].id, "amount": 50}).id],
        "dispute": disputes[:1],
        "payment_method": [methods[0], *TEST_METHODS],
        "token": [*TOKENS],
        "currency": ["usd", "eur"],
        "starting_after": [customers[1]],
        "ending_before": [customers[1]],
        "/v1/payment_intents/{}/confirm": [merchant.intent().id for _ in range(MANY)],
        "/v1/payment_intents/{}/cancel": [merchant.intent().id for _ in range(MANY)],
        "/v1/payment_intents/{}/capture": [merchant.paid(1000, capture_method="manual").id for _ in range(MANY)],
        "/v1/payment_methods/{}/detach": methods[1:],
        "/v1/disputes/{}": disputes[1 : MANY // 2],
        "/v1/disputes/{}/close": disputes[MANY // 2 :],
        "test_clock": clocks[:1],
        "/v1/test_helpers/test_clocks/{}/advance": clocks[1:3],
        "DELETE /v1/customers/{}": [merchant.v1.customers.create().id for _ in range(MANY)],
        "DELETE /v1/test_helpers/test_clocks/{}": clocks[3:],
    }


def _served(values: dict[str, list[str]]) -> dict[str, Any]:
    """The part of the description that is served, with objects that exist as the values of its parameters."""
    whole = stripe_description()
    schemas = {name: _answer(schema) for name, schema in whole["components"]["schemas"].items()}
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        path = description.templates()[operation.method, operation.path]
        paths.setdefault(path, {})[operation.method.lower()] = _described(operation, values)
    document = {"openapi": whole["openapi"], "info": whole["info"], "paths": paths}
    return {**document, "components": {"schemas": _reachable(paths, schemas)}}


def _reachable(paths: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    left = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(paths)))
    while left:
        name = left.pop()
        found[name] = schemas[name]
        left |= set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(schemas[name]))) - {*found}
    return found


def _described(operation: Operation, values: dict[str, list[str]]) -> dict[str, Any]:
    found = copy.deepcopy(description.described(operation))
    for response in found["responses"].values():
        content = response["content"]["application/json"]
        content["schema"] = _answer(content["schema"])
    target = values.get(operation.path) or values.get(f"{operation.method} {operation.path}")
    found["parameters"] = [
        {**entry, "schema": _narrowed(entry["name"], None, entry["schema"], values)}
        if entry["in"] == "query" or target is None
        else {**entry, "schema": {"type": "string", "enum": target}}
        for entry in found.get("parameters", ())
        if entry["in"] == "path" or entry["name"] in operation.known.keys() - CLIENT_PARAMETERS
    ]
    content = found.pop("requestBody", {}).get("content", {})
    if operation.method == "POST":
        (media_type, body), *_ = content.items()
        known = Nested({name: kind for name, kind in operation.known.items() if name not in CLIENT_PARAMETERS})
        schema = _narrowed("", known, body["schema"], values)
        found["requestBody"] = {
            "content": {media_type: {**body, "schema": schema}},
            "required": bool(operation.required),
        }
    return found


def _narrowed(name: str, kind: Kind | None, schema: dict[str, Any], values: dict[str, list[str]]) -> dict[str, Any]:
    """The schema of a parameter with the members, words and ids that the simulator takes."""
    if name in values:
        return {"type": "string", "enum": values[name]}
    if name == "expand":
        return {"type": "array", "maxItems": 3, "items": {"type": "string", "enum": EXPANSIONS}}
    if name in {"amount", "amount_to_capture"}:
        return {"type": "integer", "minimum": 50, "maximum": 1000}
    if isinstance(kind, Choice):
        return {"type": "string", "enum": list(kind.words)}
    narrowed = {key: value for key, value in schema.items() if key != "description"}
    if "anyOf" in schema:
        narrowed["anyOf"] = [_narrowed("", kind, alternative, values) for alternative in schema["anyOf"]]
    if isinstance(kind, Nested) and "properties" in schema:
        narrowed["properties"] = {
            member: _narrowed(member, kind.members[member], inner, values)
            for member, inner in schema["properties"].items()
            if member in kind.members
        }
    return narrowed


def _answer(schema: Any) -> Any:
    """The schema of an answer whose objects have the described members and no others."""
    if isinstance(schema, list):
        return [_answer(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _answer(value) for name, value in schema.items() if name not in LEFT_OUT}
    if "properties" in schema:
        closed["properties"] = {name: _answer(value) for name, value in schema["properties"].items()}
    if "x-expansionResources" in schema:
        kept = [entry for entry in closed["anyOf"] if entry.get("$ref", "").rpartition("/")[2] in SHOWN | {""}]
        closed["anyOf"] = kept
    if "properties" in schema and schema.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed
