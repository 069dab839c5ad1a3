"""Judges a node for ``service-conformance run``: a thin front of pytest, which the plugin makes run the packs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from conformance.doctor import first_look
from conformance.endpoints.client import Target
from conformance.endpoints.pace import Pace, lowest_rate
from conformance.endpoints.patience import Patience
from conformance.problems import Problem
from conformance.profile import Profile, load_profile
from conformance.report import ExitCode, make_writable
from conformance.run.journal import taken_up
from conformance.run.options import Options
from conformance.run.processes import CAN_FORK
from conformance.run.reporter import Reporter
from conformance.run.timer import MOST_MINUTES
from conformance.values.shown_text import plain


class FirstLook:
    """A plugin of pytest that ends the run in one line where nothing could come of it."""

    def __init__(self, options: Options, profile: Profile) -> None:
        self._options, self._profile = options, profile

    def pytest_sessionstart(self) -> None:
        """Look when options and packs are known to be right."""
        options, profile = self._options, self._profile
        pace = Pace(lowest_rate(options.rate, profile.limits.rate))
        patience = Patience(options.timeout, options.max_timeouts)
        patience.end_within(60 * (options.max_minutes or MOST_MINUTES))
        url, profile = options.node_url or str(profile.base_url), profile.trusting(options.ca_file)
        with Target(url, profile, pace=pace, patience=patience) as target:
            try:
                findings = list(first_look(target, spends=options.max_spend is None or options.max_spend > 0))
            except Exception as error:  # noqa: BLE001 - the cases tell more of what the node answers, and redact it
                print(f"{UNREADABLE} ({type(error).__name__}); the cases run all the same", file=sys.stderr)
                return
        if not patience.left(1.0):  # the timer ends the run, and says so
            return
        for finding in findings:
            if finding.ends_run:
                raise pytest.UsageError(f"{finding.found}; {finding.mend} ({HINT})")
            if finding.tells_run:
                print(f"service-conformance: {plain(finding.found)}; {finding.mend}", file=sys.stderr)


def run(options: Options, allure: Path | None = None, link_patterns: Sequence[str] = ()) -> int:
    """Judge a node and print the report; the exit code. ``allure``: the folder for Allure results.

    Raises Problem, LoadProblem for a profile that cannot be used, and OSError where the report cannot be written.
    """
    options, _ = taken_up(options)
    profile = Profile() if options.profile is None else load_profile(options.profile)
    bundled = options.node_url is None and profile.base_url is None
    options = replace(options, jobs=options.jobs or jobs_that_pay(options, bundled=bundled))
    if options.results is not None:
        options = replace(options, junit=options.junit or options.results / JUNIT_NAME)
    reporter = Reporter()
    plugins: list[object] = [reporter] if bundled else [reporter, FirstLook(options, profile)]
    status = pytest.main([*pytest_arguments(options), *allure_arguments(allure, link_patterns)], plugins=plugins)
    reporter.tell()
    if reporter.results is not None:
        return reporter.results.exit_code
    if status == pytest.ExitCode.USAGE_ERROR:
        return ExitCode.USAGE
    if status in {ExitCode.CRASHED, pytest.ExitCode.INTERNAL_ERROR}:
        return ExitCode.CRASHED
    print("service-conformance: the run ended before its first case: there are no results", file=sys.stderr)
    return ExitCode.INTERRUPTED


JUNIT_NAME = "junit.xml"
"""The file beside results.json, unless --junit names another."""
MOST_JOBS = 8
"""Each has a node, which takes 2 s of a core to start; a whole run takes about a minute of a core."""


def jobs_that_pay(options: Options, *, bundled: bool) -> int:
    """How many processes to use unless the user says. Evidence is of one node; another's gets one request at a time."""
    if not bundled or options.packs or options.cases or options.requirements or options.evidence or not CAN_FORK:
        return 1
    return min(MOST_JOBS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def allure_arguments(folder: Path | None, link_patterns: Sequence[str]) -> list[str]:
    """What makes pytest write Allure results, if they are asked for. Raises Problem without allure-pytest."""
    if folder is None:
        return []
    if find_spec("allure_pytest") is None:
        raise Problem("--alluredir needs allure-pytest: pip install 'service-conformance[allure]'")
    try:
        make_writable(folder)
    except OSError as problem:
        raise Problem(f"{folder} cannot be written into: {problem.strerror}") from problem
    patterns = [f"--allure-link-pattern={pattern}" for pattern in link_patterns]
    return ["-p", "allure_pytest", f"--alluredir={folder}", *patterns]


HINT = "`service-conformance doctor` tries all that a run needs"

UNREADABLE = "service-conformance: the first look at the node made the suite stumble"

NOT_NEEDED = ("terminal", "cacheprovider", "logging", "unraisableexception", "threadexception")
"""Plugins of pytest that do nothing for packs, and cost something with every case; `Reporter` is the terminal's."""


def pytest_arguments(options: Options) -> list[str]:
    """What pytest is called with: nothing of the caller's own pytest configuration has a say."""
    arguments = ["-c", os.devnull, "--rootdir", os.curdir, "--noconftest", "--assert=plain"]
    arguments += [argument for plugin in NOT_NEEDED for argument in ("-p", f"no:{plugin}")]
    arguments += ["--disable-plugin-autoload", "-p", "conformance.run.plugin", "--conformance", *options.arguments()]
    return arguments
