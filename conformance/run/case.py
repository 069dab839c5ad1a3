"""A case, ready to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
    """What the case needs of a profile, and which operations and accounts it uses."""
    program: Callable[[CaseRun], None]
    opt_in: bool = False
    """Whether the pack runs only when it is named."""
    silence_is_not_offered: bool = False
    """Whether a profile key that the case reads and the profile leaves out makes the case not offered.

    A case in YAML declares its keys beforehand.
    """
    row: Mapping[str, Template] = field(default_factory=dict)
    """The variables of its row of the table."""

    def perform(self, run: CaseRun) -> None:
        """Run the steps. Raises StepProblem where one does not go as it should."""
        for name, template in self.row.items():
            run.scope.variables[name] = template(run.scope)
        self.program(run)


def rows_by_id(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Cases by their ids without the row: of a table, all rows."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.id.partition("[")[0], []).append(case)
    return found


def matches(case: str, pattern: str) -> bool:
    """Whether a case's id matches a pattern: literally, or by `*` and `?`. Brackets stand for themselves."""
    return case == pattern or fnmatchcase(case, pattern.replace("[", "[[]"))
