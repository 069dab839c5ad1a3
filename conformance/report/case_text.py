"""The text report of a case that did not pass: the clause, the step, the exchange and the command that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from conformance.endpoints.redaction import without_users
from conformance.report.difference import difference
from conformance.report.objects import Names
from conformance.report.results import CaseResult, ExchangeShown, FailureShown
from conformance.report.story import LEAST_STEPS, MOST_STEPS, Story, story
from conformance.report.telling import in_short
from conformance.requirements import catalogue
from conformance.values.shown_text import cut, plain
from conformance.verdict import CellVerdict, Exchange, Failure, Outcome, Verdict

SHOWN_CELLS = 6
SHOWN_STATEMENTS = 3
MOST_LINES = 25
"""Lines of a case's failure; a long story is told by fewer of its steps, as few as `LEAST_STEPS`."""
LONGEST, LONGEST_OTHERS = 400, 160
"""Characters of an expectation or an answer, and of the failures beside the first; results.json has all of them."""


def rerun(case: str, seed: str, options: Sequence[str], cell: str = "") -> str:
    """The command that repeats one case, or one cell of its matrix, with the same seed."""
    alone = ["--cell", cell] if cell else []
    return shlex.join(
        ["service-conformance", "run", *map(without_users, options), "--seed", seed, "--case", case, *alone]
    )


def explain(outcome: Outcome | CaseResult, command: str, order: Sequence[str] = (), also: str = "") -> str:
    """The report of one case, as lines of text: what is broken, what was expected, what led to it.

    `order` is that of the statements, where the whole run is known; others follow as the case names them. `also` says
    where else the run met the same.
    """
    failure = outcome.failure
    for most in range(MOST_STEPS, LEAST_STEPS - 1, -1):
        led = story_of(failure, most)
        lines = [*_lines(outcome, led, order, also), "", f"  again: {command}"]
        if len(lines) <= MOST_LINES:
            break
    return "\n".join(map(plain, lines))


def _lines(outcome: Outcome | CaseResult, led: Story, order: Sequence[str], also: str) -> list[str]:
    failure = outcome.failure
    blamed = sorted(outcome.blamed, key=lambda name: order.index(name) if name in order else len(order))
    lines = [f"{outcome.verdict.upper()}: {outcome.case}", f"  {outcome.title}", *_statements(blamed), ""]
    if failure is None or outcome.verdict is not Verdict.FAIL:
        lines += [f"  {outcome.reason}"]
    else:
        told = rows(failure, outcome.case, led.names)
        lines += [f"  {name:8}  {cut(text, LONGEST)}" for name, text in told if text != outcome.title]
        lines += [f"  {'also':8}  {also}"] if also else []
    if led.steps:
        lines += ["", *(f"  {step}" for step in led.steps)]
        used = ", ".join(f"{name} is {value}" for name, value in led.used.items())
        lines += [f"  where {cut(used, LONGEST)}"] if used else []
    if failure and failure.exchange:
        lines += _exchange(failure.exchange, answered=not led.steps)
    if failure and failure.replay:
        lines += ["", "  results.json (--output) has a pack that shows this alone: `failure.replay`"]
    lines += ["", *(f"  {line}" for line in outcome.traceback.splitlines())] if outcome.traceback else []
    return lines + _wrong_cells(outcome)


def story_of(failure: Failure | FailureShown | None, most: int = MOST_STEPS) -> Story:
    """The story that led to a failure; an empty one where none was kept."""
    if failure is None:
        return Story()
    return story(failure.conversation, " ".join([failure.expected, failure.got, *failure.beside]), most)


def rows(failure: Failure | FailureShown, case: str, names: Names) -> Iterator[tuple[str, str]]:
    """Where a case failed, what was expected and what came, each with the word before it."""
    step = failure.step
    told = [("at", f"{case.partition('::')[0]}.py, {step}" if step.startswith("line ") else step)]
    told += [("expected", failure.expected)]
    told += difference(failure.expected, failure.got) or [("got", in_short(failure.got))]
    yield from ((name, names.shown(text)) for name, text in told if text)
    if failure.beside and not _is_told(failure):
        others = f"{len(failure.beside)} more: {'; '.join(map(in_short, failure.beside))}"
        yield "and", cut(names.shown(others), LONGEST_OTHERS)
    yield from [("hint", names.shown(failure.hint))] if failure.hint else []


def _is_told(failure: Failure | FailureShown) -> bool:
    """Whether the story tells all of the failures beside the first, which say the same of other requests."""
    shown = failure.conversation.others if failure.conversation else ()
    same = sum(f"expected {failure.expected}; got " in other for other in failure.beside)
    return same == len(shown) == len(failure.beside)


def _statements(names: Sequence[str]) -> Iterator[str]:
    for name in names[:SHOWN_STATEMENTS]:
        yield f"  {name}  {_clause(name)}"
    if more := names[SHOWN_STATEMENTS:]:
        yield f"  and {', '.join(more)}"


def _clause(name: str) -> str:
    requirement = next((known for known in catalogue().requirements if known.id == name), None)
    if requirement is None:
        return ""
    key = f"; the profile answers: {requirement.profile_key}" if requirement.profile_key else ""
    return f"({requirement.level}; {requirement.section}{key}) {requirement.text}"


def _wrong_cells(outcome: Outcome | CaseResult) -> list[str]:
    wrong = [cell for cell in outcome.cells if cell.verdict is CellVerdict.WRONG]
    lines = ["", "  Wrong cells; `--cell` tries one alone:"] if wrong else []
    for cell in wrong[:SHOWN_CELLS]:
        lines += [f"    {cell.cell}  must be {'granted' if cell.granted else 'refused'} ({cell.reason})"]
    return lines + ([f"    and {len(wrong) - SHOWN_CELLS} more"] if len(wrong) > SHOWN_CELLS else [])


def _exchange(exchange: Exchange | ExchangeShown, *, answered: bool) -> list[str]:
    """The request as a command, unless it is long, and the answer where it is asked for."""
    answer = "no answer" if exchange.status is None else f"{exchange.status}  {cut(exchange.response_body, LONGEST)}"
    asked = [f"  {exchange.curl}"] if len(exchange.curl) <= LONGEST else []
    return ["", *asked, *([f"  → {answer}"] if answered else [])] if asked or answered else []
