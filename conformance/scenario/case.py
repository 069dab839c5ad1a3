"""A case, ready to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.scenario.facts import CaseFacts

if TYPE_CHECKING:
    from conformance.drivers.caserun import CaseRun


@dataclass(frozen=True)
class Case:
    """One case of a pack, or one row of its table."""

    id: str
    """`pack::case` or `pack::case[row]`."""
    pack: str
    title: str
    requirements: tuple[str, ...]
    path: Path
    line: int
    facts: CaseFacts
    """What it needs of a profile."""
    program: Callable[[CaseRun], None]
    variables: Mapping[str, object] = field(default_factory=dict)
    """The row of its table."""
