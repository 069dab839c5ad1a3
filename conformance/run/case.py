"""A case, ready to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.language.case_info import CaseInfo
from conformance.language.templates import Template

if TYPE_CHECKING:
    from conformance.drivers.steps.caserun import CaseRun


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
    info: CaseInfo
    """What it needs of a profile."""
    program: Callable[[CaseRun], None]
    opt_in: bool = False
    """Whether its pack runs only where its own name is asked for."""
    silence_is_not_offered: bool = False
    """Whether a profile that leaves out what the case turns out to need rules it out. A pack's case says before."""
    row: Mapping[str, Template] = field(default_factory=dict)
    """The variables of its row of the table."""


def matches(case: str, pattern: str) -> bool:
    """Whether a case's id matches: literally, or by `*` and `?`. Brackets are those of a row."""
    return case == pattern or fnmatchcase(case, pattern.replace("[", "[[]"))
