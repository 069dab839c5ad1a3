"""The requests that the driver `fuzz` makes: what each seed holds, and what is left of a failing one."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from openapi_spec_validator import validate
from pydantic import JsonValue

from conformance.drivers.fuzz.examples import Example, Examples, Sort
from conformance.drivers.fuzz.generated import described, generated
from conformance.drivers.fuzz.judge import NO_SHAPE
from conformance.drivers.fuzz.shrink import MOST_TRIES, shrink
from conformance.drivers.fuzz.values import NUMBERS, ValueRules
from conformance.profile import Profile, resolve
from conformance.selftest.mutants.rare_values import FAILS
from conformance.selftest.tools.mutant import all_mutants
from conformance.service.derivations import sample_cid

SEEDS = range(20)


@cache
def examples(operation: str, seed: object) -> list[Example]:
    random = Random(str(seed))  # noqa: S311 - repeatable
    rules = ValueRules(random, wildcard=0, pages=(0, 100), sample=sample_cid)
    return list(Examples(rules, random).of(resolve(Profile(), operation)))


@pytest.mark.parametrize("which", FAILS)
def test_every_seed_has_the_rare_body_and_charges_it_to_the_same_requirement(which: str) -> None:
    """A fault about a body of the right shape breaks another requirement than one about a wrong shape."""
    operation, strikes = FAILS[which]
    (mutant,) = (one for one in all_mutants() if one.name == f"fails-on-a-rare-body:{which}")
    for seed in SEEDS:
        wrong = {one.sort is Sort.WRONG for one in examples(operation, seed) if strikes(dict(one.members))}
        assert wrong == {NO_SHAPE in mutant.breaks}, seed


def test_examples_of_a_seed_are_the_same_again() -> None:
    assert examples.__wrapped__("add_group", "s") == examples("add_group", "s")
    assert examples("add_group", "s") != examples("add_group", "other")


def test_plain_examples_hold_every_combination_of_three_members() -> None:
    plain = [one.members for one in examples("update_usage_api_key", "s") if one.sort is Sort.PLAIN]
    for one in ([], [0], ["${group.id}"]):
        for switches in ((True, True), (True, False), (False, True), (False, False)):
            wanted = {"execute_in_groups": one, "can_create_groups": switches[0], "can_delete_groups": switches[1]}
            assert any(wanted.items() <= members.items() for members in plain), wanted


def test_description_by_the_profile_is_valid_and_gives_requests() -> None:
    operations = [resolve(Profile(), name) for name in ("add_group", "list_groups", "get_action_ipfs_id")]
    document = described(operations)
    validate(document)  # type: ignore[arg-type]  # as it was made
    made, *others = [[*generated(document, operation, Sort.VALID, 5, "seed")] for operation in operations]
    assert [len(one) for one in (made, *others)] == [5, 5, 5]
    assert made == [*generated(document, operations[0], Sort.VALID, 5, "seed")]
    assert all({"group_name", "group_description"} <= one.members.keys() for one in made)


def test_operation_that_the_description_lacks_gives_none() -> None:
    assert not list(generated(described([]), resolve(Profile(), "add_group"), Sort.VALID, 5, "seed"))


def test_failing_request_is_left_with_what_makes_it_fail() -> None:
    plain = {"name": "a", "description": "", "execute_in_groups": []}
    failing = Example(
        "add_usage_api_key",
        Sort.VALID,
        {"name": f"before {'ж' * 300} after", "description": "long", "execute_in_groups": [1, NUMBERS[-1], 3], "x": 1},
    )
    simple = shrink(failing, plain, lambda one: NUMBERS[-1] in one.members["execute_in_groups"])  # type: ignore[operator]
    assert simple.members == {"name": "a", "description": "", "execute_in_groups": [NUMBERS[-1]]}


def test_shrinking_ends_though_everything_fails() -> None:
    tried: list[Example] = []

    def fails(one: Example) -> bool:
        tried.append(one)
        return True

    shrink(Example("add_group", Sort.VALID, {"group_name": "x" * 10_000}), {"group_name": "a"}, fails)
    assert len(tried) <= MOST_TRIES


TEXT: JsonValue = {"type": "string", "enum": ["${name} $${x"]}
BODIES: dict[str, JsonValue] = {
    "get_action_ipfs_id": TEXT,
    "add_group": {"type": "object", "properties": {"group_name": TEXT}, "required": ["group_name"]},
}


@pytest.mark.parametrize("name", BODIES)
def test_text_that_looks_like_a_variable_is_no_variable(name: str) -> None:
    operation = resolve(Profile(), name)
    body: JsonValue = {"required": True, "content": {"application/json": {"schema": BODIES[name]}}}
    post: JsonValue = {"requestBody": body, "responses": {"default": {"description": ""}}}
    document = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {operation.path: {"post": post}}}
    made = [*generated(document, operation, Sort.VALID, 3, "seed")]
    assert {*made[0].members.values()} == {"$${name} $$${x"}, "escaped as packs have it"


def test_shrinking_makes_no_variable_of_a_text() -> None:
    tried: list[Example] = []

    def fails(one: Example) -> bool:
        tried.append(one)
        return one.members["group_name"] != "a"

    shrink(Example("add_group", Sort.VALID, {"group_name": "b$${name} of it"}), {"group_name": "a"}, fails)
    assert all("${" not in str(one.members["group_name"]).replace("$${", "") for one in tried)
