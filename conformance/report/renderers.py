"""The forms in which the results of a run are written beside results.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from conformance.report.results import Results
from conformance.report.summary import markdown
from conformance.report.write import write_whole
from conformance.verdict import Verdict


def _html(results: Results) -> str:
    from conformance.report.page import html  # noqa: PLC0415 - no other form needs the template engine

    return html(results)


WORDS = {
    Verdict.FAIL: "failed",
    Verdict.SUITE_ERROR: "suite errors",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.PASS: "passed",
    Verdict.KNOWN: "known failures",
    Verdict.NOT_OFFERED: "not offered",
}
"""What a badge counts, the worst first."""


def badge(results: Results) -> str:
    """An endpoint badge of shields.io."""
    count = results.totals.cases
    colour = "brightgreen" if results.conforms else "red" if results.exit_code == 1 else "lightgrey"
    message = (
        ", ".join(f"{count[verdict]} {word}" for verdict, word in WORDS.items() if count.get(verdict)) or "no case"
    )
    return json.dumps({"schemaVersion": 1, "label": "conformance", "message": message, "color": colour}) + "\n"


RENDERERS: dict[str, Callable[[Results], str]] = {"html": _html, "summary": markdown, "badge": badge}
"""The renderers, by the options of `run` and `report` that name the file."""


def write_reports(results: Results, files: Mapping[str, Path]) -> None:
    """Write each form of the report into its file, atomically. Raises OSError."""
    for form, path in files.items():
        write_whole(path, RENDERERS[form](results))
