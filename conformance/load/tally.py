"""Counts the verdicts of cases under load and keeps the first of each. Workers send their tallies to the master."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace

from pydantic import TypeAdapter

from conformance.report.results import FailureShown
from conformance.verdict import Outcome, Verdict


@dataclass(frozen=True)
class FirstDeparture:
    """The first outcome of a case with a verdict other than pass."""

    at: float
    """The time on the monotonic clock; in messages between processes, the age in seconds."""
    requirements: tuple[str, ...]
    """Those that it is about."""
    reason: str
    failure: FailureShown | None


@dataclass
class CaseTally:
    """One case."""

    counts: dict[Verdict, int] = field(default_factory=dict)
    firsts: dict[Verdict, FirstDeparture] = field(default_factory=dict)
    """The first outcome of each verdict other than pass."""


CASES: TypeAdapter[dict[str, CaseTally]] = TypeAdapter(dict[str, CaseTally])


class Tally:
    """The cases of a process, or of all processes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.cases: dict[str, CaseTally] = {}

    def note(self, outcome: Outcome) -> None:
        """Count an outcome that has just ended."""
        departed: dict[Verdict, FirstDeparture] = {}
        if outcome.verdict is not Verdict.PASS:
            shown = FailureShown.model_validate(asdict(outcome.failure)) if outcome.failure else None
            departed[outcome.verdict] = FirstDeparture(self._clock(), outcome.blamed, outcome.reason, shown)
        self._add(outcome.case, CaseTally({outcome.verdict: 1}, departed))

    def take(self) -> object:
        """The counts since the last call, as JSON for `merge`."""
        now, taken, self.cases = self._clock(), self.cases, {}
        for case in taken.values():
            case.firsts = {verdict: replace(first, at=now - first.at) for verdict, first in case.firsts.items()}
        return CASES.dump_python(taken, mode="json")

    def merge(self, sent: object) -> None:
        """Add the counts of another process."""
        now = self._clock()
        for name, case in CASES.validate_python(sent).items():
            case.firsts = {verdict: replace(first, at=now - first.at) for verdict, first in case.firsts.items()}
            self._add(name, case)

    def _add(self, name: str, more: CaseTally) -> None:
        case = self.cases.setdefault(name, CaseTally())
        case.counts = dict(Counter(case.counts) + Counter(more.counts))
        for verdict, first in more.firsts.items():
            known = case.firsts.get(verdict)
            case.firsts[verdict] = first if known is None or first.at < known.at else known
