"""Which of the broken statements stands first: the one that explains most of the failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import pytest
from made_runs import outcome, record

from conformance.report import Results, results_of
from conformance.report.case_text import explain
from conformance.report.ranking import broken, failed_cases
from conformance.resources import scenarios
from conformance.run.listing import ListedCase, by_requirement, list_pack
from conformance.verdict import Verdict

MADE = Mapping[str, Sequence[str]]

RUNS_COST_NOTHING: MADE = {
    "metering::runs-are-charged-after-conversion": ["MODE-100", "BILL-320"],
    "metering::runs-on-bought-credit": ["BILL-320"],
}
DEBIT_IS_LOST: MADE = {
    "metering::payments-beside-writes-are-credited": ["BILL-070"],
    "metering::parallel-writes-are-billed-one-by-one": ["BILL-220"],
}
CONTRACT_IS_LATE: MADE = {
    "lists::items-go-one-by-one": ["EP-210"],
    "chain_lists::lists-follow-groups": ["CHAIN-050"],
    "chain_lists::lists-follow-wallets-and-actions": ["CHAIN-050"],
    "chain_runs::runs-follow-the-chain": ["CHAIN-050"],
}
PAGE_IS_LOST: MADE = {
    "group_lifecycle::removed-groups": ["GRPLIFE-100", "LIST-050"],
    "lists::pages-of-list-groups": ["LIST-050"],
    "lists::pages-of-list-actions": ["LIST-050"],
}


@cache
def cases() -> Sequence[ListedCase]:
    """The shipped cases."""
    return [case for file in sorted(scenarios().glob("*.*")) for case in list_pack(file)]


def run_that_breaks(failing: MADE) -> Results:
    """A run of the shipped cases in which these failed, each with what it contradicts."""
    passed = [outcome(case.id, Verdict.PASS, *case.requirements) for case in cases() if case.id not in failing]
    failed = [replace(outcome(case, Verdict.FAIL, *names), contradicted=(*names,)) for case, names in failing.items()]
    return results_of(record(*passed, *failed, checks=by_requirement(cases())))


@pytest.mark.parametrize(
    ("failing", "first", "later"),
    [
        (RUNS_COST_NOTHING, "BILL-320", "MODE-100"),
        (DEBIT_IS_LOST, "BILL-220", "BILL-070"),
        (CONTRACT_IS_LATE, "CHAIN-050", "EP-210"),
        (PAGE_IS_LOST, "LIST-050", "GRPLIFE-100"),
    ],
)
def test_statement_that_explains_most_failures_comes_first(failing: MADE, first: str, later: str) -> None:
    results = run_that_breaks(failing)
    assert [requirement.id for requirement in broken(results)][:2] == [first, later]
    assert first in failed_cases(results)[0].contradicted


def test_general_statements_come_after_those_that_they_restate() -> None:
    results = run_that_breaks({"envelopes::outside-the-window": ["ENV-260"]})
    assert [requirement.id for requirement in broken(results)] == ["ENV-260", "ERR-050"]


def test_case_names_its_statements_in_the_order_of_the_run() -> None:
    results = run_that_breaks(RUNS_COST_NOTHING)
    case = "metering::runs-are-charged-after-conversion"
    failed = outcome(case, Verdict.FAIL, *RUNS_COST_NOTHING[case])
    text = explain(failed, "again", [requirement.id for requirement in broken(results)])
    assert text.index("BILL-320") < text.index("MODE-100")
