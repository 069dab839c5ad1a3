"""The pytest session of a conformance run: the node, the selection, the processes, the results."""

from __future__ import annotations

import gc
import secrets
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from types import FrameType
from typing import NoReturn

import pytest
from rich.console import Console

from conformance.ending import crash, crash_ends_pytest
from conformance.endpoints.client import Target
from conformance.problems import Problem
from conformance.profile import Profile
from conformance.report import Results, RunRecord, make_writable, results_of, show, write_results
from conformance.report.load import load_results
from conformance.report.renderers import RENDERERS, write_reports
from conformance.report.replay import write_replays
from conformance.report.results import RunEvidence
from conformance.report.write import MATRIX_NAME, RESULTS_NAME, is_special
from conformance.run.blame import FOUNDATION_CASES
from conformance.run.case import Case, rows_by_id
from conformance.run.costs import cheapest, length
from conformance.run.evidence import EvidenceKeeper
from conformance.run.items import RESULTS, RUNNING, CaseItem, PackFile
from conformance.run.journal import Begun, Journal, taken_up
from conformance.run.judged_node import JudgedNode
from conformance.run.known import Known, load_known
from conformance.run.listing import by_requirement
from conformance.run.offered import not_offered
from conformance.run.options import PREFIX, Options
from conformance.run.processes import CAN_FORK, CaseProcesses
from conformance.run.runner import run_case
from conformance.run.selection import select
from conformance.run.threads import CaseThreads
from conformance.run.timer import MOST_MINUTES, RunTimer
from conformance.run.volume import FailureVolume
from conformance.verdict import Outcome, Verdict

WORDS = {
    Verdict.NOT_OFFERED: ("not offered", "o", "NOT OFFERED"),
    Verdict.KNOWN: ("known", "k", "KNOWN"),
    Verdict.INCONCLUSIVE: ("inconclusive", "?", "INCONCLUSIVE"),
    Verdict.SUITE_ERROR: ("suite error", "E", "SUITE ERROR"),
}


