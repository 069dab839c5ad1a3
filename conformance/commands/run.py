"""``service-conformance run``: judge a node. A thin front of pytest, which the plugin makes run the packs."""

from __future__ import annotations

import argparse
import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from conformance.profile import load_profile
from conformance.profile.operations import CORE
from conformance.report import ExitCode, Results
from conformance.run.plugin import RESULTS

PASSED_ON = (
    "node_url",
    "profile",
    "pack",
    "pack_dir",
    "case",
    "cell",
    "seed",
    "known",
    "budget",
    "max_spend",
    "max_gas",
    "rate",
)
"""Options that the plugin takes under the same names."""


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
    node = parser.add_argument_group("the node")
    node.add_argument(
        "--node-url", metavar="URL", help="the node, without /core/v1; without it the bundled node is started"
    )
    node.add_argument(
        "--profile", metavar="FILE", type=Path, help="the vendor profile; without it the reference node's"
    )
    choice = parser.add_argument_group("the cases")
    choice.add_argument("--pack", metavar="GLOB", action="append", help="only these packs (repeatable)")
    choice.add_argument("--pack-dir", metavar="DIR", type=Path, action="append", help="packs of your own (repeatable)")
    choice.add_argument(
        "--case", metavar="GLOB", action="append", help="only these cases: pack::case[row] (repeatable)"
    )
    choice.add_argument("--full", action="store_true", help="every cell of a matrix, instead of those that are chosen")
    choice.add_argument(
        "--cell", metavar="GLOB", action="append", help="only these cells of a matrix (repeatable); see docs/packs.md"
    )
    choice.add_argument("--known", metavar="FILE", type=Path, help="known failures, with reason and link")
    choice.add_argument("--seed", help="repeats the random choices of an earlier run")
    pace = parser.add_argument_group("budgets")
    pace.add_argument(
        "--budget", metavar="SEQUENCES", type=int, help="play so many random sequences in each case of them"
    )
    pace.add_argument("--max-spend", metavar="CENTS", type=int, help="stop spending credits here")
    pace.add_argument(
        "--max-gas", metavar="GAS", type=int, help="stop sending transactions here, in units of gas on the chain"
    )
    pace.add_argument("--rate", metavar="N", type=float, help="at most so many requests a second")
    pace.add_argument("--jobs", metavar="N", type=int, help="run cases in N processes; above 1 it needs pytest-xdist")
    parser.add_argument("--output", metavar="DIR", type=Path, help="write results.json and junit.xml there")
    parser.set_defaults(handle=_run, complain=parser.error)


def _run(arguments: argparse.Namespace) -> int:
    _check(arguments)
    listener = Listener()
    status = pytest.main(pytest_arguments(arguments), plugins=[listener])
    if listener.results is not None:
        return listener.results.exit_code
    return ExitCode.USAGE if status == pytest.ExitCode.USAGE_ERROR else ExitCode.INTERRUPTED


def _check(arguments: argparse.Namespace) -> None:
    if arguments.profile is not None:
        load_profile(arguments.profile)
    if arguments.node_url is not None and not re.match(r"https?://[^/]", arguments.node_url):
        arguments.complain(f"--node-url begins with http:// or https://, unlike {arguments.node_url}")
    if arguments.node_url is not None and arguments.node_url.rstrip("/").endswith(CORE):
        arguments.complain(f"--node-url is the address without {CORE}, unlike {arguments.node_url}")
    if arguments.jobs is not None and arguments.jobs < 1:
        arguments.complain(f"--jobs has to be at least 1, not {arguments.jobs}")
    if _has_several_processes(arguments) and find_spec("xdist") is None:
        arguments.complain("--jobs above 1 needs pytest-xdist: pip install pytest-xdist")
    if arguments.output is not None and arguments.output.exists() and not arguments.output.is_dir():
        arguments.complain(f"--output is a folder to write into, and {arguments.output} is none")


def _has_several_processes(arguments: argparse.Namespace) -> bool:
    return arguments.jobs is not None and arguments.jobs > 1


NOT_NEEDED = ("cacheprovider", "logging", "unraisableexception", "threadexception")
"""Plugins of pytest that do nothing for packs, and cost something with every case."""


def pytest_arguments(arguments: argparse.Namespace) -> list[str]:
    """What pytest is called with: nothing of the caller's own pytest configuration has a say."""
    found = ["-c", os.devnull, "--rootdir", os.curdir, "--noconftest", "--assert=plain"]
    found += [argument for plugin in NOT_NEEDED for argument in ("-p", f"no:{plugin}")]
    found += ["--disable-plugin-autoload", "-p", "conformance.run.plugin", "--conformance"]
    for name in PASSED_ON:
        value = getattr(arguments, name)
        values = value if isinstance(value, list) else [] if value is None else [value]
        found += [f"--{name.replace('_', '-')}={one}" for one in values]
    if arguments.full:
        found.append("--full")
    if _has_several_processes(arguments):
        found += ["-p", "xdist", "-n", str(arguments.jobs)]
    if arguments.output is not None:
        found += [f"--results={arguments.output}", f"--junitxml={arguments.output / 'junit.xml'}"]
    return found
