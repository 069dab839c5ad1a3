"""Directs a campaign: runs each case alone, then all under load, and writes the results."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import gevent
from gevent.event import Event
from locust.env import Environment
from locust.html import get_html_report
from locust.rpc.protocol import Message
from locust.runners import LocalRunner, MasterRunner
from locust.stats import stats_history

from conformance.console import CommandConsole
from conformance.endpoints.client import Target
from conformance.load.campaign import CAMPAIGN, Campaign, Role, start_process
from conformance.load.chaos import Chaos
from conformance.load.memory import MemoryWatch
from conformance.load.results import LOAD_NAME, LoadRecord, Sample, load_results
from conformance.load.statistics import operations, requests_so_far
from conformance.load.terminal import show
from conformance.load.users import CaseUser, Work
from conformance.report.write import make_writable, write_whole
from conformance.run.case import Case
from conformance.run.known import Known, load_known
from conformance.run.offered import not_offered
from conformance.run.options import Options
from conformance.run.runner import run_case
from conformance.run.selection import Selection
from conformance.values.shown_text import escaped
from conformance.verdict import Verdict

HTML_NAME = "locust.html"
STOP_SECONDS = 90.0
"""Seconds in which users may finish their current cases."""
JOIN_SECONDS = 60.0
"""Seconds in which the campaign's own workers have to load their packs."""
LOOK_SECONDS = 0.5
"""Seconds between two samples of the campaign."""


