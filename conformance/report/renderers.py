"""The forms in which the results of a run are written beside results.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from conformance.report.annotations import workflow_commands
from conformance.report.har import har
from conformance.report.judgement import Judgement
from conformance.report.junit import junit
from conformance.report.results import Results
from conformance.report.summary import markdown
from conformance.report.write import write_whole
from conformance.values.shown_text import shortened
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
"""What a badge and the variables count, the worst first."""


def badge(results: Results) -> str:
    """An endpoint badge of shields.io."""
    count = results.totals.cases
    colour = "brightgreen" if results.conforms else "red" if results.exit_code == 1 else "lightgrey"
    counted = [(count[verdict], word) for verdict, word in WORDS.items() if count.get(verdict)]
    message = ", ".join(f"{number} {word.removesuffix('s') if number == 1 else word}" for number, word in counted)
    message = message or "no case"
    return json.dumps({"schemaVersion": 1, "label": "conformance", "message": message, "color": colour}) + "\n"


LONGEST_SENTENCE = 500
"""Characters; GitLab takes 5 KB of variables."""


def dotenv(results: Results) -> str:
    """A line ``NAME=value`` for each variable: an output of a step for GitHub, a report of dotenv for GitLab.

    No value breaks its line, and none has a dollar sign: GitLab would put another variable in its place.
    """
    count = results.totals.cases
    values: dict[str, str | int] = {
        "CONFORMS": "true" if results.conforms else "false",
        "EXIT_CODE": int(results.exit_code),
        "SENTENCE": shortened(results.sentence, LONGEST_SENTENCE).replace("$", " ").strip(),
        "BROKEN": sum(requirement.verdict is Judgement.FAIL for requirement in results.requirements),
        **{word.upper().replace(" ", "_"): count.get(verdict, 0) for verdict, word in WORDS.items()},
    }
    return "".join(f"CONFORMANCE_{name}={value}\n" for name, value in values.items())


RENDERERS: dict[str, Callable[[Results], str]] = {
    "html": _html,
    "summary": markdown,
    "badge": badge,
    "junit": junit,
    "dotenv": dotenv,
    "annotations": workflow_commands,
    "har": har,
}
"""The renderers, by the options of `run` and `report` that name the file."""


def write_reports(results: Results, files: Mapping[str, Path]) -> None:
    """Write each form of the report into its file, atomically. Raises OSError."""
    for form, path in files.items():
        write_whole(path, RENDERERS[form](results))
