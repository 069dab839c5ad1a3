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


def test_case_that_was_told_in_full_is_only_named() -> None:
    assert "      p::b\n" in terminal(results(PASSED, FAILED), ["p::b"])


def test_inconclusive_cases_with_one_reason_are_told_at_once() -> None:
    same = [replace(outcome(name, Verdict.INCONCLUSIVE), reason="nobody listens") for name in ("p::b", "p::c", "p::d")]
    text = shown(PASSED, *same)
    assert "Inconclusive: p::b and 2 more: nobody listens" in text
    assert text.count("nobody listens") == 1


def test_cases_that_wait_for_one_that_failed_are_told_with_it() -> None:
    blocked = [
        replace(outcome(name, Verdict.INCONCLUSIVE), reason="blocked: no group", waits_for="p::c")
        for name in ("p::b", "p::d")
    ]
    text = shown(outcome("p::c[row]", Verdict.FAIL, "A-010"), *blocked, checks={"A-010": ("p::c[row]",)})
    assert "(2 cases wait for this: p::b, p::d)" in text
    assert "blocked" not in text
    assert "Inconclusive: p::b and 1 more: blocked" in shown(PASSED, *blocked)


UNSURE = outcome("p::b", Verdict.INCONCLUSIVE)
COSTLY = replace(PASSED, charged_cents=3)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (shown(PASSED, FAILED), "A-010 (must; Limits) The node counts."),
        (shown(PASSED, FAILED), "p::b: steps[1] call x: expected a [b] list; got nothing"),
        (shown(PASSED, FAILED), "by the same cases also A-020, A-030"),
        (shown(PASSED, outcome("p::c", Verdict.FAIL)), "p::c: steps[1] call x"),
        (shown(PASSED), "The node conforms as far as these cases tell: 1 of 1 passed"),
        (shown(PASSED, UNSURE), "Inconclusive: p::b: reason of p::b"),
        (shown(PASSED, faults=("p::z matches nothing",)), "Fault: p::z matches nothing"),
        (shown(PASSED, FAILED, seed="42"), "seed 42; node http://n; profile node.yaml; 6 requests"),
        (shown(PASSED, FAILED), "1 requirement is proved in part only"),
        (
            shown(COSTLY, replace(FAILED, case="q::b", charged_cents=4)),
            "7 cents charged by the profile's prices: p 3, q 4",
        ),
        (
            shown(replace(COSTLY, bought_cents=500), replace(FAILED, case="q::b")),
            "3 cents charged by the profile's prices; 500 cents of credit bought: p 500",
        ),
    ],
    ids=["clause", "departure", "others by the same case", "case without a statement", "passing run", "inconclusive",
         "fault of the list", "seed and node", "proved in part", "charged by pack", "bought by pack"],
)  # fmt: skip
def test_terminal_tells(told: str, said: str) -> None:
    assert said in told


def test_passing_run_tells_no_failures() -> None:
    assert "breaks" not in shown(PASSED)
