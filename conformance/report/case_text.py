"""The text report of a case that did not pass: the clause, the step, the exchange and the command that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from conformance.endpoints.redaction import without_users
from conformance.requirements import catalogue
from conformance.values.shown_text import plain
from conformance.verdict import CellVerdict, Exchange, Outcome

SHOWN_CELLS = 10


def rerun(case: str, seed: str, options: Sequence[str], cell: str = "") -> str:
    """The command that repeats one case, or one cell of its matrix, with the same seed."""
    alone = ["--cell", cell] if cell else []
    return shlex.join(
        ["service-conformance", "run", *map(without_users, options), "--seed", seed, "--case", case, *alone]
    )


def explain(outcome: Outcome, command: str) -> str:
    """The report of one case, as lines of text."""
    lines = [f"{outcome.case}: {outcome.title}", f"{outcome.verdict.upper()}: {plain(outcome.reason)}", ""]
    lines += [f"  {name}  {_clause(name)}" for name in outcome.blamed]
    failure = outcome.failure
    if failure:
        rows = {"step": failure.step, "expected": failure.expected, "got": failure.got}
        lines += ["", *(f"  {name:8}  {plain(text)}" for name, text in rows.items())]
        lines += _exchange(failure.exchange) if failure.exchange else []
        lines += ["", *(f"  {line}" for line in failure.replay.splitlines())] if failure.replay else []
    lines += ["", *(f"  {line}" for line in outcome.traceback.splitlines())] if outcome.traceback else []
    lines += _wrong_cells(outcome, command)
    return "\n".join(map(plain, [*lines, "", f"  again: {command}"]))


def _clause(name: str) -> str:
    requirement = next((known for known in catalogue().requirements if known.id == name), None)
    if requirement is None:
        return ""
    key = f"; the profile answers: {requirement.profile_key}" if requirement.profile_key else ""
    return f"({requirement.level}; {requirement.section}{key}) {requirement.text}"


def _wrong_cells(outcome: Outcome, command: str) -> list[str]:
    wrong = [cell for cell in outcome.cells if cell.verdict is CellVerdict.WRONG]
    lines = [""] if wrong else []
    for cell in wrong[:SHOWN_CELLS]:
        must = "granted" if cell.granted else "refused"
        lines += [f"  WRONG {cell.cell}: must be {must} ({cell.reason})", f"    {command} --cell {cell.cell}"]
    return lines + ([f"  and {len(wrong) - SHOWN_CELLS} more wrong cells"] if len(wrong) > SHOWN_CELLS else [])


def _exchange(exchange: Exchange) -> list[str]:
    answer = "no answer" if exchange.status is None else f"{exchange.status}  {exchange.response_body}"
    return ["", f"  {exchange.curl}", f"  → {answer}"]
