"""What all tests of the project share: at the end they say what failed, and what the skipped ones would take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count skipped tests by the reason that they give, which says what to install."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.getreports("skipped")
        if isinstance(report.longrepr, tuple)
    )
    if reasons:
        terminalreporter.section("not run: .ci/run installs everything that these tests need")
        for reason, number in reasons.most_common():
            terminalreporter.line(f"{number:4} {'test' if number == 1 else 'tests'}: {reason}")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    """Name the failed tests on the last lines: under `CI`, pytest prints whole differences above its own."""
    yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(reporter, pytest.TerminalReporter):
        for report in (*reporter.getreports("failed"), *reporter.getreports("error")):
            reporter.line(f"{report.outcome}: {report.nodeid}")
