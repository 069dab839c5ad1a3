"""Measures blame on a seeded sample of mutants: whether what is charged is broken, and how many cases one fault fails.

Every case runs on each mutant of the sample, until 60 have failed. Precision is the share of the charged requirements
that the mutant declares, or that follow from those by `follows.yaml`; fan-out is the number of failing cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from conformance.selftest.tools.harness import MOST_FAILING, Trial
from conformance.selftest.tools.mutant import Mutant
from conformance.selftest.tools.sampling import evenly
from conformance.values.marked_yaml import Document
from conformance.verdict import Verdict

FOLLOWS = Path(__file__).parents[1] / "follows.yaml"
WORST = 20
"""How many mutants the report names."""
MEAN_PRECISION, MEDIAN_FAN_OUT, P95_FAN_OUT = 0.95, 2, 15
"""The goals."""


class Following(BaseModel):
    """Requirements that are broken wherever another one is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ids: Annotated[tuple[str, ...], Field(min_length=1)]
    because: Annotated[str, Field(min_length=1)]


@cache
def follows(path: Path = FOLLOWS) -> Mapping[str, Following]:
    """What follows from each requirement, by its id."""
    return TypeAdapter(dict[str, Following]).validate_python(Document(path).value)


@dataclass(frozen=True)
class Blame:
    """What every case together charged one mutant with."""

    mutant: str
    family: str
    declared: frozenset[str]
    """What it breaks by its own word, and what follows from that."""
    charged: Mapping[str, tuple[str, ...]]
    """Each requirement that was charged, with the cases that charged it."""
    failing: tuple[str, ...]
    """The cases that failed."""
    missed: tuple[str, ...] = ()
    """What it breaks by its own word and no case charged, though all ran."""

    @property
    def wrongly(self) -> Mapping[str, tuple[str, ...]]:
        """The charged requirements that the mutant does not break, with the cases that charged them."""
        return {name: cases for name, cases in self.charged.items() if name not in self.declared}

    @property
    def precision(self) -> float:
        """The share of the charged requirements that are broken; 1 where none is charged."""
        return 1 - len(self.wrongly) / len(self.charged) if self.charged else 1.0

    @property
    def told(self) -> str:
        """One line."""
        most = " or more" if len(self.failing) == MOST_FAILING else ""
        line = f"{self.precision:.2f} precision, {len(self.failing)}{most} failing: {self.family}: {self.mutant}"
        wrong = ", ".join(f"{name} by {' '.join(cases)}" for name, cases in sorted(self.wrongly.items()))
        missed = f"; not {', '.join(self.missed)}" if self.missed else ""
        return (f"{line}; wrongly {wrong}" if wrong else line) + missed


def blame_of(mutant: Mutant, trial: Trial) -> Blame:
    """What a trial of every case says of a mutant."""
    failed = [outcome for outcome in trial.outcomes if outcome.verdict is Verdict.FAIL]
    charged: dict[str, tuple[str, ...]] = {}
    for outcome in failed:
        for name in outcome.blamed:
            charged[name] = (*charged.get(name, ()), outcome.case)
    declared = {*mutant.breaks, *mutant.also}
    following = {name for broken in declared if broken in follows() for name in follows()[broken].ids}
    cases = tuple(outcome.case for outcome in failed)
    missed = () if len(cases) == MOST_FAILING else tuple(name for name in mutant.breaks if name not in charged)
    return Blame(mutant.name, mutant.family, frozenset(declared | following), charged, cases, missed)


def sample(mutants: Iterable[Mutant], size: int, seed: str) -> list[Mutant]:
    """So many mutants, as evenly over all families as they go; a smaller sample is the beginning of a larger one."""
    return evenly(mutants, lambda mutant: mutant.family, f"precision/{seed}")[:size]


@dataclass(frozen=True)
class Precision:
    """The figures of a sample."""

    blames: Sequence[Blame]

    @property
    def mean(self) -> float:
        """The mean precision."""
        return fmean(blame.precision for blame in self.blames)

    @property
    def median_fan_out(self) -> float:
        """The median of the numbers of failing cases."""
        return median(self._fan_outs)

    @property
    def p95_fan_out(self) -> int:
        """The number of failing cases that 95 of 100 mutants do not go beyond."""
        return self._fan_outs[-(-95 * len(self._fan_outs) // 100) - 1]

    @property
    def reached(self) -> bool:
        """Whether the goals are met."""
        return self.mean >= MEAN_PRECISION and self.median_fan_out <= MEDIAN_FAN_OUT and self.p95_fan_out <= P95_FAN_OUT

    def worst(self) -> list[Blame]:
        """The mutants of which the suite says most that is not so, and those that fail most cases."""
        return sorted(self.blames, key=lambda blame: (blame.precision, -len(blame.failing)))[:WORST]

    def __str__(self) -> str:
        return (
            f"{len(self.blames)} mutants: mean precision {self.mean:.3f} (goal {MEAN_PRECISION}), "
            f"fan-out median {self.median_fan_out:g} (goal {MEDIAN_FAN_OUT}), "
            f"95th percentile {self.p95_fan_out} (goal {P95_FAN_OUT}); "
            f"{sum(bool(blame.missed) for blame in self.blames)} not charged with all that they break"
        )

    @property
    def _fan_outs(self) -> list[int]:
        return sorted(len(blame.failing) for blame in self.blames)
