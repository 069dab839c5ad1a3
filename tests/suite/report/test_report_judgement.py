"""The verdict on a requirement from the outcomes of its checks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_runs import CHECKS, KNOWN, LISTED, NOTHING_LISTED, outcome

from conformance.report.judgement import Judged, Judgement, judge
from conformance.requirements import Uncovered, statuses
from conformance.verdict import NOT_APPLICABLE, Verdict


def judged(listed: Uncovered = NOTHING_LISTED, **verdicts: Verdict) -> dict[str, Judged]:
    outcomes = [outcome(f"p::{name}", verdict) for name, verdict in verdicts.items()]
    return {one.status.requirement.id: one for one in judge(statuses(KNOWN, listed, CHECKS), outcomes)}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (Verdict.PASS, Verdict.PASS, Judgement.PASS),
        (Verdict.PASS, Verdict.FAIL, Judgement.FAIL),
        (Verdict.FAIL, Verdict.INCONCLUSIVE, Judgement.FAIL),
        (Verdict.KNOWN, Verdict.FAIL, Judgement.FAIL),
        (Verdict.PASS, Verdict.INCONCLUSIVE, Judgement.INCONCLUSIVE),
        (Verdict.KNOWN, Verdict.INCONCLUSIVE, Judgement.INCONCLUSIVE),
        (Verdict.PASS, Verdict.KNOWN, Judgement.KNOWN),
        (Verdict.KNOWN, Verdict.NOT_OFFERED, Judgement.KNOWN),
        (Verdict.PASS, Verdict.NOT_OFFERED, Judgement.PASS_IN_PART),
        (Verdict.NOT_OFFERED, Verdict.NOT_OFFERED, Judgement.NOT_OFFERED),
    ],
)
def test_requirement_has_the_worst_verdict_of_its_checks(a: Verdict, b: Verdict, expected: Judgement) -> None:
    assert judged(a=a, b=b)["A-010"].judgement is expected


def test_check_for_nodes_that_choose_otherwise_does_not_count() -> None:
    other = outcome("p::b", Verdict.NOT_OFFERED, problem=NOT_APPLICABLE)
    first, second, *_ = judge(statuses(KNOWN, NOTHING_LISTED, CHECKS), [outcome("p::a", Verdict.PASS), other])
    assert (first.judgement, second.judgement) == (Judgement.PASS, Judgement.NOT_OFFERED)


@pytest.mark.parametrize(
    ("requirement", "verdicts", "expected"),
    [
        ("A-010", {"a": Verdict.PASS}, Judgement.PASS_IN_PART),
        ("A-020", {"a": Verdict.PASS}, Judgement.NOT_RUN),
        ("B-010", {"a": Verdict.PASS, "b": Verdict.PASS}, Judgement.NOT_YET_COVERED),
        ("B-020", {"a": Verdict.PASS}, Judgement.NOT_JUDGED),
    ],
    ids=["not all checks selected", "no check selected", "no check written", "a statement that nothing judges"],
)
def test_requirement_without_all_of_its_checks(
    requirement: str, verdicts: dict[str, Verdict], expected: Judgement
) -> None:
    assert judged(LISTED, **verdicts)[requirement].judgement is expected


def test_restatement_has_the_verdict_of_what_it_restates() -> None:
    assert judged(a=Verdict.PASS, b=Verdict.PASS)["A-030"].judgement is Judgement.PASS
    failed = judged(a=Verdict.PASS, b=Verdict.FAIL)["A-030"]
    assert (failed.judgement, failed.failed) == (Judgement.FAIL, ("p::b",))


def test_restatement_that_is_not_proved_fails_with_a_check_of_what_it_restates() -> None:
    found = judged(LISTED, a=Verdict.FAIL, b=Verdict.PASS)
    assert found["A-030"].judgement is Judgement.FAIL
    assert judged(LISTED, a=Verdict.PASS, b=Verdict.PASS)["A-030"].judgement is Judgement.NOT_YET_COVERED


@pytest.mark.parametrize(
    ("problem", "expected"), [("not-refused", Judgement.PASS_IN_PART), ("not-accepted", Judgement.FAIL)]
)
def test_restatement_about_acceptance_is_not_broken_by_what_was_accepted(problem: str, expected: Judgement) -> None:
    first, second, restating, *others = KNOWN.requirements
    demanding = restating.model_copy(update={"demands": "acceptance"})
    about_acceptance = KNOWN.model_copy(update={"requirements": (first, second, demanding, *others)})
    failed = replace(outcome("p::b", Verdict.FAIL, problem=problem), contradicted=("A-020",))
    found = judge(statuses(about_acceptance, NOTHING_LISTED, CHECKS), [outcome("p::a", Verdict.PASS), failed])
    assert {one.status.requirement.id: one.judgement for one in found}["A-030"] is expected


def test_failure_counts_for_what_it_contradicts_beyond_its_case() -> None:
    telling = replace(outcome("p::c", Verdict.FAIL), contradicted=("A-010",))
    first, *_ = judge(statuses(KNOWN, NOTHING_LISTED, CHECKS), [outcome("p::a", Verdict.PASS), telling])
    assert (first.judgement, first.failed) == (Judgement.FAIL, ("p::c",))


def test_failed_cases_are_named_known_ones_too() -> None:
    assert judged(a=Verdict.KNOWN, b=Verdict.FAIL)["A-010"].failed == ("p::a", "p::b")
