"""``service-conformance run``: judge a node. A thin front of pytest, which the plugin makes run the packs."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from conformance.profile import Profile, load_profile
from conformance.report import ExitCode
from conformance.run.options import BUDGETS, REPORT, SPELLINGS, Options, add_options, at_least
from conformance.run.reporter import Reporter


def add_to(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("run", help="judge a node", allow_abbrev=False)
    groups = {title: parser.add_argument_group(title) for title in _titles()}
    add_options(lambda title: groups[title].add_argument, [name for name in SPELLINGS if name != "results"])
    groups[REPORT].add_argument(
        "--output", dest="results", metavar="DIR", type=_folder, help="write results.json and junit.xml there"
    )
    groups[BUDGETS].add_argument(
        "--jobs",
        metavar="N",
        type=at_least(1),
        help="run cases in N processes; by default 1, or one for each core where the bundled node runs every pack",
    )
    parser.set_defaults(handle=_run)


def _titles() -> list[str]:
    """Of the groups of options, in the order of the table."""
    return list(dict.fromkeys(spelling.group for spelling in SPELLINGS.values()))


def _folder(text: str) -> Path:
    """An argparse type: a folder to write into, which need not be there yet."""
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"is a folder to write into, and {path} is none")
    return path


def _run(arguments: argparse.Namespace) -> int:
    options = Options.of(arguments)
    profile = Profile() if options.profile is None else load_profile(options.profile)
    jobs = arguments.jobs or jobs_that_pay(options, bundled=options.node_url is None and profile.base_url is None)
    reporter = Reporter()
    status = pytest.main(pytest_arguments(options, jobs), plugins=[reporter])
    reporter.tell()
    if reporter.results is not None:
        return reporter.results.exit_code
    return ExitCode.USAGE if status == pytest.ExitCode.USAGE_ERROR else ExitCode.INTERRUPTED


MOST_JOBS = 8
"""Starting a process and a node for it takes 5 s of a core; a whole run about a minute."""


def jobs_that_pay(options: Options, *, bundled: bool) -> int:
    """How many processes to use unless the user says. Somebody's node gets one request at a time."""
    if not bundled or options.packs or options.cases:
        return 1
    return min(MOST_JOBS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


NOT_NEEDED = ("terminal", "cacheprovider", "logging", "unraisableexception", "threadexception")
"""Plugins of pytest that do nothing for packs, and cost something with every case; `Reporter` is the terminal's."""


def pytest_arguments(options: Options, jobs: int = 1) -> list[str]:
    """What pytest is called with: nothing of the caller's own pytest configuration has a say."""
    found = ["-c", os.devnull, "--rootdir", os.curdir, "--noconftest", "--assert=plain"]
    found += [argument for plugin in NOT_NEEDED for argument in ("-p", f"no:{plugin}")]
    found += ["--disable-plugin-autoload", "-p", "conformance.run.plugin", "--conformance", *options.arguments()]
    if jobs > 1:
        found += ["-p", "xdist", "-n", str(jobs), "--maxschedchunk=1"]
    if options.results is not None:
        found.append(f"--junitxml={options.results / 'junit.xml'}")
    return found
