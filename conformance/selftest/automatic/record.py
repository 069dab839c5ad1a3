"""Keeps the trials of automatic faults in `automatic.jsonl`, so that a later sample tries only what it has to.

A trial is good as long as the suite, the node and the seed are what they were, and so are the packs: the one
of the case that failed, or all of them where none did.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from conformance.run.case import Case
from conformance.selftest.automatic.faults import Fault
from conformance.selftest.automatic.trials import Ending, FaultTrial
from conformance.selftest.tools.kept import stamp

RECORD = "automatic.jsonl"


@dataclass(frozen=True)
class Record:
    """The file of trials, a line for each; the last line of a fault counts."""

    path: Path
    seed: str
    cases: Sequence[Case]

    def of(self, fault: Fault) -> FaultTrial | None:
        """The trial of this fault that is still good."""
        told = self._read.get(fault.name)
        if not told or (told["before"], told["after"]) != (fault.before, fault.after):
            return None
        trial = FaultTrial(fault, Ending(told["ending"]), told["told"], int(told["tried"]), float(told["seconds"]))
        return trial if told["stamp"] == self._stamp(trial) else None

    def keep(self, trial: FaultTrial) -> None:
        """Add a trial."""
        line = {
            "fault": trial.fault.name,
            "before": trial.fault.before,
            "after": trial.fault.after,
            "ending": trial.ending.value,
            "told": trial.told,
            "tried": f"{trial.tried}",
            "seconds": f"{trial.seconds:.1f}",
            "stamp": self._stamp(trial),
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    @cached_property
    def _read(self) -> dict[str, dict[str, str]]:
        if not self.path.exists():
            return {}
        lines = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        return {line["fault"]: line for line in lines}

    def _stamp(self, trial: FaultTrial) -> str:
        """A digest of all that the trial hangs on."""
        failed = trial.told.partition(" ")[0]
        packs = {case.path for case in self.cases if case.id == failed} or {case.path for case in self.cases}
        return stamp(self.seed, *sorted(packs))
