"""The results of a run as Markdown, for the summary of a CI job."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable

from conformance.report.causes import counted, numbered, unexplained
from conformance.report.judgement import MEANINGS
from conformance.report.ranking import broken
from conformance.report.results import CaseResult, RequirementResult, Results
from conformance.requirements import Level
from conformance.values.shown_text import plain
from conformance.verdict import ExitCode

MOST_BYTES = 1_000_000
"""GitHub takes 1 MiB for the summary of a step."""

LEFT_OUT = "\n_The rest is left out: {} more lines would not fit. results.json has all of it._\n"

CONFORMS, BREAKS, NO_VERDICT = "✅", "❌", "⚠️"


def markdown(results: Results) -> str:
    """The verdict, a table by family, broken statements and inconclusive cases; at most `MOST_BYTES` of UTF-8."""
    parts = (_head, _families, _causes, _broken, _assumed, _inconclusive)
    lines = [line for part in parts for line in part(results)]
    size = len(LEFT_OUT) + 20
    for number, line in enumerate(lines):
        size += len(line.encode()) + 1
        if size > MOST_BYTES:
            return "\n".join(lines[:number]) + LEFT_OUT.format(len(lines) - number)
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """Text as a code span, so that text from a node is never interpreted as Markdown."""
    shown = " ".join(plain(text).split())
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}" if shown else ""


def _head(results: Results) -> Iterable[str]:
    mark = CONFORMS if results.conforms else BREAKS if results.exit_code == ExitCode.FAILS else NO_VERDICT
    yield f"# {mark} Conformance of {code(results.target.base_url)}"
    yield ""
    yield f"**{results.sentence}**"
    yield ""
    seconds = (results.finished - results.started).total_seconds()
    yield (
        f"{results.suite.name} {results.suite.version}; profile {code(results.profile.source)}; seed"
        f" {code(results.seed)}; {results.totals.exchanges} requests in {seconds:.0f} s"
    )
    yield ""
    for fault in results.faults:
        yield f"- Fault: {code(fault)}"


def _families(results: Results) -> Iterable[str]:
    judged = [requirement for requirement in results.requirements if requirement.level in {Level.MUST, Level.SHOULD}]
    verdicts = [verdict for verdict in MEANINGS if any(requirement.verdict is verdict for requirement in judged)]
    yield "| family | " + " | ".join(verdicts) + " |"
    yield "|---" + "|--:" * len(verdicts) + "|"
    for family in dict.fromkeys(requirement.id.partition("-")[0] for requirement in judged):
        count = Counter(requirement.verdict for requirement in judged if requirement.id.startswith(f"{family}-"))
        yield f"| {family} | " + " | ".join(str(count[verdict] or "") for verdict in verdicts) + " |"
    yield ""


def _causes(results: Results) -> Iterable[str]:
    if results.causes:
        yield "## Causes that several cases share"
        yield ""
    for number, cause in enumerate(results.causes, 1):
        yield f"{number}. {code(cause.headline)}: {counted(cause)}; look at {code(cause.cases[0])}"
    yield ""


def _broken(results: Results) -> Iterable[str]:
    failed = broken(results)
    cases, numbers = {case.case: case for case in results.cases}, numbered(results)
    if failed:
        yield "## Statements that the node breaks"
        yield ""
    for requirement in failed:
        yield f"- **{requirement.id}** ({requirement.level}) {_plain(requirement)}"
        for name in requirement.failed:
            why = f"cause {numbers[name]}" if name in numbers else departure(cases[name])
            yield f"  - {code(name)}: {why}"
            yield f"    - again: {code(cases[name].rerun)}"
    yield ""


def _plain(requirement: RequirementResult) -> str:
    return " ".join(requirement.text.split())


def departure(case: CaseResult) -> str:
    """Where a case departed, as Markdown."""
    if case.failure is None:
        return code(case.reason)
    return f"{code(case.failure.step)} expected {code(case.failure.expected)}; got {code(case.failure.got)}"


def _assumed(results: Results) -> Iterable[str]:
    by_name = {case.case: case for case in results.cases}
    if results.assumed:
        yield "## Values that the profile does not state"
        yield ""
    for key in results.assumed:
        value = code(json.dumps(key.value, ensure_ascii=False))
        count = f"{len(key.cases)} cases hang" if len(key.cases) > 1 else "1 case hangs"
        came = f"expected {code(key.expected)}; got {code(key.got)}. {count} on it"
        if key.explains:
            yield f"- {code(key.key)}: assumed {value}, {came}"
        else:
            yield f"- {code(unexplained(by_name[key.cases[0]].assumed))}: {came}"


def _inconclusive(results: Results) -> Iterable[str]:
    reasons: dict[str, list[str]] = {}
    with_cause = numbered(results)
    for case in results.cases:
        if case.verdict == "inconclusive" and case.case not in with_cause and not case.assumed:
            reasons.setdefault(case.reason, []).append(case.case)
    if reasons:
        yield "## Cases that taught nothing"
        yield ""
    for reason, (first, *others) in reasons.items():
        more = f" and {len(others)} more" if others else ""
        yield f"- {code(first)}{more}: {code(reason)}"
