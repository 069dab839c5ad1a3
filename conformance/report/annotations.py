"""The results of a run as workflow commands of GitHub, which shows each as an annotation of the job."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.report.ranking import broken
from conformance.report.results import CaseResult, Results
from conformance.requirements import Level
from conformance.values.shown_text import plain, shortened
from conformance.verdict import ExitCode, Verdict

SHOWN_CASES = 3
"""Of a broken statement; the summary names all of them."""
LONGEST = 400
"""Characters of a departure."""
DATA = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
PROPERTY = (*DATA, (":", "%3A"), (",", "%2C"))
"""What GitHub's toolkit escapes in a message and in a property, in this order (``@actions/core``, ``command.ts``)."""


def workflow_commands(results: Results) -> str:
    """A line ``::error title=…::…`` for each broken statement and each failing case that names none, the musts first.

    Where there are none and the node does not conform all the same, one line has the verdict. No text of a node
    begins a line, so none of it is read as a command.
    """
    told = [*_broken(results), *_unlisted(results)]
    if not told and results.exit_code is not ExitCode.CONFORMS:
        told = [_error("The node is not shown to conform", [results.sentence, *results.faults])]
    return "".join(f"{line}\n" for line in told)


def _broken(results: Results) -> Iterator[str]:
    cases = {case.case: case for case in results.cases}
    for requirement in sorted(broken(results), key=lambda one: list(Level).index(one.level)):
        lines = [f"{requirement.text} ({requirement.section})"]
        lines += [line for name in requirement.failed[:SHOWN_CASES] for line in _case(cases[name])]
        if more := requirement.failed[SHOWN_CASES:]:
            lines += [f"and {len(more)} more cases"]
        yield _error(f"{requirement.id} ({requirement.level}) is broken", lines)


def _unlisted(results: Results) -> Iterator[str]:
    """The failing cases that no broken statement tells of."""
    told = {name for requirement in results.requirements for name in requirement.failed}
    for case in results.cases:
        if case.verdict is Verdict.FAIL and case.case not in told:
            yield _error(f"{case.case} failed", _case(case))


def _case(case: CaseResult) -> list[str]:
    why = case.failure.told if case.failure else case.reason
    return [f"{case.case}: {shortened(why, LONGEST)}", f"again: {case.rerun}"]


def _error(title: str, lines: list[str]) -> str:
    message = "\n".join(map(plain, lines))
    return f"::error title={_escaped(plain(title), PROPERTY)}::{_escaped(message, DATA)}"


def _escaped(text: str, replacements: tuple[tuple[str, str], ...]) -> str:
    for character, escape in replacements:
        text = text.replace(character, escape)
    return text
