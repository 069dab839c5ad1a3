"""Allure results: the verdicts, statements and exchanges of the cases, in the results that allure-pytest writes.

Pytest loads it only with ``--alluredir``. Other tests of the same session are left as allure-pytest reports them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256

import allure
import allure_commons
import pytest
from allure_commons.model2 import Label, Link, Status, StatusDetails, TestResult
from allure_commons.types import AttachmentType, LabelType, LinkType, Severity

from conformance.requirements import Level, Requirement, catalogue
from conformance.run.items import RUNNING, CaseItem, explained
from conformance.values.shown_text import escaped, plain
from conformance.verdict import ConversationExchange, Exchange, Failure, Outcome, Verdict

STATUSES = {
    Verdict.PASS: Status.PASSED,
    Verdict.FAIL: Status.FAILED,
    Verdict.NOT_OFFERED: Status.SKIPPED,
    Verdict.KNOWN: Status.SKIPPED,
    Verdict.INCONCLUSIVE: Status.BROKEN,
    Verdict.SUITE_ERROR: Status.BROKEN,
}
SEVERITIES = {
    Level.MUST: Severity.CRITICAL,
    Level.SHOULD: Severity.NORMAL,
    Level.MAY: Severity.MINOR,
    Level.SILENT: Severity.TRIVIAL,
}
"""The severity of a statement, the most severe first."""
REQUIREMENT, CLAUSE = "requirement", "clause"
"""Names of labels, and the types of links that ``--allure-link-pattern`` takes."""


class AllureCases:
    """A plugin of pytest and of allure-commons that completes the result of each case."""

    def __init__(self, config: pytest.Config) -> None:
        self._run = config.stash[RUNNING]
        self._patterns: dict[str, str] = dict(config.getoption("allure_link_pattern"))
        self._item: pytest.Item | None = None
        self._statements = {statement.id: statement for statement in catalogue().requirements}
        allure_commons.plugin_manager.register(self)
        config.add_cleanup(lambda: allure_commons.plugin_manager.unregister(self))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Note whose result follows."""
        self._item = item

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Attach the exchange that shows a failure, and all of the case until then."""
        outcome = self._run.outcomes.get(item.nodeid) if isinstance(item, CaseItem) else None
        for name, text, kind in attachments(outcome.failure if outcome else None):
            allure.attach(text, name, kind)

    @allure_commons.hookimpl(tryfirst=True)
    def report_result(self, result: TestResult) -> None:
        """Complete a result before it is written."""
        if not isinstance(self._item, CaseItem):
            return
        case, outcome = self._item.case, self._run.outcomes.get(self._item.case.id)
        result.name, result.fullName = f"{case.id.partition('::')[2]}: {case.title}", case.id
        result.testCaseId = result.historyId = sha256(case.id.encode()).hexdigest()
        statements = [self._statements[name] for name in case.requirements if name in self._statements]
        result.description = "\n\n".join(
            f"**{statement.id}** ({statement.level}; {statement.place}) {statement.text}" for statement in statements
        )
        result.labels.extend(_labels(statements))
        result.links.extend(self._links(statements))
        if outcome is None:
            return
        result.status = STATUSES[outcome.verdict]
        result.start = result.stop - round(outcome.seconds * 1000)  # another process may have run the case
        result.statusDetails = details(outcome, explained(self._run, outcome))
        if link := outcome.properties.get("link"):
            result.links.append(Link(LinkType.ISSUE, link, link))

    def _links(self, statements: list[Requirement]) -> list[Link]:
        """Links to the statements and their sections, where the user says by a pattern where these stand."""
        targets = {
            REQUIREMENT: {statement.id: statement.id for statement in statements},
            CLAUSE: {statement.section: _anchor(statement.section) for statement in statements},
        }
        return [
            Link(kind, self._patterns[kind].replace("{}", target), name)
            for kind, named in targets.items()
            if kind in self._patterns
            for name, target in named.items()
        ]


def details(outcome: Outcome, trace: str) -> StatusDetails | None:
    """What a viewer shows of a case that did not pass, beside its name; `trace` is its report."""
    if outcome.verdict is Verdict.PASS:
        return None
    return StatusDetails(
        known=outcome.verdict is Verdict.KNOWN or None,
        message=f"{outcome.verdict}: {plain(outcome.reason)}",
        trace=trace,
    )


def attachments(failure: Failure | None) -> Iterator[tuple[str, str, AttachmentType]]:
    """Name, text and type of what shows a failure, with escapes for what would control a viewer or reorder its text."""
    if failure is None:
        return
    if exchange := failure.exchange:
        yield "request as curl", escaped(exchange.curl), AttachmentType.TEXT
        yield "answer", escaped(_answer(exchange)), AttachmentType.TEXT
    if conversation := failure.conversation:
        yield "all exchanges", escaped("\n\n".join(map(_exchange, conversation.exchanges))), AttachmentType.TEXT
    if failure.replay:
        yield "pack that shows it by itself", escaped(failure.replay), AttachmentType.YAML


def _anchor(section: str) -> str:
    """The anchor that Markdown's renderers give a section's heading."""
    heading = section.rpartition(" / ")[2]
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _labels(statements: list[Requirement]) -> list[Label]:
    levels = {statement.level for statement in statements}
    severity = next((SEVERITIES[level] for level in SEVERITIES if level in levels), Severity.TRIVIAL)
    names = [statement.id for statement in statements]
    clauses = dict.fromkeys(statement.section for statement in statements)
    return [
        Label(LabelType.SEVERITY, severity.value),
        *(Label(LabelType.TAG, name) for name in names),
        *(Label(REQUIREMENT, name) for name in names),
        *(Label(CLAUSE, clause) for clause in clauses),
    ]


def _exchange(exchange: ConversationExchange) -> str:
    answer = "no answer" if exchange.status is None else f"HTTP {exchange.status}\n{exchange.response_body}"
    return f"{exchange.method} {exchange.url}\n{exchange.request_body or ''}\n{answer}"


def _answer(exchange: Exchange) -> str:
    if exchange.status is None:
        return "no answer"
    headers = "".join(f"{name}: {value}\n" for name, value in exchange.response_headers.items())
    return f"HTTP {exchange.status}\n{headers}\n{exchange.response_body}"
