"""What ``service-conformance run`` tells while cases end, and what it keeps for the end."""

from __future__ import annotations

from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from conformance.run import reporter
from conformance.run.costs import Cost
from conformance.run.items import RUNNING
from conformance.run.reporter import LINES_IN_FULL, MOST_INCONCLUSIVE, SECONDS_BETWEEN_LINES, Count, Reporter
from conformance.verdict import Outcome, Verdict


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(reporter, "cost", lambda _: 10)
    monkeypatch.setattr(reporter, "expected", lambda cases: Cost(10 * len(cases), 1_667, 0, 71_234_567))
    return Clock()


def test_time_left_follows_what_the_cases_cost(clock: Clock) -> None:
    count = Count({"p::a": 10, "p::b": 10, "p::slow": 30, "p::not-offered": 0}, clock)
    assert str(count) == "0 of 4 cases"

    clock.now = 4
    count.add("p::a", Verdict.PASS, 4)
    assert str(count) == "1 of 4 cases, 0.2 a second, 0:16 left: 1 passed"

    clock.now = 40
    count.add("p::slow", Verdict.FAIL, 36)
    assert str(count) == "2 of 4 cases, 0.1 a second, 0:10 left: 1 passed, 1 failed"


def test_cases_at_the_same_time_share_the_time_that_is_left(clock: Clock) -> None:
    count = Count({f"p::{number}": 10 for number in range(10)}, clock, at_once=4)

    clock.now = 5
    count.add("p::0", Verdict.PASS, 5)
    count.add("p::1", Verdict.PASS, 3)

    assert count.seconds_left == 8, "8 cases of 4 s each, 4 at a time"


def test_time_left_is_not_told_from_hardly_any_case(clock: Clock) -> None:
    count = Count({f"p::{number}": 10 for number in range(21)}, clock)
    clock.now = 1
    count.add("p::0", Verdict.PASS, 0.5)
    assert str(count) == "1 of 21 cases: 1 passed"
    count.add("p::1", Verdict.PASS, 0.5)
    assert str(count) == "2 of 21 cases, 2.0 a second, 0:10 left: 2 passed"


class Run:
    """A reporter that listens to cases as they end."""

    def __init__(
        self, clock: Clock, *cases: str, terminal: bool = False, settle_seconds: float = 0.0, at_once: int = 1
    ) -> None:
        self.text = StringIO()
        self.reporter = Reporter(Console(file=self.text, force_terminal=terminal, width=200), clock)
        self._outcomes: dict[str, Outcome] = {}
        stash = pytest.Stash()
        stash[RUNNING] = SimpleNamespace(
            outcomes=self._outcomes,
            offered=frozenset(cases),
            unwritten="",
            about=lambda: "node n, seed s",
            at_once=at_once,
            settle_seconds=settle_seconds,
        )
        self._config = SimpleNamespace(stash=stash)
        self.reporter.pytest_sessionstart(SimpleNamespace(config=self._config))  # type: ignore[arg-type]  # a stand-in
        session = SimpleNamespace(items=[SimpleNamespace(nodeid=case) for case in cases])
        self.reporter.pytest_collection_finish(session)  # type: ignore[arg-type]  # a stand-in

    def end(self, case: str, verdict: Verdict) -> None:
        self._outcomes[case] = Outcome(case=case, title="t", requirements=(), verdict=verdict, seconds=7.5)
        failed = verdict in {Verdict.FAIL, Verdict.INCONCLUSIVE}
        report = SimpleNamespace(nodeid=case, when="call", failed=failed, longreprtext=f"why {case} {verdict}")
        self.reporter.pytest_runtest_logreport(report)  # type: ignore[arg-type]  # a stand-in

    def tell(self) -> str:
        """What is printed at the end."""
        before = len(self.text.getvalue())
        self.reporter.pytest_unconfigure(self._config)  # type: ignore[arg-type]  # a stand-in
        self.reporter.tell()
        return self.text.getvalue()[before:]


def test_output_that_is_no_terminal_gets_a_line_now_and_then(clock: Clock) -> None:
    run = Run(clock, "p::a", "p::b", "p::c", "p::d")
    run.end("p::a", Verdict.PASS)
    clock.now = SECONDS_BETWEEN_LINES
    run.end("p::b", Verdict.PASS)
    run.end("p::c", Verdict.PASS)

    assert run.text.getvalue().splitlines() == [
        "node n, seed s, 4 cases",
        "about 40 requests; 1,700 cents by the usual prices; 71,000,000 units of gas",
        "2 of 4 cases, 0.1 a second, 0:15 left: 2 passed",
    ]


@pytest.mark.parametrize(
    ("seconds", "at_once", "told"),
    [
        (0.1, 1, []),
        (2.0, 1, ["about 56 minutes of waiting until writes show (semantics.settle_time_seconds): --jobs 32 lets cases "
                  "wait at the same time"]),
        (2.0, 8, ["about 7 minutes of waiting until writes show (semantics.settle_time_seconds)"]),
    ],
)  # fmt: skip
def test_long_waiting_for_writes_is_told_beforehand(
    clock: Clock, seconds: float, at_once: int, told: list[str]
) -> None:
    run = Run(clock, "p::a", settle_seconds=seconds, at_once=at_once)

    assert run.text.getvalue().splitlines()[2:] == told


def test_of_many_inconclusive_cases_the_first_are_named_at_once(clock: Clock) -> None:
    cases = [f"p::{number}" for number in range(MOST_INCONCLUSIVE + 5)]
    run = Run(clock, *cases, "p::a")
    for case in cases:
        run.end(case, Verdict.INCONCLUSIVE)
    run.end("p::a", Verdict.FAIL)

    told = run.text.getvalue().splitlines()[2:]
    assert told == [*(f"inconclusive: {case}" for case in cases[:MOST_INCONCLUSIVE]), "failed: p::a"]


def test_failure_is_named_at_once_and_explained_at_the_end(clock: Clock) -> None:
    run = Run(clock, "p::a", "p::b")
    run.end("p::a", Verdict.FAIL)
    run.end("p::b", Verdict.INCONCLUSIVE)

    assert run.text.getvalue().splitlines()[2:] == ["failed: p::a", "inconclusive: p::b"]
    told = run.tell()
    assert "why p::a fail" in told
    assert "why p::b inconclusive" in told


def test_nothing_inconclusive_is_explained_where_a_failure_has_no_room(clock: Clock) -> None:
    lines = "\nline" * (LINES_IN_FULL - 2)
    cases = {"p::a": Verdict.FAIL, f"p::b{lines}": Verdict.FAIL, "p::c": Verdict.INCONCLUSIVE, "p::d": Verdict.FAIL}
    run = Run(clock, *cases)
    for case, verdict in cases.items():
        run.end(case, verdict)

    told = run.tell()

    assert "why p::a fail" in told
    assert "why p::d fail" in told
    assert "why p::b" not in told
    assert "why p::c" not in told


def test_terminal_gets_a_bar_that_leaves_nothing_behind(clock: Clock) -> None:
    run = Run(clock, "p::a", "p::b", terminal=True)
    clock.now = 1
    run.end("p::a", Verdict.PASS)
    assert "1 of 2 cases, 1.0 a second, 0:08 left: 1 passed" in run.text.getvalue()
    assert "\x1b[2K" in run.tell(), "the line is erased"
