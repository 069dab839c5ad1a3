"""What a run says on the terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import pytest
from made_runs import FAILED, PASSED, Fields, outcome, results, terminal

from conformance.verdict import Outcome, Verdict


def shown(*outcomes: Outcome, **fields: Unpack[Fields]) -> str:
    """What the terminal shows of a run."""
    return terminal(results(*outcomes, **fields))


def rows(text: str) -> dict[str, list[str]]:
    return {
        line.split()[0]: line.split()[1:] for line in text.splitlines() if line.split()[:1] in (["A"], ["B"], ["all"])
    }


def test_table_counts_requirements_of_the_families_with_failures() -> None:
    found = rows(shown(PASSED, FAILED))
    assert found["A"] == ["3", "-", "-", "-", "-", "-", "-", "-"]
    assert "B" not in found
    assert found["all"] == ["3", "-", "-", "-", "-", "-", "-", "1"]


def test_passing_requirements_are_counted_apart_from_those_passing_in_part() -> None:
    found = rows(shown(PASSED, outcome("p::b", Verdict.NOT_OFFERED, "A-010")))
    assert found["A"] == ["-", "-", "-", "-", "1", "1", "-", "1"]


def test_failed_requirement_is_told_with_clause_and_departure() -> None:
    text = shown(PASSED, FAILED)
    assert "A-010 (must; Limits) The node counts." in text
    assert "p::b: steps[1] call x: expected a [b] list; got nothing" in text
    assert "by the same cases also A-020, A-030" in text


def test_case_that_was_told_in_full_is_only_named() -> None:
    assert "      p::b\n" in terminal(results(PASSED, FAILED), ["p::b"])


def test_failed_case_that_names_no_requirement_is_told() -> None:
    assert "p::c: steps[1] call x" in shown(PASSED, outcome("p::c", Verdict.FAIL))


def test_passing_run_tells_no_failures() -> None:
    text = shown(PASSED)
    assert "breaks" not in text
    assert "The node conforms as far as these cases tell: 1 of 1 passed" in text


def test_inconclusive_cases_and_faults_are_told() -> None:
    text = shown(PASSED, outcome("p::b", Verdict.INCONCLUSIVE), faults=("p::z matches nothing",))
    assert "Inconclusive: p::b: reason of p::b" in text
    assert "Fault: p::z matches nothing" in text


def test_inconclusive_cases_with_one_reason_are_told_at_once() -> None:
    same = [replace(outcome(name, Verdict.INCONCLUSIVE), reason="nobody listens") for name in ("p::b", "p::c", "p::d")]
    text = shown(PASSED, *same)
    assert "Inconclusive: p::b and 2 more: nobody listens" in text
    assert text.count("nobody listens") == 1


@pytest.mark.parametrize("hint", ["p::c judges that", "add_group is judged by p::c"])
def test_cases_that_wait_for_one_that_failed_are_told_with_it(hint: str) -> None:
    blocked = [
        replace(outcome(name, Verdict.INCONCLUSIVE), reason=f"blocked: no group; {hint}") for name in ("p::b", "p::d")
    ]
    text = shown(outcome("p::c[row]", Verdict.FAIL, "A-010"), *blocked, checks={"A-010": ("p::c[row]",)})
    assert "(2 cases wait for this: p::b, p::d)" in text
    assert "blocked" not in text
    assert "Inconclusive: p::b and 1 more: blocked" in shown(PASSED, *blocked)


def test_seed_node_and_number_of_requests_are_told() -> None:
    text = shown(PASSED, FAILED, seed="42")
    assert "seed 42; node http://n; profile node.yaml; 6 requests" in text


def test_requirements_proved_in_part_are_mentioned() -> None:
    assert "1 requirement is proved in part only" in shown(PASSED, FAILED)


def test_charged_cents_are_told_by_pack() -> None:
    text = shown(replace(PASSED, charged_cents=3), replace(FAILED, case="q::b", charged_cents=4))
    assert "7 cents charged by the profile's prices: p 3, q 4" in text


def test_bought_cents_are_told_by_pack() -> None:
    text = shown(replace(PASSED, charged_cents=3, bought_cents=500), replace(FAILED, case="q::b"))
    assert "3 cents charged by the profile's prices; 500 cents of credit bought: p 500" in text
