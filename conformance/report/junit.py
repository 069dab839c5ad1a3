"""The results of a run as JUnit XML, which the schemas of Maven Surefire and of Jenkins' xunit plugin accept."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator

from conformance.report.case_text import explain
from conformance.report.results import CaseResult, Results
from conformance.values.shown_text import escaped, plain
from conformance.verdict import Verdict

FAILURE, ERROR, SKIPPED = "failure", "error", "skipped"
ELEMENTS: dict[Verdict, str | None] = {
    Verdict.PASS: None,
    Verdict.FAIL: FAILURE,
    Verdict.SUITE_ERROR: ERROR,
    Verdict.INCONCLUSIVE: SKIPPED,
    Verdict.KNOWN: SKIPPED,
    Verdict.NOT_OFFERED: SKIPPED,
}
"""How JUnit's format tells each verdict: pytest's outcome of a case follows from it, too."""


def junit(results: Results) -> str:
    """One suite with all cases, by name; times in seconds. What XML cannot hold is escaped as in JSON."""
    count = Counter(ELEMENTS[case.verdict] for case in results.cases)
    suite = ET.Element(
        "testsuite",
        name=results.suite.name,
        tests=str(len(results.cases)),
        failures=str(count[FAILURE]),
        errors=str(count[ERROR]),
        skipped=str(count[SKIPPED]),
        time=f"{(results.finished - results.started).total_seconds():.3f}",
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in _facts(results):
        ET.SubElement(properties, "property", name=name, value=plain(value))
    suite.extend(map(_case, results.cases))
    ET.indent(suite)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suite, encoding="unicode")}\n'


def _facts(results: Results) -> Iterator[tuple[str, str]]:
    """What the cases do not tell: a list of known failures that is out of date ends a run without a failing case."""
    yield "sentence", results.sentence
    yield "exit_code", str(int(results.exit_code))
    yield "node", results.target.base_url
    yield "profile", results.profile.source
    yield "seed", results.seed
    yield from (("fault", fault) for fault in results.faults)


def _case(case: CaseResult) -> ET.Element:
    pack, _, name = case.case.partition("::")
    made = ET.Element("testcase", classname=plain(pack), name=plain(name), time=f"{case.seconds:.3f}")
    element = ELEMENTS[case.verdict]
    if element is None:
        return made
    told = ET.SubElement(made, element, message=plain(f"{case.verdict}: {case.reason}"))
    if element != SKIPPED:
        told.set("type", case.verdict)
    told.text = escaped(explain(case, case.rerun))
    return made
