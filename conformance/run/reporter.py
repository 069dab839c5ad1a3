"""Prints the progress and the report of ``service-conformance run``, in place of pytest's own terminal reporter."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from conformance.console import CommandConsole
from conformance.ending import PROGRAM, crash, not_printed, say
from conformance.report import Results, show
from conformance.report.causes import counted_waiting, others, waiting
from conformance.report.ranking import broken, failed_cases
from conformance.run.costs import Cost, cost, expected
from conformance.run.items import RESULTS, RUNNING, Running, explained
from conformance.verdict import Outcome, Verdict

SECONDS_BETWEEN_LINES = 15.0
NARROWEST = 100
"""Columns that the report takes even where the terminal has fewer."""
LEAST_SHARE = 0.05
"""The share of a run before which no time that is left is told: the first case is slow, and would mislead."""
LINES_IN_FULL = 40
"""Lines of the cases that are told in full; the others have a line each below the statements that they break."""
RULE = "-"
WORDS = {
    Verdict.PASS: "passed",
    Verdict.FAIL: "failed",
    Verdict.NOT_OFFERED: "not offered",
    Verdict.KNOWN: "failed as known",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.SUITE_ERROR: "suite error",
}
TOLD_AT_ONCE = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.SUITE_ERROR)
MUCH_WAITING = 5
"""Minutes of waiting from which on a run says beforehand that it waits."""
MOST_INCONCLUSIVE = 20
"""How many inconclusive cases are named as they end; the line of progress counts all, the report tells their causes."""


class Count:
    """The cases of a run that have ended, and an estimate of the time that the others take."""

    def __init__(
        self, costs: Mapping[str, float], clock: Callable[[], float] = time.monotonic, at_once: int = 1
    ) -> None:
        self._clock = clock
        self._at_once = at_once
        self._seconds = 0.0
        """How long the cases took that have ended."""
        self._began = clock()
        self._costs = costs
        """In requests; 0 for a case that is not offered."""
        self._ended: dict[str, Verdict] = {}

    @property
    def total(self) -> int:
        """How many cases there are."""
        return len(self._costs)

    @property
    def done(self) -> int:
        """How many have ended."""
        return len(self._ended)

    def number(self, verdict: Verdict) -> int:
        """How many have ended so."""
        return Counter(self._ended.values())[verdict]

    def add(self, case: str, verdict: Verdict, seconds: float) -> None:
        """A case has ended, after so many seconds."""
        self._ended[case] = verdict
        self._seconds += seconds

    @property
    def seconds_left(self) -> int | None:
        """An estimate from the cases' costs in requests and the time that those took which have ended.

        None as long as hardly anything has ended.
        """
        spent, every = sum(self._costs[case] for case in self._ended), sum(self._costs.values())
        if not spent or spent < LEAST_SHARE * every:
            return None
        return round(self._seconds * (every - spent) / spent / self._at_once)

    def __str__(self) -> str:
        """For example ``12 of 590 cases, 7.3 a second, 1:04 left: 11 passed, 1 failed``."""
        elapsed = self._clock() - self._began
        text = f"{self.done} of {self.total} cases"
        if self.done and elapsed and (left := self.seconds_left) is not None:
            text += f", {self.done / elapsed:.1f} a second, {left // 60}:{left % 60:02} left"
        number = Counter(self._ended.values())
        return text + (": " if number else "") + ", ".join(f"{number[verdict]} {WORDS[verdict]}" for verdict in number)


def _told(cost: Cost) -> str:
    """For example ``6,300 requests; 1,700 cents by the usual prices; 8,100 cents of credit to buy``."""
    parts = [f"{_rounded(cost.requests)} requests"]
    parts += [f"{_rounded(cost.charged_cents)} cents by the usual prices"] * bool(cost.charged_cents)
    parts += [f"{_rounded(cost.bought_cents)} cents of credit to buy"] * bool(cost.bought_cents)
    parts += [f"{_rounded(cost.gas)} units of gas"] * bool(cost.gas)
    return "; ".join(parts)


def _waiting(seconds: float, at_once: int) -> str:
    """How long a run waits for writes to show, after each one; empty where that is not long."""
    minutes = seconds / at_once / 60
    if minutes < MUCH_WAITING:
        return ""
    advice = ": --jobs 32 lets cases wait at the same time" if at_once == 1 else ""
    return f"about {_rounded(minutes)} minutes of waiting until writes show (semantics.settle_time_seconds){advice}"


def _rounded(number: float) -> str:
    """Two digits, which is what an estimate knows."""
    digits = len(str(round(number)))
    return f"{round(number, 2 - digits) if digits > 2 else round(number):,.0f}"


class Reporter:
    """A plugin of pytest."""

    def __init__(self, console: Console | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console or CommandConsole(highlight=False)
        self._console.width = max(self._console.width, NARROWEST)
        self._clock = clock
        self._run: Running | None = None
        self._count: Count | None = None
        self._next_line = 0.0
        self._reports: list[tuple[str, str]] = []
        """The id and text of each failure: of cases that did not pass, and of other items."""
        self._bar = Progress(
            BarColumn(bar_width=20),
            TextColumn("{task.description}"),
            console=self._console,
            auto_refresh=False,  # pytest captures what is written while a case runs
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("")
        self.results: Results | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Remember the run, which holds the outcomes."""
        self._run = session.config.stash[RUNNING]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Begin to count, now that the cases are known."""
        self._begin([item.nodeid for item in session.items])

    def _begin(self, cases: Sequence[str]) -> None:
        offered = self._run.offered if self._run else frozenset(cases)
        costs = {case: cost(case) if case in offered else 0 for case in cases}
        self._count = Count(costs, self._clock, self._run.at_once if self._run else 1)
        self._next_line = self._clock() + SECONDS_BETWEEN_LINES
        with suppress(OSError):  # the report at the end meets it again
            if self._run is not None:
                self._console.print(f"{self._run.about()}, {len(cases)} case{'s' * (len(cases) != 1)}", soft_wrap=True)
                whole = expected(offered)
                self._console.print(f"about {_told(whole)}", soft_wrap=True)
                if waiting := _waiting(whole.charged_cents * self._run.settle_seconds, self._run.at_once):
                    self._console.print(waiting, soft_wrap=True)
            if self._console.is_terminal:
                self._bar.start()
                self._show(self._count)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the report of a collector that failed."""
        if report.failed:
            self._reports.append((report.nodeid, report.longreprtext))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a case that has ended, and keep the report of one that failed or taught nothing."""
        outcome = self._run.outcomes.get(report.nodeid) if self._run and report.when == "call" else None
        if report.failed:
            self._reports.append((report.nodeid, report.longreprtext))
        elif self._run and outcome and outcome.verdict in TOLD_AT_ONCE:
            self._reports.append((report.nodeid, explained(self._run, outcome)))
        if self._count is None or outcome is None:
            return
        self._count.add(report.nodeid, outcome.verdict, outcome.seconds)
        with suppress(OSError):
            many = self._count.number(outcome.verdict) > MOST_INCONCLUSIVE
            if outcome.verdict in TOLD_AT_ONCE and not (many and outcome.verdict is Verdict.INCONCLUSIVE):
                self._console.print(f"{WORDS[outcome.verdict]}: {outcome.case}", markup=False, soft_wrap=True)
            self._show(self._count)

    def _show(self, count: Count) -> None:
        if self._console.is_terminal:
            self._bar.update(self._task, total=count.total, completed=count.done, description=str(count), refresh=True)
        elif self._clock() >= self._next_line:
            self._console.print(str(count), soft_wrap=True)
            self._next_line = self._clock() + SECONDS_BETWEEN_LINES

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        """Tell of a crash of the run itself in one line, in place of pytest's many."""
        say(f"{PROGRAM}: {crash(excinfo.value)}")
        return True

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Remove the progress bar and take the results."""
        with suppress(OSError):
            if self._console.is_terminal:
                self._bar.stop()
        self.results = config.stash.get(RESULTS, None)

    def tell(self) -> None:
        """Print the report. A reader that leaves early changes no verdict; another fault counts in the results."""
        try:
            self._tell()
            self._console.file.flush()
        except OSError as problem:
            not_printed(problem)
            if self._run is not None and self.results is not None and not isinstance(problem, BrokenPipeError):
                self.results = self._run.without_report(f"the report cannot be printed: {problem.strerror}")

    def _tell(self) -> None:
        told = self._tell_cases()
        if self.results is None:
            return
        self._console.rule(characters=RULE)
        show(self.results, self._console, told)
        if self._run is not None and self._run.unwritten:
            self._console.print(self._run.unwritten, markup=False, soft_wrap=True)

    def _tell_cases(self) -> list[str]:
        """Print the failures, the most telling first, until they fill a screen; return the cases that were told.

        What was inconclusive is told where every failure is.
        """
        told: list[str] = []
        lines = 0
        has_left_out = False
        for case, text in self._in_order():
            height = text.count("\n") + 2
            outcome = self._outcomes.get(case)
            is_short_of_room = bool(told) and lines + height > LINES_IN_FULL
            if outcome and (is_short_of_room or (has_left_out and outcome.verdict is Verdict.INCONCLUSIVE)):
                has_left_out = True
                continue
            self._console.rule(style="red", characters=RULE)
            self._console.print(text, markup=False, soft_wrap=True)
            told.append(case)
            lines += height
        return told

    @property
    def _outcomes(self) -> Mapping[str, Outcome]:
        return self._run.outcomes if self._run else {}

    def _in_order(self) -> list[tuple[str, str]]:
        """What failed: first what is no case, then cases as they rank.

        Of a cause that cases share, and of an assumed key that they hang on, the first alone; what waits for a case
        that failed is named there.
        """
        if self.results is None or self._run is None:
            return self._reports
        order = [requirement.id for requirement in broken(self.results)]
        places = {case.case: place for place, case in enumerate(failed_cases(self.results))}
        together = [*(cause.cases for cause in self.results.causes), *(key.cases for key in self.results.assumed)]
        shared = {case for cases in together for case in cases[1:]}
        also = {cause.cases[0]: [others(cause)] for cause in self.results.causes}
        for case, cases in waiting(self.results).items():
            shared.update(cases)
            also.setdefault(case, []).append(counted_waiting(cases))
        reports = [report for report in self._reports if report[0] not in shared]
        reports.sort(key=lambda report: (report[0] in self._outcomes, places.get(report[0], len(places))))
        return [
            (
                name,
                explained(self._run, self._outcomes[name], order, "; ".join(also.get(name, [])))
                if name in places
                else text,
            )
            for name, text in reports
        ]
