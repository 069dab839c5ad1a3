"""`service-conformance selftest --load`: check that each load mutant passes alone and fails under load in time."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from rich.console import Console

from conformance.load.campaign import Campaign, run_campaign
from conformance.load.results import LOAD_NAME, LoadResults
from conformance.run.options import Options
from conformance.selftest.tools.serving import served_node
from conformance.selftest.under_load.lossy import LossyNode, program
from conformance.selftest.under_load.registry import LoadMutant
from conformance.verdict import Verdict

CHAOS_PACK, CHAOS_CASE = "groups", "groups::group-has-an-id"
"""What users do beside the accounts that keep books: one case is enough."""
CHAOS_SECONDS = 30.0
"""The time of a campaign with chaos: every disturbance once."""
USERS = 8
SECONDS = 120.0
"""The time within which the fault must be detected."""


@dataclass(frozen=True)
class LoadTrial:
    """The results of a campaign on one node."""

    mutant: LoadMutant
    results: LoadResults

    @property
    def failed_alone(self) -> list[str]:
        """The cases that fail without load. There must be none."""
        return [case.case for case in self.results.cases if case.alone is not Verdict.PASS]

    @property
    def caught_by(self) -> list[str]:
        """The cases that pass alone and failed under load."""
        return [case.case for case in self.results.cases if Verdict.FAIL in case.under_load]

    @property
    def is_caught(self) -> bool:
        """Whether the fault was detected under load and only there."""
        return bool(self.caught_by) and not self.failed_alone

    def __str__(self) -> str:
        if self.failed_alone:
            return f"{self.mutant.name}: faulty without load: {', '.join(self.failed_alone)}"
        if not self.caught_by:
            return f"{self.mutant.name}: not caught: {self.results.sentence}"
        began = min((flip.load for case in self.results.cases for flip in case.began), key=lambda load: load.seconds)
        caught = f"{self.mutant.name}: caught after {began.seconds:.0f} s, at {began.users} users"
        return f"{caught} and {began.rate:.0f} requests a second, by {self.caught_by[0]}"


def try_under_load(mutant: LoadMutant, seed: str) -> LoadTrial:
    """Run a campaign of the mutant's pack, until a case fails that passed alone."""
    with tempfile.TemporaryDirectory(prefix="conformance-load-") as folder, served_node(mutant.alter) as ready:
        ready_file = Path(folder) / "ready.json"
        ready_file.write_text(json.dumps(ready), encoding="utf-8")
        options = Options(packs=(mutant.pack,), results=Path(folder))
        campaign = Campaign(options, users=USERS, seconds=SECONDS, seed=seed, ready_file=ready_file, until_flip=True)
        run_campaign(campaign, quiet=True)
        text = (Path(folder) / LOAD_NAME).read_text(encoding="utf-8")
    return LoadTrial(mutant, LoadResults.model_validate_json(text))


@dataclass(frozen=True)
class ChaosTrial:
    """The results of a campaign with chaos on one node."""

    node: LossyNode
    results: LoadResults

    @property
    def is_caught(self) -> bool:
        """Whether the campaign found a fault that only a disturbance brings about."""
        sound_alone = all(case.alone is Verdict.PASS for case in self.results.cases)
        return sound_alone and bool(self.results.chaos and self.results.chaos.faults)

    def __str__(self) -> str:
        chaos = self.results.chaos
        if not self.is_caught or chaos is None:
            return f"{self.node.name}: not caught: {self.results.sentence}"
        caught = f"{self.node.name}: caught by {len(chaos.faults)} faults after {len(chaos.events)} disturbances"
        return f"{caught}, first: {chaos.faults[0]}"


def try_with_chaos(node: LossyNode, seed: str) -> ChaosTrial:
    """Run a campaign that kills this node and cuts it off."""
    with tempfile.TemporaryDirectory(prefix="conformance-load-") as folder:
        options = Options(packs=(CHAOS_PACK,), cases=(CHAOS_CASE,), results=Path(folder))
        serving = program(node.name)
        run_campaign(
            Campaign(options, users=1, seconds=CHAOS_SECONDS, seed=seed, chaos=True, program=serving), quiet=True
        )
        text = (Path(folder) / LOAD_NAME).read_text(encoding="utf-8")
    return ChaosTrial(node, LoadResults.model_validate_json(text))


def try_all(console: Console, mutants: Sequence[LoadMutant], lossy: Sequence[LossyNode], seed: str) -> int:
    """Try each, one after another, and print what came of it; the exit code."""
    caught = 0
    trials: Iterator[LoadTrial | ChaosTrial] = chain(
        (try_under_load(mutant, seed) for mutant in mutants), (try_with_chaos(node, seed) for node in lossy)
    )
    for trial in trials:
        caught += trial.is_caught
        console.print(str(trial), style=None if trial.is_caught else "red", highlight=False, soft_wrap=True)
    every = len(mutants) + len(lossy)
    console.print(f"{caught} of {every} mutants caught under load or chaos alone", highlight=False)
    return 0 if caught == every else 1
