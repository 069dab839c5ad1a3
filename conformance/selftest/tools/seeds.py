"""Tries the mutants that only generated requests find with many seeds: each has to be found whatever is drawn.

The cases are those of the pack `fuzz` alone, with the number of requests that they send unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.progress import track

from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.selftest.tools.catches import Catch
from conformance.selftest.tools.harness import Trial, TrialRunner, trials
from conformance.selftest.tools.mutant import Mutant

PACK = "fuzz"
TABLE = "seeds.md"
"""The file with the result."""


@dataclass
class Found:
    """What the seeds found of one mutant."""

    requests: list[int] = field(default_factory=list)
    """How many requests the cases took with each seed that found it, reads between them counted."""
    missed: list[str] = field(default_factory=list)
    """The seeds that did not."""
    cases: set[str] = field(default_factory=set)
    """The cases that found it."""

    def add(self, seed: str, trial: Trial) -> None:
        """Count the trial of a seed."""
        if trial.missed or trial.crash:
            self.missed.append(seed)
            return
        self.requests.append(sum(outcome.exchanges for outcome in trial.outcomes))
        self.cases |= {case for requirement in trial.breaks for case in trial.noticed(requirement)}

    @property
    def told(self) -> list[str]:
        """The columns of its row."""
        tried = len(self.requests) + len(self.missed)
        took = [f"{median(self.requests):.0f}", str(max(self.requests))] if self.requests else ["-", "-"]
        return [", ".join(sorted(self.cases)), f"{len(self.requests)} of {tried}", ", ".join(self.missed), *took]


COLUMNS = ("mutant", "found by", "seeds", "missed by seeds", "requests (median)", "(most)")


def found_by_fuzzing(catches: Mapping[str, Catch]) -> set[str]:
    """The mutants that no case of another pack caught, as far as is recorded."""
    return {
        name
        for name, catch in catches.items()
        if catch.cases and all(case.partition("::")[0] == PACK for case in catch.cases)
    }


def try_seeds(console: Console, mutants: Mapping[str, Mutant], count: int, jobs: int, output: Path) -> int:
    """Try each mutant with the seeds 1 to `count`. 0: all found it; 1: one did not."""
    cases = load([scenarios()], [PACK])
    found = {name: Found() for name in mutants}
    for number in range(1, count + 1):
        runner = TrialRunner(mutants, cases, str(number), budget=None)
        running = trials(runner, [*mutants], jobs)
        for trial in track(running, f"seed {number}", len(mutants), console=console, transient=True):
            found[trial.name].add(str(number), trial)
    table = _table(found)
    console.print(table, highlight=False, soft_wrap=True)
    (output / TABLE).write_text(f"# Mutants that fuzzing finds, by seeds\n\n{table}")
    missed = sum(len(one.missed) for one in found.values())
    tried = count * len(mutants)
    console.print(f"found {tried - missed} of {tried}; table in {output / TABLE}", highlight=False, soft_wrap=True)
    return 1 if missed else 0


def _table(found: Mapping[str, Found]) -> str:
    rows = [COLUMNS, ("---",) * len(COLUMNS), *((name, *one.told) for name, one in found.items())]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
