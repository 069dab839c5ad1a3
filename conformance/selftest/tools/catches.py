"""Reads and writes `catches.json`: which cases caught each mutant last time, and with how many requests.

The harness runs these cases first, so that a trial takes one case where it took many; tier one takes the mutants that
are cheapest to catch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.report.write import write_whole
from conformance.selftest.tools.harness import Trial
from conformance.selftest.tools.mutant import Mutant

CATCHES = Path(__file__).parents[1] / "catches.json"

PER_REQUIREMENT = 2
"""How many mutants of each requirement tier one runs, where it has as many."""


@dataclass(frozen=True)
class Catch:
    """How one mutant was caught."""

    cases: tuple[str, ...]
    """The cases that failed, for each broken requirement one."""
    requests: int
    """HTTP requests of these cases: the cost of a trial, in a unit that is the same on every machine."""


def load_catches(path: Path = CATCHES) -> dict[str, Catch]:
    """Read the recorded catches, by the mutant's name."""
    recorded = json.loads(path.read_text(encoding="utf-8"))
    return {name: Catch(tuple(entry["cases"]), entry["requests"]) for name, entry in recorded.items()}


def record(catches: Mapping[str, Catch], names: Iterable[str], path: Path = CATCHES) -> None:
    """Write the catches of these mutants, a line each."""
    rows = [
        f"  {json.dumps(name)}: {json.dumps({'requests': catches[name].requests, 'cases': catches[name].cases})}"
        for name in sorted(names)
        if name in catches
    ]
    write_whole(path, "{\n" + ",\n".join(rows) + "\n}\n")


def catch_of(trial: Trial) -> Catch:
    """Return how the mutant of this trial was caught: for each broken requirement by the first case that failed."""
    cases = dict.fromkeys(trial.noticed(requirement)[0] for requirement in trial.breaks)
    requests = {outcome.case: outcome.exchanges for outcome in trial.outcomes}
    return Catch(tuple(cases), sum(requests[case] for case in cases))


def tier_one(mutants: Iterable[Mutant], catches: Mapping[str, Catch]) -> list[Mutant]:
    """Choose the cheapest mutants of each requirement, and those of which no catch is recorded; keep their order."""
    every = list(mutants)
    chosen = {mutant.name for mutant in every if mutant.name not in catches}
    known = [mutant for mutant in every if mutant.name in catches]
    cheapest_first = sorted(known, key=lambda mutant: catches[mutant.name].requests)
    for requirement in sorted({requirement for mutant in every for requirement in mutant.breaks}):
        of_it = [mutant.name for mutant in cheapest_first if requirement in mutant.breaks]
        lacking = PER_REQUIREMENT - len(chosen.intersection(of_it))
        chosen.update([name for name in of_it if name not in chosen][: max(lacking, 0)])
    return [mutant for mutant in every if mutant.name in chosen]
