"""``service-conformance run``: judge a node. A thin front of pytest, which the plugin makes run the packs."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from conformance.profile import load_profile
from conformance.report import ExitCode, Results
from conformance.run.options import REPORT, SPELLINGS, Options, add_options, at_least
from conformance.run.plugin import RESULTS


class Listener:
    """Takes the results from the pytest session when it ends."""

    def __init__(self) -> None:
        self.results: Results | None = None

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """The last that a session calls."""
        self.results = config.stash.get(RESULTS, None)


def add_to(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("run", help="judge a node", allow_abbrev=False)
    groups = {title: parser.add_argument_group(title) for title in _titles()}
    add_options(lambda title: groups[title].add_argument, [name for name in SPELLINGS if name != "results"])
    groups[REPORT].add_argument(
        "--output", dest="results", metavar="DIR", type=_folder, help="write results.json and junit.xml there"
    )
    parser.add_argument(
        "--jobs", metavar="N", type=at_least(1), help="run cases in N processes; above 1 it needs pytest-xdist"
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
    if options.profile is not None:
        load_profile(options.profile)
    listener = Listener()
    status = pytest.main(pytest_arguments(options, arguments.jobs or 1), plugins=[listener])
    if listener.results is not None:
        return listener.results.exit_code
    return ExitCode.USAGE if status == pytest.ExitCode.USAGE_ERROR else ExitCode.INTERRUPTED


NOT_NEEDED = ("cacheprovider", "logging", "unraisableexception", "threadexception")
"""Plugins of pytest that do nothing for packs, and cost something with every case."""


def pytest_arguments(options: Options, jobs: int = 1) -> list[str]:
    """What pytest is called with: nothing of the caller's own pytest configuration has a say."""
    found = ["-c", os.devnull, "--rootdir", os.curdir, "--noconftest", "--assert=plain"]
    found += [argument for plugin in NOT_NEEDED for argument in ("-p", f"no:{plugin}")]
    found += ["--disable-plugin-autoload", "-p", "conformance.run.plugin", "--conformance", *options.arguments()]
    if jobs > 1:
        found += ["-p", "xdist", "-n", str(jobs)]
    if options.results is not None:
        found.append(f"--junitxml={options.results / 'junit.xml'}")
    return found
