"""The pytest collector of a pack, and the pytest item of a case, whose outcome follows the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import pytest

from conformance.problems import NodeSilent
from conformance.report import Results
from conformance.report.case_text import explain, rerun
from conformance.report.junit import ELEMENTS, SKIPPED
from conformance.run.case import Case
from conformance.run.known import Known
from conformance.run.options import Options
from conformance.run.selection import Selection
from conformance.values.shown_text import plain
from conformance.verdict import Outcome, Verdict

Style: TypeAlias = Literal["long", "short", "line", "no", "native", "value", "auto"]
"""The traceback styles of `pytest.Item.repr_failure`."""


class Departed(Exception):  # noqa: N818 - a failing node is no error of the suite
    """A case that did not pass. Its text is the whole report."""


class Running(Protocol):
    """The parts of a run that an item uses."""

    options: Options
    selection: Selection
    known: Known
    seed: str
    at_once: int
    """How many cases run at the same time."""
    settle_seconds: float
    """How long the node may take until a write shows, as its profile says."""
    offered: frozenset[str]
    """The cases that are to run and that the profile does not rule out, by their ids."""
    outcomes: dict[str, Outcome]
    """The outcomes of the cases that have ended, by their ids."""

    def keep(self, outcome: Outcome) -> Outcome:
        """Take the outcome of a case that has ended."""

    unwritten: str
    """Which report could not be written, and why."""

    def without_report(self, why: str) -> Results:
        """Write all files of the results anew: a report could not be written."""

    def about(self) -> str:
        """Which node is judged, and the seed."""

    def judge(self, case: Case) -> Outcome:
        """The outcome of a case, before the list of known failures is applied."""


def explained(run: Running, outcome: Outcome, order: Sequence[str] = (), also: str = "") -> str:
    """The report of a case, with the command that repeats it; `order` and `also` as in `explain`."""
    return explain(outcome, rerun(outcome.case, run.seed, run.options.to_repeat_case()), order, also)


RUNNING: pytest.StashKey[Running] = pytest.StashKey()
"""The run, in the stash of the config."""
RESULTS: pytest.StashKey[Results] = pytest.StashKey()
"""The results of the run, in the stash of the config once the session has ended."""


class PackFile(pytest.File):
    """A pack."""

    def collect(self) -> Iterator[CaseItem]:
        """Its cases."""
        run = self.config.stash[RUNNING]
        for case in run.selection.by_file[self.path.resolve()]:
            yield CaseItem.from_parent(self, name=case.id.partition("::")[2], case=case)


class CaseItem(pytest.Item):
    """A case."""

    def __init__(self, *, case: Case, **others: object) -> None:
        super().__init__(**others)  # type: ignore[arg-type]  # pytest's own keywords, passed through
        self.case = case

    def runtest(self) -> None:
        """Run it, and say by pytest's means what came of it."""
        run = self.config.stash[RUNNING]
        outcome = run.keep(run.known.apply(run.judge(self.case)))
        if outcome.properties.get("problem") == NodeSilent.code:
            self.session.shouldstop = outcome.reason
        self.user_properties.append(("requirements", " ".join(outcome.requirements)))
        element = ELEMENTS[outcome.verdict]
        if outcome.verdict is Verdict.KNOWN:
            pytest.xfail(plain(outcome.reason))
        if element == SKIPPED:
            pytest.skip(plain(outcome.reason))
        if element is not None:
            raise Departed(explained(run, outcome))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Style | None = None) -> str:
        """The report of the case; a traceback only for a fault of the suite itself."""
        if isinstance(excinfo.value, Departed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case stands, and its id."""
        return self.path, self.case.line - 1, self.case.id
