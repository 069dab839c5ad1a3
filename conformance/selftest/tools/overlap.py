"""Finds the mutants that prove nothing which another one does not prove, and the cases that are never needed.

Every case of what a mutant breaks runs on it, though others have noticed it. A check is a step of a case, with what it
expects and the kind of what it got. Of the mutants that one check alone notices, one proves that this check is needed;
the others add nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.progress import track

from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.selftest.tools.harness import Trial, TrialRunner, trials
from conformance.selftest.tools.mutant import Mutant
from conformance.verdict import Outcome, Verdict

RECORD = "overlap.jsonl"
"""The file with a line for each mutant that was tried."""
DRAWN_VALUES = re.compile(r"""[\w$']*\d\w*|"[^"]*"|'[^']*'""")
"""What may be another text at the next run: keys, hashes, ids, amounts, labels."""


class Check(NamedTuple):
    """What notices a fault."""

    case: str
    told: str
    """The step, what it expects, and how what it got begins, without the values that were drawn."""


class Caught(BaseModel):
    """All that noticed one mutant."""

    model_config = ConfigDict(frozen=True)

    mutant: str
    noticed: dict[str, frozenset[Check]]
    """By requirement that the mutant breaks."""
    requests: int
    """HTTP requests of the cases that noticed it."""

    @property
    def proves(self) -> frozenset[tuple[str, ...]]:
        """The requirements that are broken, and the checks without which the mutant would be missed."""
        alone = {(name, *check) for name, checks in self.noticed.items() if len(checks) == 1 for check in checks}
        return frozenset({*((name,) for name in self.noticed), *alone})


def caught_of(trial: Trial) -> Caught:
    """All that noticed the mutant of a trial."""
    noticed: defaultdict[str, set[Check]] = defaultdict(set)
    failed = [outcome for outcome in trial.outcomes if outcome.verdict is Verdict.FAIL]
    for outcome in failed:
        for requirement in {*outcome.blamed}.intersection(trial.breaks):
            noticed[requirement].add(Check(outcome.case, _told(outcome)))
    requests = sum(outcome.exchanges for outcome in failed)
    return Caught(mutant=trial.name, noticed={name: frozenset(noticed[name]) for name in noticed}, requests=requests)


def _told(outcome: Outcome) -> str:
    if outcome.failure is None:
        return DRAWN_VALUES.sub("…", outcome.reason)
    step, expected, got = outcome.failure.step, outcome.failure.expected, outcome.failure.got.partition(":")[0]
    return f"{step}: {DRAWN_VALUES.sub('…', f'{expected}; {got}')}"


def smallest(caught: Iterable[Caught]) -> set[str]:
    """Choose mutants that together prove as much as all of them.

    Of two that add as much, the one comes first whose function has a chosen row already, then the one that takes fewer
    requests.
    """
    every = [one for one in caught if one.noticed]
    left: set[tuple[str, ...]] = set().union(*(one.proves for one in every))
    chosen: set[str] = set()
    while left:
        best = min(every, key=lambda one: _rank(one, left, chosen))
        chosen.add(best.mutant)
        left = left - best.proves
    return chosen


def _rank(one: Caught, left: Set[tuple[str, ...]], chosen: Set[str]) -> tuple[int, bool, int, str]:
    is_further_row = any(name.startswith(f"{one.mutant.partition(':')[0]}:") for name in chosen)
    return -len(one.proves & left), not is_further_row, one.requests, one.mutant


def try_overlap(console: Console, mutants: Mapping[str, Mutant], seed: str, jobs: int, output: Path) -> int:
    """Try each mutant with all cases of what it breaks; name the mutants that add nothing, and the unneeded cases."""
    cases = [case for case in load([scenarios()]) if not case.info.drawn]
    judging = {name: [case for case in cases if {*case.requirements} & {*mutants[name].breaks}] for name in mutants}
    runner = TrialRunner(mutants, cases, seed, all_of=judging)
    every = []
    with (output / RECORD).open("w", encoding="utf-8") as file:
        for trial in track(trials(runner, [*mutants], jobs), "overlap", len(mutants), console=console):
            every.append(caught_of(trial))
            file.write(every[-1].model_dump_json() + "\n")
            file.flush()
    chosen = smallest(every)
    for line in _lines(every, chosen, {case.id for tried in judging.values() for case in tried}):
        console.print(line, highlight=False, soft_wrap=True)
    console.print(f"{len(chosen)} of {len(every)} mutants prove as much as all; record in {output / RECORD}")
    return 0


def _lines(every: Sequence[Caught], chosen: Set[str], tried: Iterable[str]) -> Iterator[str]:
    for one in every:
        if not one.noticed:
            yield f"noticed by no case that draws nothing: {one.mutant}"
        elif one.mutant not in chosen:
            yield f"adds nothing: {one.mutant}"
    needed = {check.case for one in every for checks in one.noticed.values() if len(checks) == 1 for check in checks}
    for case in sorted({*tried} - needed):
        yield f"never the only one to notice a mutant: {case}"
