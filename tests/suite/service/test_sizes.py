"""The table of sizes: it names every list, the pack scale tries each of its rows, and `--scale` reaches the cases."""

from __future__ import annotations

from typing import TypeAlias

import pytest

from conformance.endpoints.extent import SampleOptions
from conformance.profile.operations import GROUP_LISTS, OPERATIONS, PERMISSION_ARRAYS
from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.run.runner import Case, run_case
from conformance.selftest.tools.accounts import View
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.serving import target_node
from conformance.service.sizes import GROUP_WRITES, KEY_WRITES, NUMBERS, SIZES, few_places, places, places_behind
from conformance.verdict import Verdict
from reference_node.chain.account_config import Group
from reference_node.node import Node

Cases: TypeAlias = dict[str, Case]


@pytest.fixture(scope="module")
def cases() -> Cases:
    """The cases of the pack scale."""
    return {case.id: case for case in load([scenarios()]) if case.id.startswith("scale::")}


def test_table_names_each_list_and_each_array_of_the_interface() -> None:
    lists = {name for name, operation in OPERATIONS.items() if operation.items}
    arrays = {f"{write}.{array}" for write in KEY_WRITES for array in PERMISSION_ARRAYS}
    arrays |= {f"{write}.{array}" for write in GROUP_WRITES for array in GROUP_LISTS}

    assert {*lists, "list_actions of a group", *arrays} <= SIZES.keys()
    assert all(size.page for name, size in SIZES.items() if name.partition(" ")[0] in lists)


def test_each_row_of_numbers_is_used_by_a_case() -> None:
    packs = "".join(path.read_text(encoding="utf-8") for path in scenarios().glob("*.py"))

    assert [name for name in NUMBERS if f'NUMBERS["{name}"]' not in packs] == []


def test_cases_try_each_list_and_array_at_the_size_that_the_run_names(cases: Cases) -> None:
    with target_node(lambda _: None, "1") as target:
        target.extent = SampleOptions(scale=10)
        outcomes = [run_case(case, target) for case in cases.values()]

    assert [outcome.reason for outcome in outcomes if outcome.verdict is not Verdict.PASS] == []
    tried = {name for outcome in outcomes for name, values in outcome.tried.items() if 11 in values}
    assert SIZES.keys() - tried == set()


@pytest.mark.parametrize(("scale", "verdict"), [(32, Verdict.PASS), (64, Verdict.FAIL)])
def test_list_that_ends_is_found_where_the_run_goes_beyond_its_end(cases: Cases, scale: int, verdict: Verdict) -> None:
    def end(node: Node) -> None:
        def first_50(view: View, account: int, page: int, size: int) -> list[Group]:
            return [*view(account, page, size)][: max(0, 50 - page * size)]

        wrap(node.accounts, "actions", first_50)

    with target_node(end, "1") as target:
        target.extent = SampleOptions(scale=scale)
        outcome = run_case(cases["scale::long-lists"], target)

    assert outcome.verdict is verdict, outcome.reason


def test_places_are_at_the_beginning_at_the_end_and_on_both_sides_of_each_number() -> None:
    assert places(11) == [0, 1, 9, 10]
    assert few_places(11) == [0, 9, 10]
    assert few_places(256) == [0, 9, 10, 255]
    assert places_behind(65) == [0, 9, 10, 16, 32, 50, 64]
    assert places(65) == [0, 1, 9, 10, 15, 16, 31, 32, 49, 50, 63, 64]
