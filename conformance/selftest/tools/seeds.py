"""Tries the mutants that only generated requests find with many seeds: each has to be found whatever is drawn.

The cases are those of the pack `fuzz` alone, with the number of requests that they send unless told otherwise. What
came of each mutant with each seed is kept, so that an interrupted measurement goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.progress import track

from conformance.report.write import write_whole
from conformance.resources import scenarios
from conformance.run.case import Case
from conformance.run.loader import load
from conformance.selftest.tools.catches import Catch, load_catches
from conformance.selftest.tools.harness import Trial, TrialRunner, trials
from conformance.selftest.tools.kept import stamp
from conformance.selftest.tools.mutant import Mutant

PACK = "fuzz"
TABLE = "seeds.md"
"""The file with the result."""
TRIES = "seeds.jsonl"
"""The file with a line for each mutant and seed that was tried."""


class Try(BaseModel):
    """What came of one mutant with one seed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stamp: str
    """Of suite, node, pack and seed: a try is good as long as they are what they were."""
    mutant: str
    seed: str
    found_by: tuple[str, ...]
    """The cases that found it; none where it was missed."""
    requests: int
    """How many requests the cases took, reads between them counted."""


def try_of(trial: Trial, seed: str, stamped: str) -> Try:
    """What a trial with this seed says."""
    lost = trial.missed or trial.crash
    cases = () if lost else tuple({case: None for requirement in trial.breaks for case in trial.noticed(requirement)})
    requests = sum(outcome.exchanges for outcome in trial.outcomes)
    return Try(stamp=stamped, mutant=trial.name, seed=seed, found_by=cases, requests=requests)


COLUMNS = ("mutant", "found by", "seeds", "missed by seeds", "requests (median)", "(most)")


def row(mutant: str, tries: Sequence[Try]) -> list[str]:
    """The row of a mutant in the table."""
    found = [one for one in tries if one.found_by]
    missed = ", ".join(one.seed for one in tries if not one.found_by)
    requests = [one.requests for one in found]
    took = [f"{median(requests):.0f}", str(max(requests))] if requests else ["-", "-"]
    cases = ", ".join(sorted({case for one in found for case in one.found_by}))
    return [mutant, cases, f"{len(found)} of {len(tries)}", missed, *took]


def found_by_fuzzing(catches: Mapping[str, Catch]) -> set[str]:
    """The mutants that no case of another pack caught, as far as is recorded."""
    return {
        name
        for name, catch in catches.items()
        if catch.cases and all(case.partition("::")[0] == PACK for case in catch.cases)
    }


@dataclass(frozen=True)
class Seeds:
    """A measurement with many seeds."""

    console: Console
    mutants: Mapping[str, Mutant]
    cases: Sequence[Case]
    jobs: int
    output: Path
    """The folder of the table and of the kept tries."""

    def run(self, seed: str) -> list[Try]:
        """Try each mutant with a seed, but for those of which a good try is kept; print one line."""
        began = time.monotonic()
        stamped = stamp(seed, *sorted({case.path for case in self.cases}))
        tries = {one.mutant: one for one in self._kept() if one.stamp == stamped and one.mutant in self.mutants}
        left = [name for name in self.mutants if name not in tries]
        kept = len(tries)
        first = {name: catch.cases for name, catch in load_catches().items()}
        runner = TrialRunner(self.mutants, self.cases, seed, first, budget=None)
        running = trials(runner, left, self.jobs) if left else ()
        shown = self.console.is_terminal
        for trial in track(running, f"seed {seed}", len(left), console=self.console, transient=True, disable=not shown):
            tries[trial.name] = try_of(trial, seed, stamped)
            if trial.crash:
                self._print(f"[red]{trial.name}: the suite itself failed: {trial.crash}[/red]")
                continue
            with (self.output / TRIES).open("a", encoding="utf-8") as file:
                file.write(tries[trial.name].model_dump_json() + "\n")
        self._print(_line(seed, [*tries.values()], kept, time.monotonic() - began))
        return [tries[name] for name in self.mutants]

    def write(self, tries: Sequence[Try]) -> str:
        """Write the table of what was tried so far, and return it."""
        rows = [row(name, [one for one in tries if one.mutant == name]) for name in self.mutants]
        table = "".join(f"| {' | '.join(cells)} |\n" for cells in (COLUMNS, ("---",) * len(COLUMNS), *rows))
        write_whole(self.output / TABLE, f"# Mutants that fuzzing finds, by seeds\n\n{table}")
        return table

    def _kept(self) -> list[Try]:
        path = self.output / TRIES
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [Try.model_validate_json(line) for line in lines]

    def _print(self, line: str) -> None:
        self.console.print(line, highlight=False, soft_wrap=True)


def try_seeds(console: Console, mutants: Mapping[str, Mutant], count: int, jobs: int, output: Path) -> int:
    """Try each mutant with the seeds 1 to `count`. 0: all found it; 1: one did not."""
    seeds = Seeds(console, mutants, load([scenarios()], [PACK]), jobs, output)
    tries: list[Try] = []
    table = ""
    for number in range(1, count + 1):
        tries += seeds.run(str(number))
        table = seeds.write(tries)
    console.print(table, highlight=False, soft_wrap=True)
    found = sum(bool(one.found_by) for one in tries)
    console.print(f"found {found} of {len(tries)}; table in {output / TABLE}", highlight=False, soft_wrap=True)
    return 0 if found == len(tries) else 1


def _line(seed: str, tries: Sequence[Try], kept: int, seconds: float) -> str:
    missed = ", ".join(one.mutant for one in tries if not one.found_by)
    found = sum(bool(one.found_by) for one in tries)
    told = f"seed {seed}: found {found} of {len(tries)} in {seconds:.0f} s"
    told += f" ({kept} kept from before)" if kept else ""
    return f"{told}; missed {missed}" if missed else told
