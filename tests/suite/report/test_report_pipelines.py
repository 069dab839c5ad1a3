"""What pipelines read of the results: variables for later jobs, and annotations of GitHub."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from made_runs import FAILED, PASSED, UNSURE, outcome, results

from conformance.report import Results
from conformance.report.annotations import workflow_commands
from conformance.report.renderers import dotenv
from conformance.verdict import Outcome, Verdict

HOSTILE = "x\n::error::y\r\n::add-mask::z\u2028::z ##[error]100%25 $CI_JOB_TOKEN, a: b\x1b[2J"
"""What a node may answer, to be read as commands and variables."""


def variables(text: str) -> dict[str, str]:
    """As GitHub and GitLab read them, line by line."""
    lines = [re.fullmatch(r"([A-Z_]+)=(.*)", line) for line in text.splitlines()]
    assert None not in lines
    return {line[1]: line[2] for line in lines if line}


def commands(text: str) -> list[tuple[str, str]]:
    """Title and message of each command, as the runner of GitHub reads them."""
    found = []
    for line in text.splitlines():
        parsed = re.fullmatch(r"::error title=([^:,\r\n]*)::(.*)", line)
        assert parsed, line
        title, message = parsed.groups()
        for escape, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            title, message = title.replace(escape, character), message.replace(escape, character)
        found.append((title, message))
    return found


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ((PASSED,), {"CONFORMS": "true", "EXIT_CODE": "0", "BROKEN": "0", "FAILED": "0", "PASSED": "1"}),
        ((PASSED, FAILED), {"CONFORMS": "false", "EXIT_CODE": "1", "BROKEN": "3", "FAILED": "1", "PASSED": "1"}),
        ((PASSED, UNSURE), {"CONFORMS": "false", "EXIT_CODE": "3", "INCONCLUSIVE": "1", "SUITE_ERRORS": "0"}),
        ((), {"CONFORMS": "false", "EXIT_CODE": "4", "PASSED": "0", "KNOWN_FAILURES": "0", "NOT_OFFERED": "0"}),
    ],
)
def test_variables_tell_the_verdict_and_count_cases(outcomes: tuple[Outcome, ...], told: dict[str, str]) -> None:
    found = variables(dotenv(results(*outcomes)))
    assert {name: found[f"CONFORMANCE_{name}"] for name in told} == told
    assert found["CONFORMANCE_SENTENCE"] == results(*outcomes).sentence


def test_variables_hold_no_text_that_makes_others_or_names_one() -> None:
    told = dotenv(results(PASSED, interrupted=f"the node says {HOSTILE} {'x' * 10_000}"))
    assert variables(told).keys() == variables(dotenv(results(PASSED))).keys()
    assert "$" not in told
    assert len(told.encode()) < 5_000


def test_each_broken_statement_is_an_annotation_with_the_case_and_its_command() -> None:
    found = dict(commands(workflow_commands(results(PASSED, FAILED))))
    assert list(found) == ["A-010 (must) is broken", "A-030 (must) is broken", "A-020 (should) is broken"]
    assert found["A-020 (should) is broken"].splitlines() == [
        "The node counts. (Limits)",
        "p::b: steps[1] call x: expected a [b] list; got nothing",
        "again: service-conformance run --seed 7 --case p::b",
    ]


def test_cases_past_the_third_are_counted() -> None:
    many = [replace(FAILED, case=f"p::b[{number}]") for number in range(5)]
    checks = {"A-020": tuple(case.case for case in many)}
    (told,) = [
        text for title, text in commands(workflow_commands(results(*many, checks=checks))) if title.startswith("A-020")
    ]
    assert told.splitlines()[-1] == "and 2 more cases"


@pytest.mark.parametrize("case", ["own::c", "own::c[a, b: 5%]"], ids=["plain", "escaped as a property"])
def test_failing_case_without_a_statement_is_an_annotation(case: str) -> None:
    found = commands(workflow_commands(results(PASSED, outcome(case, Verdict.FAIL))))
    assert [title for title, _ in found] == [f"{case} failed"]


def test_run_that_conforms_has_no_annotation() -> None:
    assert workflow_commands(results(PASSED)) == ""


@pytest.mark.parametrize("made", [results(PASSED, UNSURE), results(), results(PASSED, faults=("an entry passes",))])
def test_run_that_shows_no_broken_statement_tells_why_it_is_not_green(made: Results) -> None:
    ((title, message),) = commands(workflow_commands(made))
    assert title == "The node is not shown to conform"
    assert message.splitlines() == [made.sentence, *made.faults]
