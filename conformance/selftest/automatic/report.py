"""The results of automatic faults by operator, and the triage table with the reasons why no check catches some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from rich.console import Console
from rich.table import Table

from conformance.selftest.automatic.trials import Ending, FaultTrial
from conformance.values.marked_yaml import Document

TRIAGE = Path(__file__).with_name("triage.yaml")


class Finding(BaseModel):
    """The explanation of one surviving fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    is_: Annotated[Literal["equivalent", "silent", "outside", "hole"], Field(alias="is")]
    """No answer differs; the specification leaves the difference open; no request comes there; a check is missing."""
    before: str = ""
    after: str = ""
    because: Annotated[str, Field(min_length=1)]
    """The reason; for `silent`, the clause that leaves it open."""


@cache
def triage() -> Mapping[str, Finding]:
    """The findings by the fault's name, or by `module::function` for the faults there that no case comes near."""
    return TypeAdapter(dict[str, Finding]).validate_python(Document(TRIAGE).value)


def finding_of(trial: FaultTrial) -> Finding | None:
    """The finding for this fault; None if its code has changed since."""
    fault = trial.fault
    finding = triage().get(fault.name)
    if finding and (finding.before, finding.after) == (fault.before, fault.after):
        return finding
    return None if trial.tried else triage().get(fault.function)


BY_ANY_CHECK = (Ending.CRASHED, Ending.HUNG)
"""Any check notices these: they say nothing about the checks."""
UNNOTICED = (Ending.SURVIVED, Ending.UNREACHED)
GOAL = 0.95
"""The share of faults that checks should catch, without those that any check notices, equivalent and silent ones, and
those outside.
"""


@dataclass(frozen=True)
class Figures:
    """The results of a sample of faults."""

    trials: Sequence[FaultTrial]

    @property
    def unexplained(self) -> list[FaultTrial]:
        """Survivors that are not in the triage table."""
        return [trial for trial in self.trials if trial.ending in UNNOTICED and finding_of(trial) is None]

    @property
    def caught(self) -> int:
        """How many faults a check caught by what it is about."""
        return sum(trial.ending is Ending.CAUGHT for trial in self.trials)

    @property
    def holes(self) -> int:
        """How many survivors contradict the specification or are not explained."""
        return len(self.unexplained) + self._known["hole"]

    @property
    def share(self) -> float:
        """Caught among those that nothing else explains."""
        return self.caught / (self.caught + self.holes) if self.caught + self.holes else 1.0

    @property
    def _known(self) -> Counter[str]:
        found = (finding_of(trial) for trial in self.trials if trial.ending in UNNOTICED)
        return Counter(finding.is_ for finding in found if finding)

    def __str__(self) -> str:
        known = self._known
        without = sum(trial.ending is Ending.WITHOUT_EFFECT for trial in self.trials) + known["equivalent"]
        by_any = sum(trial.ending in BY_ANY_CHECK for trial in self.trials)
        return (
            f"{len(self.trials)} faults: {self.caught} caught by a check, {by_any} crashed or hung, "
            f"{without} without effect, {known['silent']} where the specification is silent, {known['outside']} where "
            f"no request comes, {known['hole']} known holes, {len(self.unexplained)} survivors to look at; "
            f"checks caught {self.share:.1%} of what none of these explains (goal {GOAL:.0%})"
        )

    def print(self, console: Console) -> None:
        """Print a table by operator, the unexplained survivors, and a line of totals."""
        table = Table("operator", *(ending.value for ending in Ending), box=None)
        for operator in sorted({trial.fault.operator for trial in self.trials}):
            counts = Counter(trial.ending for trial in self.trials if trial.fault.operator == operator)
            table.add_row(operator, *(str(counts[ending]) for ending in Ending))
        console.print(table)
        for trial in self.unexplained:
            console.print(
                f"{trial.ending.value}: {trial.fault} ({trial.tried} cases)",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )
        console.print(f"{self}", highlight=False, markup=False, soft_wrap=True)
