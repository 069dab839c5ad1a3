"""Descriptions that would keep whoever reads them busy for ever are read in bounds."""

from __future__ import annotations

from typing import Any

import pytest
from tiny_node import TinyNode, Told

from conformance.cli import main
from conformance.drivers.openapi import bounds
from conformance.drivers.openapi.bounds import MOST_ENTRIES, MOST_VALUES, check_size, is_plain
from conformance.drivers.openapi.description import Description
from conformance.drivers.openapi.document import check_document
from conformance.drivers.openapi.requests import described_requests
from conformance.endpoints.client import Target
from conformance.problems import BeyondLimits
from conformance.profile import Profile
from conformance.service.session import Session

MANY = 60
"""Two to this power is more than any machine counts to."""


def document(*, version: str = "3.0.0", **schemas: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {"title": "x", "version": "1"}, "paths": {}, "components": {"schemas": schemas}}


def to(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def doubling(reference: str = "#/components/schemas/s{}") -> dict[str, Any]:
    """Each schema names the next one twice."""
    each = {f"s{at}": {"allOf": [{"$ref": reference.format(at + 1)}] * 2} for at in range(MANY)}
    return document(**each, **{f"s{MANY}": {"type": "object"}})


def nested(depth: int) -> object:
    value: object = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def faults(stated: dict[str, Any], value: object, schema: str = "s") -> list[str]:
    return Description(stated, "http://n/core/v1/openapi.json").faults(f"/components/schemas/{schema}", value)


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        (doubling(), "stand for more than"),
        (doubling("#/components/schemas/%73{}"), "stand for more than"),
        (document(s={"enum": list(range(MOST_ENTRIES + 1))}), f"{MOST_ENTRIES + 1} entries"),
        (document(s={"properties": {str(at): {} for at in range(MOST_VALUES)}}), "values"),
    ],
    ids=["references that double", "the same in escapes", "a long array", "many values"],
)
def test_description_beyond_the_limits_is_not_read(stated: dict[str, Any], why: str) -> None:
    with pytest.raises(BeyondLimits, match=why):
        check_size(stated)


def test_case_about_a_description_beyond_the_limits_says_so(node: TinyNode) -> None:
    node.faults["openapi.json"] = lambda _: Told(200, doubling())
    with Target(node.url, Profile()) as target, pytest.raises(BeyondLimits, match="stand for more than"):
        check_document(Session(target, "a::case"))


def test_commands_that_read_a_description_beyond_the_limits_go_on(
    node: TinyNode, capsys: pytest.CaptureFixture[str]
) -> None:
    node.faults["openapi.json"] = lambda _: Told(200, doubling())
    main(["doctor", "--node-url", node.url])
    assert "openapi.json is not read: references that stand for" in " ".join(capsys.readouterr().out.split())
    main(["init", node.url])
    assert "Traceback" not in "".join(capsys.readouterr())


def test_request_whose_schema_leads_back_to_itself_in_many_ways_is_read() -> None:
    content = {"content": {"application/json": {"schema": to("s")}}}
    stated = document(s={"allOf": [to("s")] * 10, "properties": {"a": {"type": "string"}}})
    stated["paths"] = {"/p": {"post": {"requestBody": content, "responses": {}}}}
    check_size(stated)
    [request] = described_requests(Description(stated, "http://n/core/v1/openapi.json"))
    assert set(request.body) == {"a"}


def test_long_descriptions_within_the_limits_are_read() -> None:
    check_size(document(**{f"s{at}": {"properties": {"a": to("t")}} for at in range(5_000)}, t=to("t")))


@pytest.mark.parametrize(
    ("version", "dialect"),
    [("3.0.0", {}), ("3.1.0", {}), ("3.1.0", {"$schema": "http://json-schema.org/draft-07/schema#"})],
    ids=["3.0", "3.1", "3.1 with another dialect"],
)
def test_schema_that_doubles_with_each_level_of_an_answer_ends(
    version: str, dialect: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MOST_STEPS", 10_000)
    twice = document(version=version, s={**dialect, "allOf": [{"properties": {"a": to("s")}}] * 2})
    check_size(twice)
    with pytest.raises(BeyondLimits, match="limited number of steps"):
        faults(twice, nested(MANY))
    assert faults(twice, nested(5)) == []


def test_messages_that_hold_long_values_count() -> None:
    with pytest.raises(BeyondLimits):
        faults(document(s={"anyOf": [{"type": "integer"}] * MOST_ENTRIES}), "x" * 1_000_000)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)(a|a)(a|a)(a|a)$", "a?" * MANY + "a" * MANY, r"(a*)\1*$", "(?:a*)*b"]
)
def test_pattern_that_may_take_for_ever_judges_nothing(pattern: str) -> None:
    assert not is_plain(pattern)
    assert faults(document(s={"type": "string", "pattern": pattern}), "a" * MANY + "!") == []
    named = {"patternProperties": {pattern: {}}, "additionalProperties": False}
    assert faults(document(s=named), {"a" * MANY + "!": 1}) == []


@pytest.mark.parametrize("pattern", ["^0x[0-9a-fA-F]{40}$", "^[a-z]+$", "[0-9]{4}-[0-9]{2}"])
def test_plain_pattern_is_judged(pattern: str) -> None:
    assert len(faults(document(s={"properties": {"a": {"pattern": pattern}}}), {"a": "?"})) == 1


def test_member_named_as_a_word_of_schemas_is_judged() -> None:
    named = {"properties": {"pattern": {"type": "integer"}, "unevaluatedItems": {"type": "integer"}}}
    assert len(faults(document(s=named), {"pattern": "x", "unevaluatedItems": "x"})) == 2


@pytest.mark.parametrize(("last", "number"), [({"a": 9}, 1), ({"a": -1}, 0)])
def test_long_list_of_different_items(last: object, number: int) -> None:
    items = [*({"a": at} for at in range(20_000)), last]
    assert len(faults(document(s={"type": "array", "uniqueItems": True}), items)) == number
