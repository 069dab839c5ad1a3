"""The runs that a site shows, by node and version, and the table of their verdicts.

A run is named by its folder: ``DIR/NODE/VERSION/results.json``. Without the folder of a version, the day of the run
stands for it; a DIR that itself holds results.json is a node.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from conformance.problems import LoadProblem
from conformance.report.compare import PASSING, Change, cases_of, compare
from conformance.report.judgement import Judgement
from conformance.report.load import load_results
from conformance.report.results import RequirementResult, Results
from conformance.report.write import RESULTS_NAME
from conformance.requirements import Level
from conformance.requirements.families import FAMILIES

JUDGED = frozenset({Level.MUST, Level.SHOULD})


STATEMENT_NAME = "statement.json"
"""Beside results.json."""


@dataclass(frozen=True)
class Mark:
    """A statement of a verdict that holds: one of the named signers signed it, and it is about this results.json."""

    signer: str
    compose_hash: str
    """Of the code that was judged, hex."""
    content: bytes
    """The bytes of the statement."""


MarkReader = Callable[[Path, bytes], Mark | None]
"""Gives the mark of a run, from the folder and the bytes of its results.json. LoadProblem: its statement is false."""


@dataclass(frozen=True)
class Run:
    """One run of a node."""

    node: str
    version: str
    results: Results
    content: bytes
    """The bytes of results.json."""
    folder: str
    """The folder of the node's pages within the site."""
    stem: str
    """The name of the run's page and data, without suffix."""
    mark: Mark | None = None
    """The statement of its verdict, verified."""

    @property
    def page(self) -> str:
        """The page of the run, from the root of the site."""
        return f"{self.folder}/{self.stem}.html"

    @property
    def statement(self) -> str:
        """The statement of its verdict, from the root of the site."""
        return f"{self.folder}/{self.stem}.statement.json"

    @property
    def selection(self) -> str:
        """The selection of cases, in words."""
        return cases_of(self.results)

    @property
    def is_whole(self) -> bool:
        """Whether the run selected every case and came to its end."""
        return not (self.results.selected or self.results.quick or self.results.interrupted)

    @property
    def part(self) -> str:
        """A mark for a run of a part of the cases."""
        return "" if self.is_whole else " (interrupted)" if self.results.interrupted else " (part of the cases)"

    @cached_property
    def count(self) -> Counter[str]:
        """The number of must and should statements with each verdict."""
        return Counter(str(result.verdict) for result in self.results.requirements if result.level in JUDGED)

    @cached_property
    def broken(self) -> int:
        """The number of statements of any level that the node breaks."""
        return sum(result.verdict is Judgement.FAIL for result in self.results.requirements)

    @cached_property
    def by_id(self) -> dict[str, RequirementResult]:
        """The statements by their ids."""
        return {result.id: result for result in self.results.requirements}


@dataclass(frozen=True)
class Node:
    """The runs of a node, the oldest first."""

    name: str
    folder: str
    runs: tuple[Run, ...]

    @property
    def latest(self) -> Run:
        """The newest run of every case; the newest of a part of them where there is no other."""
        return next((run for run in reversed(self.runs) if run.is_whole), self.runs[-1])

    def changes(self) -> Iterator[tuple[Run, Counter[Change] | None]]:
        """The runs, newest first, each with the number of verdicts changed since the one before; None for the first."""
        for before, run in reversed(list(zip((None, *self.runs), self.runs, strict=False))):
            counts = Counter(changed.change for changed in compare(before.results, run.results)) if before else None
            yield run, counts


@dataclass(frozen=True)
class Row:
    """A statement with its verdict in each of several runs; None where a run does not know it."""

    statement: RequirementResult
    verdicts: tuple[Judgement | None, ...]

    @property
    def differs(self) -> bool:
        """Whether the runs have different verdicts."""
        return len(set(self.verdicts)) > 1

    @property
    def fails(self) -> bool:
        """Whether one of the nodes breaks it."""
        return Judgement.FAIL in self.verdicts

    @property
    def counts(self) -> bool:
        """Whether it is a must or should statement, or another one that some node breaks."""
        return self.statement.level in JUDGED or self.fails


