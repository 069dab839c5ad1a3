"""JUnit XML: the six verdicts, two schemas, and texts that XML cannot hold."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import xmlschema
from made_runs import results

from conformance.report.case_text import explain
from conformance.report.junit import junit
from conformance.verdict import CellOutcome, CellVerdict, Exchange, Failure, Outcome, Verdict

HERE = Path(__file__).resolve().parent
SCHEMAS = [xmlschema.XMLSchema(HERE / "junit_schemas" / name) for name in ("surefire-test-report.xsd", "junit-10.xsd")]
EXPECTED = {
    Verdict.PASS: None,
    Verdict.FAIL: "failure",
    Verdict.SUITE_ERROR: "error",
    Verdict.INCONCLUSIVE: "skipped",
    Verdict.KNOWN: "skipped",
    Verdict.NOT_OFFERED: "skipped",
}
ODD = "a\x00b\x1b[31m]]>\ud800<x>&\ufffe\uffff\r\n\u202e\x85\U0001f600"


def outcome(verdict: Verdict, text: str = "text", row: str = "") -> Outcome:
    exchange = Exchange("GET", f"http://n/{text}", {}, text, 200, {}, text, 0.1, f"curl {text}")
    return Outcome(
        case=f"pack::{verdict.replace(' ', '-')}{row}",
        title=f"A title: {text}",
        requirements=("GRP-010",),
        verdict=verdict,
        reason="" if verdict is Verdict.PASS else f"a reason: {text}",
        failure=Failure("steps[1]", text, text, exchange) if verdict in {Verdict.FAIL, Verdict.KNOWN} else None,
        seconds=1234.56789,
        cells=(CellOutcome("k/a/w/1", granted=True, verdict=CellVerdict.WRONG, reason="listed", got=text),),
        traceback=text if verdict is Verdict.SUITE_ERROR else "",
    )


def told(text: str) -> ET.Element:
    """The root of a file that both schemas accept."""
    for schema in SCHEMAS:
        schema.validate(text)
    return ET.fromstring(text)  # noqa: S314 - our own file


def test_each_verdict_has_one_element_and_its_reason() -> None:
    root = told(junit(results(*map(outcome, Verdict))))
    found = {case.get("name"): [(child.tag, child.get("message")) for child in case] for case in root.iter("testcase")}
    assert found == {
        verdict.replace(" ", "-"): [(element, f"{verdict}: a reason: text")] if element else []
        for verdict, element in EXPECTED.items()
    }
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6", "failures": "1", "errors": "1", "skipped": "3"
    }  # fmt: skip


def test_text_of_a_case_is_the_story_of_the_terminal() -> None:
    failed = outcome(Verdict.FAIL)
    made = results(failed)
    (failure,) = told(junit(made)).iter("failure")
    assert failure.text == explain(failed, made.cases[0].rerun)
    assert failure.get("type") == "fail"


def test_names_are_those_of_the_case_and_times_are_in_seconds() -> None:
    root = told(junit(results(outcome(Verdict.PASS, row="[x]"))))
    (case,) = root.iter("testcase")
    assert case.attrib == {"classname": "pack", "name": "pass[x]", "time": "1234.568"}
    assert root.get("time") == "60.000"


def test_file_says_how_the_run_ended_where_no_case_tells_it() -> None:
    root = told(junit(results(outcome(Verdict.PASS), faults=("pack::pass is listed, and passes",))))
    found = {one.get("name"): one.get("value") for one in root.iter("property")}
    assert (found["exit_code"], found["fault"]) == ("1", "pack::pass is listed, and passes")


@pytest.mark.parametrize("verdict", Verdict)
def test_no_text_of_a_node_breaks_the_file(verdict: Verdict) -> None:
    text = junit(results(outcome(verdict, ODD)))
    assert not re.search("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    text.encode("utf-8")
    root = told(text)
    if verdict is not Verdict.PASS:
        (element,) = next(root.iter("testcase"))
        assert "]]>" in (element.text or "")
        assert "\U0001f600" in (element.text or "")
        assert "]]> <x>&" in (element.get("message") or "")