class ConformanceSession:
    """One run of packs under pytest."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        config.stash[RUNNING] = self
        try:
            self.options, self._unfinished = taken_up(Options.of(config.option, f"{PREFIX}_"))
        except Problem as problem:
            raise pytest.UsageError(_with_hint(problem)) from problem
        _check_processes(config, self.options)
        if self.options.results:
            self._make_writable(self.options.results, self.options.results, RESULTS_NAME, MATRIX_NAME)
        if self.options.replay:
            self._make_writable(self.options.replay, self.options.replay)
        for path in self.options.reports(RENDERERS).values():
            self._make_writable(path, path.parent, path.name)
        paths = [Path(str(path).partition("::")[0]) for path in config.getoption("file_or_dir") or []]
        try:
            self.seed = _seed(self.options)
            self.node = JudgedNode(self.options, self.seed, may_start=not config.getoption("collectonly"))
            self.at_once = self.node.jobs
            self.settle_seconds = self.node.profile.semantics.settle_time_seconds or 0
            config.add_cleanup(self.node.stop)
            if self.node.is_bundled and self.node.jobs > 1 and not CAN_FORK:
                raise pytest.UsageError("--jobs above 1 for the bundled node needs an operating system with fork")
            self.selection = select(self.options, paths)
            self.known = load_known(self.options.known) if self.options.known else Known()
            self._evidence = EvidenceKeeper(self.options.evidence) if self.options.evidence else None
        except Problem as problem:
            raise pytest.UsageError(_with_hint(problem)) from problem
        if not paths:
            config.args = [str(path) for path in self.selection.chosen_files]
        self.outcomes: dict[str, Outcome] = {}
        self._volume = FailureVolume()
        self.awaited: set[str] = set()
        """The ids of the cases that this run has to report."""
        self.offered: frozenset[str] = frozenset()
        self.unwritten = ""
        """Which file of the results could not be written, and why."""
        self._crashed = False
        """Whether a process died."""
        self._stopped_by = ""
        """What ended the run early."""
        self._ended: dict[str, Future[Outcome]] = {}
        """Cases that other processes have run."""
        began = datetime.now(UTC)
        earlier = self._unfinished
        self._begun = earlier.begun.again(began) if earlier else Begun.now(self.options, self.seed, began)
        self._journal = Journal(self.options.results) if self.options.results else None
        self._timer = RunTimer(self.options.max_minutes or MOST_MINUTES)
        config.add_cleanup(self._timer.stop)

    def _make_writable(self, asked: Path, folder: Path, *names: str) -> None:
        """Make the folder, until a run that writes nothing ends, and check that these files can be written into it.

        The error names the path `asked`.
        """
        try:
            made = make_writable(folder, *names)
        except OSError as problem:
            raise pytest.UsageError(f"{asked} cannot be written into: {problem.strerror}") from problem
        self.config.add_cleanup(partial(_remove_empty, made))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Wait for the bundled nodes."""
        self._end_at_sigterm()
        with crash_ends_pytest():
            try:
                self.node.wait_until_ready()
                if self._evidence is not None and not self.config.getoption("collectonly"):
                    self._evidence.before(*self._judged())
            except Problem as problem:
                raise pytest.UsageError(_with_hint(problem)) from problem

    def _end_at_sigterm(self) -> None:
        """End the run at SIGTERM as at Ctrl-C, and write the results."""
        if threading.current_thread() is threading.main_thread():
            self.config.add_cleanup(partial(_handle, signal.SIGTERM, signal.signal(signal.SIGTERM, _interrupt)))

    def _ignore_signals(self) -> None:
        """Let no signal stop the writing of the results, which takes a moment."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self.config.add_cleanup(partial(_handle, number, signal.signal(number, signal.SIG_IGN)))

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Remember what ended the run early: a signal, its time, or a node that has stopped answering."""
        self._stopped_by = self._timer.told or str(excinfo.value) or "Ctrl-C"

    @cached_property
    def _target(self) -> Target:
        return self.node.target()

    # ----------------------------------------------------------------------------------------------- collection

    def pytest_report_header(self) -> str:
        """The line about the run in pytest's header."""
        return f"conformance: {self.about()}"

    def about(self) -> str:
        """Which node is judged, and the seed."""
        return f"{self.node}, seed {self.seed}"

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Collect the chosen packs, and let no other collector have them: pytest would collect a Python pack as tests.

        A pack's name is its node id, which makes the node ids of its items the ids of the cases. Pytest's own node ids
        are not unique for files outside its root folder.
        """
        collectors = yield
        if file_path.resolve() not in self.selection.chosen_files:
            return collectors
        return [PackFile.from_parent(parent, path=file_path, nodeid=file_path.stem)]

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the cases that the options select."""
        wanted = [item.case for item in items if isinstance(item, CaseItem) and self.selection.wants(item.case)]
        ids = {case.id for case in wanted}
        if self.options.quick:
            quick = [case for case in wanted if not _restarts(case)] or wanted
            ids = cheapest(quick, lambda case: not not_offered(case, self._target), FOUNDATION_CASES)
        if self._unfinished:
            earlier = self._unfinished.outcomes.items()
            self.outcomes |= {name: self._volume.kept(found) for name, found in earlier if name in ids}
        ids -= self.outcomes.keys()
        left_out = [item for item in items if isinstance(item, CaseItem) and item.case.id not in ids]
        if left_out:
            items[:] = [item for item in items if item not in set(left_out)]
            config.hook.pytest_deselected(items=left_out)
        items.sort(key=_changes_the_node)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note which cases have to be reported."""
        cases = [item.case for item in session.items if isinstance(item, CaseItem)]
        self.awaited |= {case.id for case in cases} | self.outcomes.keys()
        self.offered = frozenset(case.id for case in cases if not not_offered(case, self._target))
        self.node.judging |= rows_by_id(cases)
        gc.freeze()  # the cases live until the run ends: the garbage collector need not scan them again

    # ------------------------------------------------------------------------------------------------------ running

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the cases side by side, and report each as it ends; items of other collectors run last, one by one.

        The costliest begin first, and those last that have to be alone from their beginning.
        With one case at a time, return None: pytest's own loop runs.
        """
        if self.config.getoption("collectonly"):
            return None
        if self._journal:
            self._journal.begin(self._begun, list(self.outcomes.values()))
        if self.node.jobs == 1 or session.testsfailed:
            self._timer.begin()
            return None
        items = [item for item in session.items if isinstance(item, CaseItem)]
        others = [item for item in session.items if not isinstance(item, CaseItem)]
        items.sort(key=lambda item: (item.case.info.counts_time, -length(item.case.id)))
        with self._workers([item.case for item in items]) as workers:
            for last in (False, True):  # all others have ended when the first case begins that changes the node
                self._run_at_once(session, workers, [item for item in items if _changes_the_node(item) is last])
        for item, following in zip_longest(others, others[1:]):
            _report(session, item, following)
        return True

    def _workers(self, cases: Sequence[Case]) -> CaseProcesses | CaseThreads:
        """Processes, which compute, each with a bundled node; or threads, which wait for a node elsewhere."""
        if self.node.is_bundled:
            return CaseProcesses(self.node.jobs, cases, self.node.target)
        return CaseThreads(self.node.jobs, self._target)

    def _run_at_once(
        self, session: pytest.Session, workers: CaseProcesses | CaseThreads, items: Iterable[CaseItem]
    ) -> None:
        waiting = {} if self._crashed else {workers.submit(item.case): item for item in items}
        self._timer.begin()  # a thread, which the processes were not to copy
        for future in as_completed(waiting):
            if isinstance(future.exception(), BrokenProcessPool):
                self._crashed = True
                return
            self._ended[waiting[future].case.id] = future
            _report(session, waiting[future], None)

    def keep(self, outcome: Outcome) -> Outcome:
        """Take the outcome of a case that has ended, and write it down. Returns it as the reports show it."""
        outcome = self.outcomes[outcome.case] = self._volume.kept(outcome)
        if self._journal:
            self._journal.add(outcome)
        return outcome

    def judge(self, case: Case) -> Outcome:
        """The outcome of a case, before the list of known failures is applied."""
        return self._ended[case.id].result() if case.id in self._ended else run_case(case, self._target)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Report the duration that the runner measured: another process may have run the case."""
        report = yield
        outcome = self.outcomes.get(item.nodeid)
        if outcome is not None and call.when == "call":
            report.duration = outcome.seconds
        return report

    # -------------------------------------------------------------------------------------------------- results

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Name the verdict where pytest's own word would mislead."""
        outcome = self.outcomes.get(report.nodeid) if report.when == "call" else None
        return WORDS.get(outcome.verdict) if outcome else None

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Stop the nodes, write the results and take the exit status from them."""
        self._timer.stop()
        self._ignore_signals()
        gc.unfreeze()
        if "_target" in vars(self):
            self._target.close()
        runs = not self.config.getoption("collectonly") and exitstatus != pytest.ExitCode.USAGE_ERROR
        evidence = self._evidence_after(exitstatus) if runs else None
        self.node.stop()
        if not runs:
            return
        with crash_ends_pytest():
            results = self._report(self._record(exitstatus, evidence))
        self.config.stash[RESULTS] = results
        if self._journal:
            self._journal.end(is_whole=not results.interrupted and not self._reported.crashed)
        if results.exit_code or self._unfinished:
            session.exitstatus = int(results.exit_code)

    def _judged(self) -> tuple[str, Profile]:
        return str(self.node.url), self.node.profile.trusting(self.options.ca_file)

    def _evidence_after(self, exitstatus: int) -> RunEvidence | None:
        if self._evidence is None:
            return None
        return self._evidence.after(*self._judged(), self._interrupted(exitstatus))

    def _report(self, record: RunRecord) -> Results:
        """Write all files of the results. Where one cannot be written, no other says that the node conforms."""
        try:
            results = results_of(record)
            if fault := self._write(results):
                record = replace(record, unwritten=_told(fault), crashed=not isinstance(fault, OSError))
                results = results_of(record)
                self._write(results)
        except BaseException:
            self._remove_results()
            raise
        self._reported, self.unwritten = record, record.unwritten
        return results

    def without_report(self, why: str) -> Results:
        """Write all files of the results anew: a report could not be written."""
        return self._report(replace(self._reported, unwritten=why))

    def _write(self, results: Results) -> Exception | None:
        """Write all files of the results, results.json last; return what the first that fails raises."""
        forms = self.options.reports(RENDERERS).items()
        writers: list[Callable[[Results], object]] = [
            *(partial(write_reports, files={form: path}) for form, path in forms),
            self._write_replays,
            self._write_results,
        ]
        first = None
        for write in writers:
            try:
                write(results)
            except Exception as fault:  # noqa: BLE001 - a form that crashes takes no other form along
                first = first or fault
        return first

    def _write_results(self, results: Results) -> None:
        if self.options.results:
            try:
                write_results(results, self.options.results)
            except OSError:
                self._remove_results()
                raise

    def _remove_results(self) -> None:
        """Remove an earlier run's results.json, which would be taken for this one's."""
        if self.options.results and not is_special(self.options.results / RESULTS_NAME):
            with suppress(OSError):
                (self.options.results / RESULTS_NAME).unlink()

    def _write_replays(self, results: Results) -> None:
        if self.options.replay:
            write_replays(results, self.options.replay)

    def _record(self, exitstatus: int, evidence: RunEvidence | None) -> RunRecord:
        cases = self.selection.every_case()
        outcomes = tuple(self.outcomes.values())
        return RunRecord(
            base_url=str(self.node.url),
            bundled=self.node.is_bundled,
            profile=self.node.profile,
            profile_source=str(self.options.profile or "reference"),
            seed=self.seed,
            started=self._begun.began,
            resumed=self._begun.resumed,
            finished=datetime.now(UTC),
            outcomes=outcomes,
            checks=by_requirement(cases),
            rerun=self.options.to_repeat_case(),
            faults=self.known.faults(cases, outcomes),
            interrupted=self._interrupted(exitstatus),
            crashed=exitstatus == pytest.ExitCode.INTERNAL_ERROR,
            selected=self.options.selecting(),
            quick=self.options.quick,
            evidence=evidence,
            unwritten=f"no statement can follow from this run: after the last case, {evidence.trouble}"
            if evidence is not None and evidence.trouble
            else "",
        )

    def _interrupted(self, exitstatus: int) -> str:
        missing = len(self.awaited - self.outcomes.keys())
        lost = f"{missing} of {len(self.awaited)} cases did not report"
        if self._crashed:
            return f"a process of the suite died; {lost}"
        if self._stopped_by:
            return f"{self._stopped_by}; {lost}"
        if exitstatus in {pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR}:
            return f"pytest ended early (status {int(exitstatus)}); {lost}"
        return lost if missing else ""

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the report."""
        results = self.config.stash.get(RESULTS, None)
        if results is None:
            return
        writer = self.config.get_terminal_writer()
        text = StringIO()
        show(results, Console(file=text, force_terminal=writer.hasmarkup, width=max(writer.fullwidth, 100)))
        terminalreporter.write_sep("=", "conformance")
        terminalreporter.write(text.getvalue())
        if self.unwritten:
            terminalreporter.write_line(self.unwritten)


