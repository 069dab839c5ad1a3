"""Runs the suite's cases against faulty nodes, several nodes at a time, and says which cases noticed."""

from __future__ import annotations

import gc
import multiprocessing
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace

from conformance.endpoints.client import Target
from conformance.endpoints.extent import SampleOptions
from conformance.run.case import Case, rows_by_id
from conformance.run.runner import run_case
from conformance.selftest.tools.kept import KeptOutcomes
from conformance.selftest.tools.mutant import Mutant
from conformance.selftest.tools.server_faults import ServerFaults
from conformance.selftest.tools.serving import target_app, target_node
from conformance.selftest.tools.shams import SHAMS
from conformance.selftest.variants import VARIANTS
from conformance.verdict import Outcome, Verdict

MOST_FAILING = 60
"""So many failing cases tell enough about the blame of a mutant."""
SEQUENCES = 24
"""How many random sequences each case of them plays on a mutant: some faults take more than a usual run's few."""


@dataclass(frozen=True)
class Trial:
    """What the suite found on one node."""

    name: str
    breaks: tuple[str, ...] = ()
    """What it is known to break; nothing for the variants and the shams."""
    outcomes: tuple[Outcome, ...] = ()
    server_faults: tuple[str, ...] = ()
    """Exceptions inside the node and answers with status 5xx, a line each; not recorded of shams."""
    seconds: float = 0.0
    crash: str = ""
    """What the suite itself stumbled over; nothing is known of the node then."""

    def noticed(self, requirement: str) -> list[str]:
        """Return the cases of a requirement that failed."""
        return [
            outcome.case
            for outcome in self.outcomes
            if outcome.verdict is Verdict.FAIL and requirement in outcome.blamed
        ]

    @property
    def missed(self) -> tuple[str, ...]:
        """The broken requirements that no case of theirs noticed."""
        return tuple(requirement for requirement in self.breaks if not self.noticed(requirement))


@dataclass(frozen=True)
class TrialRunner:
    """Runs trials; the workers get it by forking, it is never pickled."""

    mutants: Mapping[str, Mutant]
    cases: Sequence[Case]
    seed: str
    first: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The ids of the cases to run first on each mutant."""
    budget: int | None = SEQUENCES
    """How much of what is drawn each case tries, until a mutant is noticed; None: as much as in a usual run."""
    all_of: Mapping[str, Sequence[Case]] = field(default_factory=dict)
    """By mutant the cases that all run, though the broken requirements were noticed."""
    kept: KeptOutcomes | None = None
    """Where every case runs on a mutant, as on a user's node, and not until its faults are noticed: what is known."""

    def try_node(self, name: str) -> Trial:
        """Serve the node of this name and run the cases that concern it."""
        began = time.perf_counter()
        try:
            trial = self._try(name)
            erred = [outcome for outcome in trial.outcomes if outcome.verdict is Verdict.SUITE_ERROR]
            trial = replace(trial, crash=f"{erred[0].case}: {erred[0].reason}") if erred else trial
        except Exception as crash:  # noqa: BLE001 - told as it is: not every exception survives the way between processes
            trial = self.crashed(name, _told(crash))
        return replace(trial, seconds=time.perf_counter() - began)

    def crashed(self, name: str, crash: str) -> Trial:
        """Record that the suite itself failed on the node of this name."""
        return Trial(name, self.mutants[name].breaks if name in self.mutants else (), crash=crash)

    def _try(self, name: str) -> Trial:
        faults = ServerFaults()
        if name in SHAMS:
            with target_app(SHAMS[name], self.seed) as target:
                return Trial(name, outcomes=_outcomes([case for case in self.cases if not case.opt_in], target))
        if name in VARIANTS:
            variant = VARIANTS[name]
            with target_node(variant.alter, self.seed, variant.profile, faults, restarts=True) as target:
                target.extent = SampleOptions(budget=1)
                outcomes = _outcomes(self.cases, target)
            return Trial(name, outcomes=outcomes, server_faults=faults.told)
        mutant = self.mutants[name]
        stated = dict(mutant.profile)
        with target_node(mutant.alter, self.seed, stated, faults, restarts=mutant.restarts) as target:
            if self.kept is not None:
                outcomes = self._every_case(name, self.kept, target)
            else:
                target.extent = SampleOptions(until_wrong=True, budget=self.budget)
                outcomes = (
                    _outcomes(self.all_of[name], target)
                    if name in self.all_of
                    else tuple(_until_noticed(mutant.breaks, self._in_order(name), target))
                )
        return Trial(name, mutant.breaks, outcomes, faults.told)

    def _every_case(self, name: str, kept: KeptOutcomes, target: Target) -> tuple[Outcome, ...]:
        """What every case says, in an order by chance, but for those that are left when enough have failed."""
        target.extent = SampleOptions(until_wrong=True, budget=1)
        target.judging = rows_by_id(self.cases)
        known = {outcome.case: outcome for outcome in kept.of(name, self.cases)}
        cases = list(self.cases)
        random.Random(f"{self.seed}/{name}").shuffle(cases)  # noqa: S311 - a repeatable order, no secret
        told: list[Outcome] = []
        failing = 0
        for case in cases:
            told.append(known[case.id] if case.id in known else run_case(case, target))
            failing += told[-1].verdict is Verdict.FAIL
            if failing == MOST_FAILING:
                break
        kept.keep(name, self.cases, told)
        return tuple(told)

    def _in_order(self, name: str) -> list[Case]:
        """Order the cases for a mutant: those that caught it before, the others, and those of random sequences last."""
        first = self.first.get(name, ())
        return sorted(self.cases, key=lambda case: (case.id not in first, case.info.drawn))


def trials(runner: TrialRunner, names: Sequence[str], jobs: int) -> Iterator[Trial]:
    """Run the trials of the named nodes, `jobs` at a time, in processes forked from this one; yield each as it ends."""
    gc.collect()
    gc.freeze()  # what all trials share is not looked through again in each
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, context, _take_runner, (runner,)) as pool:
        waiting = {pool.submit(_try_node, name): name for name in names}
        for done in as_completed(waiting):
            crash = done.exception()
            yield runner.crashed(waiting[done], _told(crash)) if crash else done.result()


def _told(crash: BaseException) -> str:
    return f"{type(crash).__name__}: {crash}"


_runner: list[TrialRunner] = []


def _take_runner(runner: TrialRunner) -> None:
    _runner[:] = [runner]


def _try_node(name: str) -> Trial:
    return _runner[0].try_node(name)


def _until_noticed(breaks: Sequence[str], cases: Iterable[Case], target: Target) -> Iterator[Outcome]:
    """Run the cases of the broken requirements, until one has failed for each of them: more would prove no more."""
    unnoticed = set(breaks)
    for case in cases:
        if unnoticed & set(case.requirements):
            outcome = run_case(case, target)
            if outcome.verdict is Verdict.FAIL:
                unnoticed -= set(outcome.blamed)
            yield outcome


def _outcomes(cases: Sequence[Case], target: Target) -> tuple[Outcome, ...]:
    return tuple(run_case(case, target) for case in cases)
