"""The view model of the page, derived only from the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import yaml
from pydantic import JsonValue

from conformance.report.judgement import MEANINGS, Judgement
from conformance.report.matrix import Grid, matrices, summary
from conformance.report.ranking import broken
from conformance.report.results import CaseResult, CellResult, RequirementResult, Results
from conformance.requirements import Level
from conformance.requirements.families import FAMILIES
from conformance.verdict import CellVerdict, Verdict

FAMILY_END = "-"
"""A requirement's id is its family, a hyphen and a number."""

CELL_WORDS = {CellVerdict.GRANTED: "+", CellVerdict.REFUSED: "-", CellVerdict.WRONG: "WRONG", CellVerdict.NOT_TRIED: ""}


@dataclass(frozen=True)
class Family:
    """The statements of one family."""

    name: str
    requirements: tuple[RequirementResult, ...]

    @cached_property
    def count(self) -> Counter[str]:
        """How many of its must and should statements have each verdict."""
        judged = (item for item in self.requirements if item.level in {Level.MUST, Level.SHOULD})
        return Counter(str(requirement.verdict) for requirement in judged)

    @property
    def title(self) -> str:
        """The family in words."""
        return FAMILIES.get(self.name, self.name)

    @property
    def has_failures(self) -> bool:
        """Whether the node breaks one of them."""
        return any(requirement.verdict is Judgement.FAIL for requirement in self.requirements)


UNJUDGED = (Judgement.INCONCLUSIVE, Judgement.NOT_OFFERED, Judgement.NOT_RUN, Judgement.NOT_YET_COVERED)
"""The verdicts that say nothing about the node, in the order in which the page lists their statements."""
UNTOLD = {Judgement.NOT_RUN: "the run selected no case about it", Judgement.NOT_YET_COVERED: "no check proves it yet"}


@dataclass(frozen=True)
class Unjudged:
    """Must and should statements that were not judged for one reason."""

    verdict: Judgement
    reason: str
    requirements: tuple[RequirementResult, ...]


@dataclass(frozen=True)
class MatrixTable:
    """The cells of a matrix for one number of accounts."""

    title: str
    summary: str
    actions: tuple[tuple[str, int], ...]
    """The listings of the action, each with the number of columns below it."""
    wallets: tuple[str, ...]
    """The listing of the wallet in each column."""
    rows: tuple[tuple[str, tuple[CellResult | None, ...]], ...]
    """Each key with its cells."""


class View:
    """The results, arranged for reading."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.cases = {case.case: case for case in results.cases}
        self._places = {name: f"case-{number}" for number, name in enumerate(self.cases)}

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """In the catalogue's order."""
        by_family: dict[str, list[RequirementResult]] = {}
        for requirement in self.results.requirements:
            by_family.setdefault(requirement.id.partition(FAMILY_END)[0], []).append(requirement)
        return tuple(Family(name, tuple(requirements)) for name, requirements in by_family.items())

    @cached_property
    def verdicts(self) -> tuple[str, ...]:
        """Every verdict that a must or should statement has here, the worst first."""
        return tuple(verdict for verdict in MEANINGS if any(family.count[verdict] for family in self.families))

    @property
    def not_offered(self) -> dict[str, int]:
        """How many must and should statements of each family the profile does not offer, by the family's title."""
        counts = {family.title: family.count[Judgement.NOT_OFFERED] for family in self.families}
        return {title: count for title, count in counts.items() if count}

    @cached_property
    def unjudged(self) -> tuple[Unjudged, ...]:
        """The must and should statements that nothing was learnt about, by verdict and reason."""
        found: dict[tuple[Judgement, str], list[RequirementResult]] = {}
        for verdict in UNJUDGED:
            for one in self.results.requirements:
                if one.verdict is verdict and one.level in {Level.MUST, Level.SHOULD}:
                    found.setdefault((verdict, self._why_not(one)), []).append(one)
        return tuple(Unjudged(*key, tuple(requirements)) for key, requirements in found.items())

    def _why_not(self, one: RequirementResult) -> str:
        """Why a statement was not judged: what the first of its cases says that was not judged either."""
        unjudged = {Judgement.INCONCLUSIVE: {Verdict.INCONCLUSIVE, Verdict.SUITE_ERROR}}
        verdicts = unjudged.get(one.verdict, {Verdict.NOT_OFFERED})
        cases = (self.cases[name] for name in one.checks if name in self.cases)
        reason = next((case.reason for case in cases if case.verdict in verdicts), "")
        note = one.note if one.verdict is Judgement.NOT_YET_COVERED else ""
        return reason or note or UNTOLD.get(one.verdict, "its checks were not judged")

    @cached_property
    def packs(self) -> dict[str, list[CaseResult]]:
        """The cases by their pack."""
        by_pack: dict[str, list[CaseResult]] = {}
        for case in self.results.cases:
            by_pack.setdefault(case.case.partition("::")[0], []).append(case)
        return by_pack

    @cached_property
    def broken(self) -> Sequence[RequirementResult]:
        """The statements that the node breaks, what explains most of the failures first."""
        return broken(self.results)

    @property
    def seconds(self) -> float:
        """How long the run took."""
        return (self.results.finished - self.results.started).total_seconds()

    @cached_property
    def profile(self) -> tuple[tuple[str, str], ...]:
        """What the profile states and what was assumed, as YAML, each with a heading; none that is empty."""
        assumed = frozenset(self.results.profile.assumed)
        parts = (("What the profile says", False), ("What was assumed, because the profile does not say it", True))
        chosen = ((title, _part(self.results.profile.content, "", assumed, whether)) for title, whether in parts)
        return tuple((title, yaml.safe_dump(part, sort_keys=False, width=100)) for title, part in chosen if part)

    def place(self, case: str) -> str | None:
        """The anchor of a case on the page; None for one that was not selected."""
        return self._places.get(case)

    @cached_property
    def matrices(self) -> tuple[MatrixTable, ...]:
        """Every matrix, a table for each number of accounts."""
        return tuple(table for case in matrices(self.results) for table in _tables(case))


def _part(section: Mapping[str, JsonValue], above: str, assumed: frozenset[str], whether: bool) -> dict[str, JsonValue]:
    """The keys of a profile that were assumed, or those that were not, without empty sections."""
    found: dict[str, JsonValue] = {}
    for name, value in section.items():
        if isinstance(value, dict):
            if part := _part(value, f"{above}{name}.", assumed, whether):
                found[name] = part
        elif (above + name in assumed) is whether:
            found[name] = value
    return found


def _tables(case: CaseResult) -> Iterable[MatrixTable]:
    grid = Grid(case.cells)
    columns = [(action, wallet) for action in grid.actions for wallet in grid.wallets]
    for accounts in grid.accounts:
        rows = [(row, tuple(grid.at(row, *column, accounts) for column in columns)) for row in grid.rows]
        yield MatrixTable(
            title=f"{case.case}, accounts: {accounts}",
            summary=summary(case),
            actions=tuple((action, len(grid.wallets)) for action in grid.actions),
            wallets=tuple(wallet for _, wallet in columns),
            rows=tuple((row, cells) for row, cells in rows if any(cells)),
        )
