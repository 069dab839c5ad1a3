"""What a person reads of a case that did not pass: the clause, the step, the exchange, and how to run it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from conformance.endpoints.redaction import without_users
from conformance.requirements import catalogue
from conformance.verdict import CellVerdict, Exchange, Outcome

SHOWN_CELLS = 10


def rerun(case: str, seed: str, options: Sequence[str], cell: str = "") -> str:
    """The command that runs one case, or one cell of it, alone with the same random choices."""
    alone = ["--cell", cell] if cell else []
    return shlex.join(
        ["service-conformance", "run", *map(without_users, options), "--seed", seed, "--case", case, *alone]
    )


def explain(outcome: Outcome, command: str) -> str:
    """The report of one case, some lines."""
    lines = [f"{outcome.case}: {outcome.title}", f"{outcome.verdict.upper()}: {outcome.reason}", ""]
    lines += [f"  {name}  {_clause(name)}" for name in outcome.blamed]
    failure = outcome.failure
    if failure:
        lines += ["", f"  step      {failure.step}", f"  expected  {failure.expected}", f"  got       {failure.got}"]
        lines += _exchange(failure.exchange) if failure.exchange else []
        lines += ["", *(f"  {line}" for line in failure.replay.splitlines())] if failure.replay else []
    lines += ["", *(f"  {line}" for line in outcome.traceback.splitlines())] if outcome.traceback else []
    lines += _wrong_cells(outcome, command)
    return "\n".join([*lines, "", f"  again: {command}"])


def _clause(name: str) -> str:
    found = [one for one in catalogue().requirements if one.id == name]
    if not found:
        return ""
    key = f"; the profile answers: {found[0].profile_key}" if found[0].profile_key else ""
    return f"({found[0].level}; {found[0].section}{key}) {found[0].text}"


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
