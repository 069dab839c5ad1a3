"""Writes the kill matrix: which mutant is caught by which cases, on the terminal and in files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from conformance.report.write import write_whole
from conformance.selftest.tools.harness import Trial
from conformance.selftest.tools.mutant import Mutant
from conformance.verdict import Outcome, Verdict


def print_matrix(console: Console, mutants: Mapping[str, Mutant], trials: Mapping[str, Trial]) -> None:
    """Print a row for each mutant: the requirements that it breaks, and the cases that failed because of it."""
    table = Table(title="Kill matrix", title_justify="left")
    for heading in ("mutant", "breaks", "caught by"):
        table.add_column(heading, overflow="fold")
    family = ""
    for name, mutant in mutants.items():
        if mutant.family != family:
            family = mutant.family
            table.add_section()
            table.add_row(f"[bold]{family}[/bold]")
        trial = trials[name]
        broken = ", ".join(f"[red]{i} missed[/red]" if i in trial.missed else i for i in mutant.breaks)
        table.add_row(name, broken, _abridged(_catching(trial)))
    console.print(table)


def print_packs(console: Console, trials: Mapping[str, Trial]) -> None:
    """Print a row for each pack: how its cases ended on each variant and each sham."""
    table = Table(title="Verdicts per pack", title_justify="left")
    for heading in ("pack", *trials):
        table.add_column(heading, overflow="fold")
    packs = sorted({outcome.case.partition("::")[0] for trial in trials.values() for outcome in trial.outcomes})
    for pack in packs:
        table.add_row(pack, *(_counted(of_pack(trial, pack)) for trial in trials.values()))
    console.print(table)


def of_pack(trial: Trial, pack: str) -> list[Outcome]:
    """Return the outcomes of one pack."""
    return [outcome for outcome in trial.outcomes if outcome.case.partition("::")[0] == pack]


MATRICES = ("kill-matrix.json", "kill-matrix.md")


def write_matrix(folder: Path, mutants: Mapping[str, Mutant], trials: Mapping[str, Trial]) -> None:
    """Write `kill-matrix.json`, complete, and `kill-matrix.md`, to read."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "mutant": name,
            "family": mutant.family,
            "fault": mutant.fault,
            "breaks": {requirement: trials[name].noticed(requirement) for requirement in mutant.breaks},
            "verdicts": {outcome.case: outcome.verdict.value for outcome in trials[name].outcomes},
        }
        for name, mutant in mutants.items()
    ]
    write_whole(folder / MATRICES[0], json.dumps({"mutants": rows}, indent=2) + "\n")
    write_whole(folder / MATRICES[1], _markdown(mutants, trials))


def _markdown(mutants: Mapping[str, Mutant], trials: Mapping[str, Trial]) -> str:
    lines = ["# Kill matrix", "", "| mutant | fault | breaks | caught by |", "|---|---|---|---|"]
    for name, mutant in mutants.items():
        trial = trials[name]
        broken = ", ".join(f"{i} **missed**" if i in trial.missed else i for i in mutant.breaks)
        lines.append(f"| {name} | {mutant.fault} | {broken} | {', '.join(_catching(trial))} |")
    return "\n".join([*lines, ""])


def _catching(trial: Trial) -> list[str]:
    return sorted({case for requirement in trial.breaks for case in trial.noticed(requirement)})


def _abridged(cases: Sequence[str]) -> str:
    if not cases:
        return "[red]nothing[/red]"
    return cases[0] if len(cases) == 1 else f"{cases[0]} and {len(cases) - 1} more"


def _counted(outcomes: Sequence[Outcome]) -> str:
    counts = Counter(outcome.verdict for outcome in outcomes)
    return ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict]) or "-"
