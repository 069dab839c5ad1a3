"""What the simulator serves, takes and shows is what Stripe's OpenAPI description has."""

from __future__ import annotations

from typing import Any

import description
import pytest
from stripe_mock import stripe_description

from reference_node.stripe_simulator.charges import Charge, Refund
from reference_node.stripe_simulator.customers import Customer
from reference_node.stripe_simulator.endpoints import OPERATIONS
from reference_node.stripe_simulator.operations import Operation
from reference_node.stripe_simulator.parameters import (
    Boolean,
    Choice,
    Integer,
    Kind,
    Metadata,
    Nested,
    Text,
    Texts,
)
from reference_node.stripe_simulator.payment_intents import PUBLISHABLE_MEMBERS, PaymentIntent
from reference_node.stripe_simulator.payment_methods import PaymentMethod
from reference_node.stripe_simulator.store import Resource

RESOURCES: dict[str, type[Resource]] = {
    "charge": Charge,
    "customer": Customer,
    "payment_intent": PaymentIntent,
    "payment_method": PaymentMethod,
    "refund": Refund,
}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_parameters_are_described(operation: Operation) -> None:
    described = description.parameters(operation)
    content = description.described(operation).get("requestBody", {}).get("content", {})
    assert {*operation.required} == {*next(iter(content.values()), {}).get("schema", {}).get("required", ())}
    for name, kind in operation.known.items():
        assert name in described, name
        _check(name, kind, described[name])


@pytest.mark.parametrize(("name", "kind"), RESOURCES.items())
def test_expandable_members_are_expandable(name: str, kind: type[Resource]) -> None:
    members = stripe_description()["components"]["schemas"][name]["properties"]
    expandable = {member for member, schema in members.items() if "x-expansionResources" in schema}
    assert kind.expandable <= expandable


def test_members_for_publishable_keys_exist() -> None:
    members = stripe_description()["components"]["schemas"]["payment_intent"]["properties"]
    assert {*members} >= PUBLISHABLE_MEMBERS


def _check(name: str, kind: Kind, schema: dict[str, Any]) -> None:
    """The description allows for what the simulator takes."""
    alternatives = schema.get("anyOf", [schema])
    types = {alternative.get("type") for alternative in alternatives}
    match kind:
        case Text():
            assert "string" in types, name
        case Integer():
            assert "integer" in types or {"true"} == {*_words(alternatives)}, name
        case Boolean():
            assert "boolean" in types, name
        case Choice(words):
            booleans = {"true", "false"} if "boolean" in types else set()
            assert {*words} <= booleans | {*_words(alternatives)}, name
        case Texts():
            assert "array" in types, name
        case Metadata():
            assert any("additionalProperties" in alternative for alternative in alternatives), name
        case Nested(members):
            _check_members(name, members, alternatives)
        case _:
            raise AssertionError(f"{name}: {kind} is checked by nothing")


def _check_members(name: str, members: Any, alternatives: list[dict[str, Any]]) -> None:
    described: dict[str, list[Any]] = {}
    for alternative in alternatives:
        for member, schema in alternative.get("properties", {}).items():
            described.setdefault(member, []).extend(schema.get("anyOf", [schema]))
    for member, kind in members.items():
        assert member in described, name
        _check(f"{name}[{member}]", kind, {"anyOf": described[member]})


def _words(alternatives: list[dict[str, Any]]) -> list[str]:
    return [word for alternative in alternatives for word in alternative.get("enum", ())]
