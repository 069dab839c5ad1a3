"""What all tests of the project share: at the end they say what it would take to run those that were skipped."""

from __future__ import annotations

from collections import Counter

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
