"""The behaviour that most cases build on: accepted writes are listed, permitted runs sign, refusals look like refusals.

A case of the run judges each. Where that case fails, the failure of a case about something else says nothing about that
case's own requirements. `foundations.yaml` lists them.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from conformance import problems
from conformance.problems import Departure
from conformance.values.marked_yaml import Document

FILE = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True)
class Foundation:
    """One behaviour that cases build on without judging it."""

    name: str
    judged_by: str
    """The case that judges the foundation, and fails where it does not hold."""
    operations: frozenset[str]
    """Only the failure of a case that called one of these may come from the foundation; empty: that of any case."""
    requirements: frozenset[str]
    """Those that state it. A case that fails on one of them keeps its failure."""
    departures: tuple[type[Departure], ...]
    """The kinds of failure that a broken foundation can cause; where the file names none, any."""
    shown_by: tuple[type[Departure], ...]
    """The kinds of failure with which the case in `judged_by` shows that it is broken; else one of `departures`."""
    refused_as: frozenset[str]
    """Classes of refusals (`errors.status_codes`), of which the departing answer has one; empty: any answer."""

    def bears(self, called: Set[str]) -> bool:
        """Whether a case that called these operations builds on it."""
        return not self.operations or not called.isdisjoint(self.operations)


def _foundation(row: Mapping[str, str]) -> Foundation:
    departures = _kinds(row.get("departures", "Departure"))
    return Foundation(
        row["name"],
        row["judged_by"],
        frozenset(row.get("operations", "").split()),
        frozenset(row["about"].split()),
        departures,
        _kinds(row["shown_by"]) if "shown_by" in row else departures,
        frozenset(row.get("refused_as", "").split()),
    )


def _kinds(names: str) -> tuple[type[Departure], ...]:
    return tuple(getattr(problems, name) for name in names.split())


FOUNDATIONS = tuple(map(_foundation, TypeAdapter(list[dict[str, str]]).validate_python(Document(FILE).value)))
"""In the order in which they are tried."""