class Direction:
    """One campaign."""

    def __init__(self, campaign: Campaign, selection: Selection, target: Target, chaos: Chaos | None = None) -> None:
        if campaign.options.results is not None:
            make_writable(campaign.options.results, LOAD_NAME, HTML_NAME)
        self._campaign = campaign
        self._target = target
        self._chaos = chaos
        self._selection = selection
        self._known = load_known(campaign.options.known) if campaign.options.known else Known()
        self._record = LoadRecord(campaign, target.profile, target.base_url, datetime.now(UTC))
        self._environment = Environment(user_classes=[CaseUser])
        self._runner: LocalRunner | MasterRunner = self._make_runner()
        self._begun = 0
        self._children: list[subprocess.Popen[bytes]] = []
        self._over = Event()
        self._memory: MemoryWatch | None = None

    def run(self) -> int:
        """Run the whole campaign and return its exit code."""
        gevent.signal_handler(signal.SIGTERM, self._interrupt, "SIGTERM or Ctrl-C")
        cases = self._cases_to_run()
        try:
            self._start_workers()
            sound = self._run_alone(cases)
            if sound and self._began(sound):
                self._watch()
        finally:
            self._end()
        if self._chaos and self._record.load_began:
            self._look_what_is_left(self._chaos, sound)
        return self._tell()

    def _look_what_is_left(self, chaos: Chaos, cases: Sequence[Case]) -> None:
        """Run the cases alone again, unless the campaign was interrupted, then audit."""
        chaos.settle()
        again = () if self._record.interrupted else cases
        self._record.chaos = chaos.result([run_case(case, self._target) for case in again])

    def _interrupt(self, why: str) -> None:
        self._record.interrupted = self._record.interrupted or why
        self._over.set()

    def _cases_to_run(self) -> list[Case]:
        """The selected cases, without those that the profile rules out or that must run alone."""
        cases: list[Case] = []
        for case in filter(self._selection.wants, self._selection.loaded):
            why = not_offered(case, self._target) or ("it has to run alone" if case.info.alone else "")
            if why:
                self._record.left_out[case.id] = why
            else:
                cases.append(case)
        return cases

    def _run_alone(self, cases: Sequence[Case]) -> list[Case]:
        """Run each case once, alone. Returns those that pass."""
        sound: list[Case] = []
        for case in cases:
            if self._over.is_set():
                break
            outcome = self._record.alone[case.id] = self._known.apply(run_case(case, self._target))
            if outcome.verdict is Verdict.PASS:
                sound.append(case)
        return sound

    # ------------------------------------------------------------------------------------------------------- workers

    def _make_runner(self) -> LocalRunner | MasterRunner:
        campaign = self._campaign
        if not campaign.workers:
            return self._environment.create_local_runner()
        port = campaign.port if campaign.role is Role.MASTER else 0
        runner = self._environment.create_master_runner(campaign.host, port)
        self._environment.events.worker_report.add_listener(self._take_report)
        runner.register_message("begun", self._note_begun)
        return runner

    def _start_workers(self) -> None:
        if isinstance(self._runner, MasterRunner) and self._campaign.role is not Role.MASTER:
            joining = replace(self._campaign, role=Role.WORKER, port=self._runner.server.port)
            self._children = [start_process(joining) for _ in range(self._campaign.workers)]

    def _note_begun(self, environment: Environment, msg: Message) -> None:  # noqa: ARG002 - as Locust calls it
        if msg.data["lacks"]:
            self._interrupt(f"a worker has not the case {msg.data['lacks'][0]}: give it the same --pack and --pack-dir")
        self._begun += 1

    def _take_report(self, client_id: str, data: dict[str, object]) -> None:  # noqa: ARG002 - as Locust calls it
        self._record.tally.merge(data.get("cases", {}))
        if data.get("ended"):
            self._interrupt(str(data["ended"]))

    def _workers_do(self, condition: Callable[[], bool]) -> bool:
        """Wait for a condition; False where the campaign ends first. Only workers of its own have a time limit."""
        until = time.monotonic() + JOIN_SECONDS
        while not condition() and not self._over.is_set():
            lost = any(child.poll() is not None for child in self._children)
            if lost or (self._children and time.monotonic() > until):
                self._interrupt("a worker did not come up")
            gevent.sleep(LOOK_SECONDS)
        return not self._over.is_set()

    # ------------------------------------------------------------------------------------------------------ the load

    def _began(self, cases: Sequence[Case]) -> bool:
        """Start the users over the first half of the time. Returns whether they started."""
        campaign, runner = self._campaign, self._runner
        if isinstance(runner, MasterRunner):
            if not self._workers_do(lambda: len(runner.clients.ready) >= campaign.workers):
                return False
            message = CAMPAIGN.dump_python(replace(campaign, options=self._options_left()), mode="json")
            runner.send_message("begin", {"campaign": message, "cases": [case.id for case in cases]})
            if not self._workers_do(lambda: self._begun >= campaign.workers):
                return False
        else:
            CaseUser.work = Work(cases, self._target, self._environment, self._record.tally, self._chaos)
            self._target.timings = CaseUser.work.note_timing
            if self._chaos:
                self._chaos.start()
        self._memory = MemoryWatch(campaign.node_pid) if campaign.node_pid is not None else None
        self._record.load_began = time.monotonic()
        gevent.spawn(stats_history, runner)
        runner.start(campaign.users, campaign.users / (campaign.seconds / 2))
        return True

    def _options_left(self) -> Options:
        """The options with what is left of the budgets."""
        options, target = self._campaign.options, self._target
        spend = None if options.max_spend is None else max(0, options.max_spend - target.budget.spent)
        gas = None if options.max_gas is None else max(0, options.max_gas - target.gas.spent)
        return replace(options, max_spend=spend, max_gas=gas)

    def _watch(self) -> None:
        """Sample the load until the time is up or the campaign ends early."""
        record, until = self._record, self._record.load_began + self._campaign.seconds
        while not self._over.is_set() and time.monotonic() < until:
            self._over.wait(min(LOOK_SECONDS, max(0.0, until - time.monotonic())))
            now, rate = time.monotonic(), self._runner.stats.total.current_rps
            record.samples.append(Sample(seconds=now - record.load_began, users=self._runner.user_count, rate=rate))
            self._look_at_memory()
            if isinstance(self._runner, LocalRunner) and CaseUser.work.ended:
                self._interrupt(CaseUser.work.ended)
            if any(child.poll() is not None for child in self._children):
                self._interrupt("a worker died")
            if self._campaign.until_flip and record.flipped:
                break
        record.load_ended = time.monotonic()

    def _look_at_memory(self) -> None:
        memory = self._memory
        if memory is not None and not memory.is_warm and self._runner.user_count >= self._campaign.users:
            memory.note_warm(requests_so_far(self._runner.stats))

    def _end(self) -> None:
        """Let the users finish their cases, then end all processes."""
        if self._chaos:
            self._chaos.stop()
        if isinstance(self._runner, MasterRunner):
            self._runner.send_message("halt", {})
        elif hasattr(CaseUser, "work"):
            CaseUser.work.stopping = True
        until = time.monotonic() + STOP_SECONDS
        while self._runner.user_count and time.monotonic() < until:
            gevent.sleep(LOOK_SECONDS)
        self._runner.quit()
        for child in self._children:
            child.terminate()
            child.wait()

    def _tell(self) -> int:
        record, folder = self._record, self._campaign.options.results
        record.operations = operations(self._runner.stats)
        if self._memory is not None:
            record.memory = self._memory.result(requests_so_far(self._runner.stats))
        if folder is not None:
            self._try_to_write(folder / HTML_NAME, get_html_report(self._environment, show_download_link=False))
        results = load_results(record, self._campaign.options.to_repeat_case())
        if folder is not None:
            text = escaped(results.model_dump_json(indent=2) + "\n")
            if not self._try_to_write(folder / LOAD_NAME, text):
                (folder / LOAD_NAME).unlink(missing_ok=True)  # an earlier campaign's would be taken for this one's
                results = load_results(record, self._campaign.options.to_repeat_case())
        show(results, CommandConsole(soft_wrap=True))
        return results.exit_code

    def _try_to_write(self, path: Path, text: str) -> bool:
        """Write a report. Where that fails, the campaign gives no verdict, and its results say why."""
        try:
            write_whole(path, text)
        except OSError as problem:
            self._record.interrupted = self._record.interrupted or f"{path} cannot be written: {problem.strerror}"
            return False
        return True
