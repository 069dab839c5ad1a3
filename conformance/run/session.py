"""The pytest session of a conformance run: the node, the selection, the results.

Under pytest-xdist the controller starts the nodes, one for each worker, and tells the workers where they are; outcomes
come back in the reports' user properties.
"""

from __future__ import annotations

import gc
import secrets
from collections.abc import Generator, Iterable
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Protocol

import pytest
from rich.console import Console

from conformance.endpoints.bundled import BundledNodes
from conformance.endpoints.client import Target
from conformance.endpoints.funding import funder_of
from conformance.endpoints.pace import Budget, GasBudget, Pace, lowest_rate
from conformance.problems import Problem
from conformance.profile import Profile, load_profile, load_ready_file
from conformance.report import ExitCode, RunRecord, make_writable, results_of, show, write_results
from conformance.report.write import MATRIX_NAME, RESULTS_NAME
from conformance.run.costs import cheapest, cost
from conformance.run.items import OUTCOME, OUTCOMES, RUNNING, CaseItem, PackFile
from conformance.run.known import Known, load_known
from conformance.run.listing import ListedCase
from conformance.run.options import Options
from conformance.run.plugin import RESULTS
from conformance.run.runner import not_offered
from conformance.run.selection import select
from conformance.verdict import Outcome, Verdict

WORDS = {
    Verdict.NOT_OFFERED: ("not offered", "o", "NOT OFFERED"),
    Verdict.KNOWN: ("known", "k", "KNOWN"),
    Verdict.INCONCLUSIVE: ("inconclusive", "?", "INCONCLUSIVE"),
}


class Gateway(Protocol):
    """What xdist gives of the connection to a worker."""

    id: str


class XdistNode(Protocol):
    """What xdist gives of a worker."""

    gateway: Gateway
    workerinput: dict[str, object]