def _changes_the_node(item: pytest.Item) -> bool:
    """Whether a case restarts the node or renews its certificate. Such cases run last.

    A node that does not come back takes no others along, and evidence that a renewal broke is charged by who renewed.
    """
    return isinstance(item, CaseItem) and not item.case.info.needs.isdisjoint({"restart", "certificate_control"})


def _restarts(case: Case) -> bool:
    return "restart" in case.info.needs


def _check_processes(config: pytest.Config, options: Options) -> None:
    if options.evidence and (options.jobs or 1) > 1:
        raise pytest.UsageError("--evidence is that of one node and one process: leave out --jobs")
    if hasattr(config, "workerinput") or config.getoption("dist", "no") != "no":
        raise pytest.UsageError("cases run in several processes with --jobs N, not with pytest-xdist (-n 0)")


def _report(session: pytest.Session, item: pytest.Item, following: pytest.Item | None) -> None:
    """Run and report one item, as pytest's own loop does."""
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)


def _seed(options: Options) -> str:
    """The seed that was given, that of the run of `--from`, or a new one."""
    if options.seed is not None:
        return options.seed
    return secrets.token_hex(4) if options.earlier is None else load_results(options.earlier).seed


def _handle(number: int, handler: Callable[[int, FrameType | None], object] | int | None) -> None:
    signal.signal(number, handler)


def _interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(signal.Signals(number).name)


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # it holds something
            folder.rmdir()


def _told(fault: Exception) -> str:
    return f"{fault.filename} cannot be written: {fault.strerror}" if isinstance(fault, OSError) else crash(fault)


def _with_hint(problem: Problem) -> str:
    return f"{problem}{f' ({problem.hint})' if problem.hint else ''}"
