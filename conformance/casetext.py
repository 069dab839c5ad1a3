"""What a person reads of a case that did not pass: the clause, the step, the exchange, and how to run it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from conformance.requirements import catalogue
from conformance.verdict import Exchange, Outcome


def rerun(case: str, seed: str, options: Sequence[str]) -> str:
    """The command that runs one case alone with the same random choices."""
    return shlex.join(["service-conformance", "run", *options, "--seed", seed, "--case", case])


def explain(outcome: Outcome, command: str) -> str:
    """The report of one case, some lines."""
    lines = [f"{outcome.case}: {outcome.title}", f"{outcome.verdict.upper()}: {outcome.reason}", ""]
    lines += [f"  {name}  {_clause(name)}" for name in outcome.requirements]
    failure = outcome.failure
    if failure:
        lines += ["", f"  step      {failure.step}", f"  expected  {failure.expected}", f"  got       {failure.got}"]
        lines += _exchange(failure.exchange) if failure.exchange else []
    return "\n".join([*lines, "", f"  again: {command}"])


def _clause(name: str) -> str:
    found = [one for one in catalogue().requirements if one.id == name]
    return f"({found[0].level}; {found[0].section}) {found[0].text}" if found else ""


def _exchange(exchange: Exchange) -> list[str]:
    answer = "no answer" if exchange.status is None else f"{exchange.status}  {exchange.response_body}"
    return ["", f"  {exchange.curl}", f"  → {answer}"]
