"""What a foundation is: one behaviour that cases build on without judging it."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass

from conformance.problems import Departure
from conformance.service.session import Session


@dataclass(frozen=True)
class Foundation:
    """One behaviour that cases build on without judging it."""

    name: str
    operations: str
    """Only the failure of a case that called one of these may come from the foundation; empty: that of any case."""
    holds: Callable[[Session], None] | None
    """Raises a Departure where it does not hold. None: the case in `judged_by` tells."""
    judged_by: str
    """The case that judges the foundation, and fails where it does not hold."""
    about: str
    """The requirements that state it, separated by spaces. A case that fails on one of them keeps its failure."""
    upon: tuple[str, ...] = ()
    """The names of the foundations that this one needs: it is not tried where one of them does not hold."""
    departures: tuple[type[Departure], ...] = (Departure,)
    """The kinds of failure that a broken foundation can cause."""
    refused_as: str = ""
    """The class of refusals (`errors.status_codes`) that the departing answer has; empty: any answer."""
    shown_by: type[Departure] | None = None
    """The kind of failure with which the case in `judged_by` shows that it is broken. None: one of `departures`."""

    def bears(self, called: Set[str]) -> bool:
        """Whether a case that called these operations builds on it."""
        return not self.operations or not called.isdisjoint(self.operations.split())

    @property
    def requirements(self) -> frozenset[str]:
        """The ids in `about`."""
        return frozenset(self.about.split())
