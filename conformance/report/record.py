"""What a run hands to the report: who was judged, how, and the outcome of every case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from conformance.profile import Profile
from conformance.report.results import RunEvidence
from conformance.verdict import Outcome


@dataclass(frozen=True)
class RunRecord:
    """A finished run."""

    base_url: str
    bundled: bool
    """Whether the suite started the reference node itself."""
    profile: Profile
    profile_source: str
    """The profile's file as the user named it, or ``reference`` for the defaults."""
    seed: str
    started: datetime
    finished: datetime
    """Both with a time zone."""
    outcomes: tuple[Outcome, ...]
    checks: Mapping[str, tuple[str, ...]]
    """Requirement id to all cases that name it, those that the selection left out included."""
    rerun: tuple[str, ...] = ()
    """The options of ``service-conformance run`` that name node, profile and packs."""
    faults: tuple[str, ...] = field(default=())
    """What is wrong besides the cases: entries of the list of known failures that pass or match nothing."""
    resumed: tuple[datetime, ...] = ()
    """When the run was taken up again after it had been stopped."""
    interrupted: str = ""
    """Why the run did not come to its end; empty when it did."""
    crashed: bool = False
    """Whether a fault of the suite is the reason."""
    unwritten: str = ""
    """Which report of the run could not be written, and why; empty where all are written."""
    selected: tuple[str, ...] = ()
    """The options that chose the cases."""
    quick: bool = False
    """Whether only the cheapest cases that name every requirement were selected."""
    evidence: RunEvidence | None = None
    """The node's evidence before and after the cases, if it was asked for."""