class ConformanceSession:
    """One run of packs under pytest, in the controller or in a worker."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        config.stash[RUNNING] = self
        self.worker: dict[str, object] | None = getattr(config, "workerinput", None)
        self.options = Options.of(config.option)
        if self.options.results and not self.worker:
            _make_writable(self.options.results)
        given = [Path(str(path).partition("::")[0]) for path in config.getoption("file_or_dir") or []]
        try:
            self.profile = load_profile(self.options.profile) if self.options.profile else Profile()
            self.node_url = self.options.node_url or self.profile.base_url
            self._nodes = self._started_nodes()
            self.selection = select(self.options, given)
            self.known = load_known(self.options.known) if self.options.known else Known()
        except Problem as problem:
            raise pytest.UsageError(_told(problem)) from problem
        if not given:
            config.args = [str(path) for path in self.selection.chosen_files]
        self.seed = str(self.worker["conformance_seed"]) if self.worker else self.options.seed or secrets.token_hex(4)
        self.ready_file: Path | None = None
        self.outcomes: dict[str, Outcome] = {}
        self.awaited: set[str] = set()
        """The cases that were to run."""
        self.unwritten = ""
        """Why there is no results.json."""
        self._crashed = ""
        """The last words of a worker that crashed."""
        self._target: Target | None = None
        self._began = datetime.now(UTC)

    # ------------------------------------------------------------------------------------------------- the node

    def _started_nodes(self) -> BundledNodes | None:
        """Bundled nodes when no other is named, one for each process; they get ready while the packs are loaded."""
        if self.worker or self.node_url is not None or self.config.getoption("collectonly"):
            return None
        nodes = BundledNodes(_processes(self.config))
        self.config.add_cleanup(nodes.stop)
        return nodes

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Wait for the bundled nodes; a worker is told by its controller which one is its own."""
        try:
            if self.worker:
                told = self.worker["conformance_ready_file"]
                self.ready_file = Path(str(told)) if told else None
            elif self._nodes is not None:
                self._nodes.wait_until_ready()
                self.ready_file = self._nodes.all[0].ready_file
            if self.ready_file is not None:
                self._adopt(load_ready_file(self.ready_file))
            funder_of(self.profile)
        except Problem as problem:
            raise pytest.UsageError(_told(problem)) from problem

    def _adopt(self, ready: Profile) -> None:
        """Take the address of the started node, and its profile unless the user gave one."""
        self.node_url = ready.base_url
        if self.options.profile is None:
            self.profile = ready

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: XdistNode) -> None:
        """Tell a worker of xdist where its node is."""
        node.workerinput["conformance_seed"] = self.seed
        own = "" if self._nodes is None else self._nodes.assign(node.gateway.id).ready_file
        node.workerinput["conformance_ready_file"] = str(own)

    def target(self) -> Target:
        """The node under test; a worker has its share of the budgets."""
        if self._target is None:
            share = int(str(self.worker["workercount"])) if self.worker else 1
            spend, gas = self.options.max_spend, self.options.max_gas
            rate = lowest_rate(self.options.rate, self.profile.limits.rate)
            self._target = Target(
                str(self.node_url),
                self.profile,
                seed=self.seed,
                pace=Pace(None if rate is None else rate / share),
                budget=Budget(None if spend is None else spend // share),
                extent=self.options.extent,
                gas=GasBudget(None if gas is None else gas // share),
                shared=share > 1 and self.ready_file is None,
            )
            self._target.ends_with_run = self.ready_file is not None
        return self._target

    # ----------------------------------------------------------------------------------------------- collection

    def pytest_report_header(self) -> str:
        """What the run is about."""
        return f"conformance: {self.about()}"

    def about(self) -> str:
        """Which node is judged, and the seed."""
        started = ""
        if self._nodes is not None:
            others = len(self._nodes.all) - 1
            started = f" (bundled, started for this run{f', with {others} more' if others else ''})"
        return f"node {self.node_url}{started}, seed {self.seed}"

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Packs, which are nobody else's: pytest itself would take a pack in Python for a module of tests.

        Pytest's own ids of files outside its root folder are not unique; with the pack's name, node ids are case ids.
        """
        found = yield
        if file_path.resolve() not in self.selection.chosen_files:
            return found
        return [PackFile.from_parent(parent, path=file_path, nodeid=file_path.stem)]

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the cases that the options select; where several processes run them, begin with the longest."""
        wanted = [item.case for item in items if isinstance(item, CaseItem) and self.selection.wants(item.case)]
        ids = {case.id for case in wanted}
        if self.options.quick:
            ids = cheapest(wanted, lambda case: not not_offered(case, self.target()))
        left_out = [item for item in items if isinstance(item, CaseItem) and item.case.id not in ids]
        if left_out:
            items[:] = [item for item in items if item not in set(left_out)]
            config.hook.pytest_deselected(items=left_out)
        if self.worker:
            items.sort(key=lambda item: -cost(item.case.id) if isinstance(item, CaseItem) else 0)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note which cases have to report."""
        self.awaited |= {item.case.id for item in session.items if isinstance(item, CaseItem)}
        gc.collect()
        gc.freeze()  # they stay to the end: the collector of garbage need not look through them again and again

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Iterable[str]) -> None:
        """The same from a worker of xdist."""
        self.awaited |= {case.id for case in self.selection.loaded} & set(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: XdistNode, error: object) -> None:
        """Note that a worker of xdist came to a bad end: what it should have told is missing."""
        if self._nodes is not None:
            self._nodes.release(node.gateway.id)
        if error:
            self._crashed = str(error).strip().splitlines()[-1]

    # -------------------------------------------------------------------------------------------------- results

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the outcome out of a report, wherever the case ran."""
        self._outcome_in(report)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """The verdict's own word where pytest's would mislead."""
        outcome = self._outcome_in(report)
        return WORDS.get(outcome.verdict) if outcome else None

    def _outcome_in(self, report: pytest.TestReport) -> Outcome | None:
        """The outcome that a report brings; read once, for several hooks ask."""
        if report.when != "call":
            return None
        if report.nodeid not in self.outcomes:
            for name, value in report.user_properties:
                if name == OUTCOME:
                    self.outcomes[report.nodeid] = OUTCOMES.validate_json(str(value))
        return self.outcomes.get(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Stop the nodes and make the results; they decide the exit status."""
        gc.unfreeze()
        if self._target:
            self._target.close()
        if self._nodes is not None:
            self._nodes.stop()
        if self.worker or self.config.getoption("collectonly") or exitstatus == pytest.ExitCode.USAGE_ERROR:
            return
        results = results_of(self._record(exitstatus))
        if self.options.results:
            try:
                write_results(results, self.options.results)
            except OSError as problem:
                self.unwritten = f"{self.options.results} cannot be written: {problem.strerror}"
                results = results.model_copy(update={"exit_code": ExitCode.INTERRUPTED})
        self.config.stash[RESULTS] = results
        if results.exit_code:
            session.exitstatus = int(results.exit_code)

    def _record(self, exitstatus: int) -> RunRecord:
        cases = self.selection.every_case()
        outcomes = tuple(self.outcomes.values())
        return RunRecord(
            base_url=str(self.node_url),
            bundled=self._nodes is not None,
            profile=self.profile,
            profile_source=str(self.options.profile or "reference"),
            seed=self.seed,
            started=self._began,
            finished=datetime.now(UTC),
            outcomes=outcomes,
            checks=_checks(cases),
            rerun=self.options.to_repeat_case(),
            faults=self.known.faults(cases, outcomes),
            interrupted=self._interrupted(exitstatus),
            quick=self.options.quick,
        )

    def _interrupted(self, exitstatus: int) -> str:
        missing = len(self.awaited - self.outcomes.keys())
        if self._crashed and (missing or not self.awaited):
            return f"a worker ended early ({self._crashed}); {missing or 'all'} cases did not report"
        if exitstatus in {pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR}:
            return f"pytest ended early (status {int(exitstatus)}); {missing} cases did not report"
        return f"{missing} of {len(self.awaited)} cases did not report" if missing else ""

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


def _processes(config: pytest.Config) -> int:
    """How many processes run cases."""
    return len(config.getoption("tx")) if config.getoption("dist", "no") != "no" else 1


def _make_writable(folder: Path) -> None:
    try:
        make_writable(folder, RESULTS_NAME, MATRIX_NAME)
    except OSError as problem:
        raise pytest.UsageError(f"{folder} cannot be written into: {problem.strerror}") from problem


def _told(problem: Problem) -> str:
    return f"{problem}{f' ({problem.hint})' if problem.hint else ''}"


def _checks(cases: Iterable[ListedCase]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for case in cases:
        for requirement in case.requirements:
            found.setdefault(requirement, []).append(case.id)
    return {requirement: tuple(names) for requirement, names in found.items()}
