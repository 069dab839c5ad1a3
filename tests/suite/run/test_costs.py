"""The selection of ``--quick``, and the table of costs that it follows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.language.case_info import CaseInfo
from conformance.resources import scenarios
from conformance.run import costs
from conformance.run.case import Case
from conformance.run.loader import load

Choose = Callable[..., set[str]]


def case(name: str, *requirements: str) -> Case:
    return Case(
        id=name, pack="p", title="t", requirements=requirements, path=Path("p.yaml"), line=1, info=CaseInfo(),
        program=lambda _: None,
    )  # fmt: skip


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> Choose:
    """The selection from some cases; a costs 1 request, b 2, c 3 and d 4, more than a judge may."""
    monkeypatch.setattr(costs, "cost", lambda name: " abcd".index(name[0]))
    monkeypatch.setattr(costs, "MOST_OF_A_JUDGE", 3)
    return lambda *cases, not_offered="", judges=(): costs.cheapest(
        cases, lambda one: one.id not in not_offered.split(), judges
    )


def test_cheapest_case_of_each_requirement_is_chosen(chosen: Choose) -> None:
    assert chosen(case("d", "X", "Y"), case("b", "X"), case("c", "Y"), case("a", "X")) == {"a", "c"}


def test_case_whose_requirements_others_name_too_is_not_chosen(chosen: Choose) -> None:
    assert chosen(case("a", "X"), case("b", "Y"), case("c", "X", "Y", "Z")) == {"c"}


def test_case_that_is_not_offered_is_chosen_only_where_no_other_is(chosen: Choose) -> None:
    assert chosen(case("a", "X"), case("b", "X"), case("c", "Y"), not_offered="a c") == {"b", "c"}


def test_cheap_case_that_judges_what_others_build_on_is_chosen_beside_the_cheapest(chosen: Choose) -> None:
    cases = [case("a", "X"), case("b[row]", "X"), case("c", "Y"), case("d", "X", "Y")]

    assert chosen(*cases, judges={"b", "d"}) == {"b[row]", "c"}
    assert chosen(*cases, judges={"b", "d"}, not_offered="b[row]") == {"a", "c"}


@pytest.fixture(scope="module")
def shipped() -> list[Case]:
    return load([scenarios()])


def test_quick_selection_names_every_requirement_and_holds_nothing_superfluous(shipped: list[Case]) -> None:
    ids = costs.cheapest(shipped, lambda _: True)
    kept = [case for case in shipped if case.id in ids]

    assert {name for case in kept for name in case.requirements} == {
        name for case in shipped for name in case.requirements
    }
    for left_out in kept:
        others = {name for case in kept if case is not left_out for name in case.requirements}
        assert not others >= set(left_out.requirements), left_out.id


def test_costs_of_nearly_all_shipped_cases_were_measured(shipped: list[Case]) -> None:
    ids = {case.id for case in shipped}
    stale = (ids ^ costs.measured().keys()) - {case.id for case in shipped if case.info.needs}

    assert len(stale) < len(ids) / 10, f"renew them with `python -m benchmarks.costs`: {sorted(stale)}"


def test_case_with_writes_and_transactions_begins_before_one_that_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"reads": costs.Cost(30), "writes": costs.Cost(10, charged_cents=3), "sends": costs.Cost(10, gas=1_000_000)}
    monkeypatch.setattr(costs, "measured", lambda: known)

    assert sorted(known, key=costs.length) == ["reads", "writes", "sends"]
    assert costs.expected(["reads", "sends"]) == costs.Cost(40, 0, 0, 1_000_000)
    assert costs.expected([]) == costs.Cost(0)