@dataclass(frozen=True)
class Family:
    """The statements of a family."""

    name: str
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """The family in words."""
        return FAMILIES.get(self.name, self.name)

    @property
    def failing(self) -> int:
        """The number of its statements that a node breaks."""
        return sum(row.fails for row in self.rows)

    def tallies(self) -> Iterator[tuple[int, int, int]]:
        """For each run the number of must and should statements that pass at least in part, of all, and that fail."""
        judged = [row for row in self.rows if row.statement.level in JUDGED]
        for number in range(len(self.rows[0].verdicts)):
            passed = sum(row.verdicts[number] in PASSING for row in judged)
            yield passed, len(judged), sum(row.verdicts[number] is Judgement.FAIL for row in self.rows)

    def differing(self) -> Family:
        """Only the statements on which the verdicts differ."""
        return Family(self.name, tuple(row for row in self.rows if row.differs))


def families(runs: Sequence[Run]) -> list[Family]:
    """The statements of the runs by family, with a verdict for each run. Their texts are those of the newest run."""
    statements: dict[str, RequirementResult] = {}
    for run in sorted(runs, key=lambda run: run.results.started):
        statements |= run.by_id
    rows: dict[str, list[Row]] = {}
    for statement in sorted(statements.values(), key=lambda one: one.id):
        found = (run.by_id.get(statement.id) for run in runs)
        row = Row(statement, tuple(one.verdict if one else None for one in found))
        rows.setdefault(statement.id.partition("-")[0], []).append(row)
    return [Family(name, tuple(members)) for name, members in rows.items()]


@dataclass(frozen=True)
class Board:
    """The nodes of a site, by name."""

    nodes: tuple[Node, ...]

    @property
    def latest(self) -> tuple[Run, ...]:
        """The run of each node that the board shows."""
        return tuple(node.latest for node in self.nodes)

    @property
    def judges(self) -> set[tuple[str, str]]:
        """The versions of the suite and the digests of the specification that the newest runs were judged by."""
        return {(run.results.suite.version, run.results.specification.sha256) for run in self.latest}


def collect(folders: Iterable[Path], mark: MarkReader = lambda *_: None) -> Board:
    """Read the runs in these folders. LoadProblem: there are none, or two runs of a node have the same version."""
    by_node: dict[str, list[tuple[str, Path, Results]]] = {}
    for folder in folders:
        paths = sorted(folder.rglob(RESULTS_NAME))
        if not paths:
            raise LoadProblem(f"holds no {RESULTS_NAME}, neither itself nor in a folder below", folder)
        for path in paths:
            node, version = _names(folder, path)
            results = load_results(path)
            version = version or f"{results.started:%Y-%m-%d}"
            if any(version == other for other, _, _ in by_node.get(node, [])):
                raise LoadProblem(f"is a second run of {node} {version}: name its folder NODE/VERSION", path)
            by_node.setdefault(node, []).append((version, path, results))
    folders_of = _file_names(sorted(by_node), taken={"index.html"})
    nodes = (_node(name, folders_of[name], by_node[name], mark) for name in sorted(by_node, key=str.casefold))
    return Board(tuple(nodes))


def _names(folder: Path, path: Path) -> tuple[str, str]:
    """Node and version; no version where no folder names it."""
    below = path.parent.relative_to(folder).parts
    return (below[0], " ".join(below[1:])) if below else (folder.resolve().name, "")


def _node(name: str, folder: str, runs: list[tuple[str, Path, Results]], mark: MarkReader) -> Node:
    runs = sorted(runs, key=lambda run: run[2].started)
    stems = _file_names([version for version, _, _ in runs], taken={"index"})
    return Node(
        name,
        folder,
        tuple(
            Run(name, version, results, content, folder, stems[version], mark(path.parent, content))
            for version, path, results in runs
            for content in [path.read_bytes()]
        ),
    )


def _file_names(names: Iterable[str], taken: set[str]) -> dict[str, str]:
    """A file name for each name, of letters, digits, points and hyphens."""
    by_name: dict[str, str] = {}
    for name in names:
        stem = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip(".-")[:100] or "unnamed"
        number = 1
        while (chosen := stem if number == 1 else f"{stem}-{number}").lower() in taken:
            number += 1
        taken.add(chosen.lower())
        by_name[name] = chosen
    return by_name
