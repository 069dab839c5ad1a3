"""The links that sequences follow, and what each sequence holds."""

from __future__ import annotations

from random import Random

from conformance.drivers.fuzz.examples import Examples
from conformance.drivers.fuzz.links import IMPLIED, Link, Sequences, links_of
from conformance.drivers.fuzz.values import ValueRules
from conformance.drivers.openapi.description import Description
from conformance.profile import Profile, resolve
from conformance.service.derivations import sample_cid
from reference_node.assembly import build_node
from reference_node.settings import Settings

OPERATIONS = {
    name: resolve(Profile(), name)
    for name in ("add_group", "update_group", "remove_group", "add_usage_api_key", "remove_usage_api_key")
}


def test_links_are_those_of_the_description() -> None:
    links = {
        "changes": _link("change", "$response.body#/group_id"),
        "of a header": _link("change", "$response.header.Location"),
        "of nobody": _link("nobody", "$response.body#/group_id"),
    }
    post = {"responses": {"200": {"links": links}}}
    paths = {"/core/v1/add_group": {"post": post}, "/core/v1/update_group": {"post": {"operationId": "change"}}}
    description = Description({"openapi": "3.1.0", "paths": paths}, "http://node.example/openapi.json")
    assert links_of(description, OPERATIONS) == [Link("add_group", "group_id", "update_group", "group_id")]


def _link(target: str, expression: str) -> dict[str, object]:
    return {"operationId": target, "requestBody": {"group_id": expression}}


def test_links_without_a_description_are_implied() -> None:
    silent = Description({"openapi": "3.1.0", "paths": {}}, "http://node.example/openapi.json")
    wanted = [link for link in IMPLIED if {link.source, link.target} <= OPERATIONS.keys()]
    assert links_of(None, OPERATIONS) == links_of(silent, OPERATIONS) == wanted
    assert len(wanted) == 3


def test_node_states_the_implied_links() -> None:
    node = build_node(Settings(port=0))
    try:
        description = Description(node.app.openapi(), "http://node.example/core/v1/openapi.json")
    finally:
        node.close()
    operations = OPERATIONS | {
        name: resolve(Profile(), name) for name in ("update_usage_api_key", "update_usage_api_key_metadata")
    }
    assert set(links_of(description, operations)) == set(IMPLIED)


def test_sequences_give_each_label_each_value_and_remove_what_they_made_last() -> None:
    random = Random("1")  # noqa: S311 - repeatable
    rules = ValueRules(random, wildcard=0, pages=(0, 100), sample=sample_cid)
    sequences = list(Sequences(rules, Examples(rules, random), random).of(links_of(None, OPERATIONS), OPERATIONS))
    groups = [one for one in sequences if one[0].operation == "add_group"]
    assert {tuple(example.operation for example in one) for one in groups} == {
        ("add_group", "update_group", "remove_group")
    }
    assert all(example.members["group_id"] == f"${{{one[0].made}}}" for one in groups for example in one[1:])
    fixed = {str(value) for value in rules.valid("name")[:60]}
    assert fixed <= {str(update.members["description"]) for _, update, _ in groups}
