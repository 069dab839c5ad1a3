"""``service-conformance report``: write the results of an earlier run in another form."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.problems import Problem
from conformance.report.load import load_results
from conformance.report.renderers import RENDERERS, write_reports
from conformance.report.replay import write_replays
from conformance.run.options import SPELLINGS, Options

REPLAY = "replay"
"""The option that names the folder for the scripts of failing cases."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("results", type=Path, metavar="RESULTS", help="results.json, or the folder that holds it")
    for form in (*RENDERERS, REPLAY):
        option = SPELLINGS[form]
        parser.add_argument(option.flag, dest=form, type=option.type, metavar=option.metavar, help=option.help)
    parser.set_defaults(handle=_report)


def _report(arguments: argparse.Namespace) -> int:
    options = Options.of(arguments)
    files = options.reports(RENDERERS)
    if not files and not options.replay:
        flags = [SPELLINGS[form].flag for form in RENDERERS]
        raise Problem(
            f"nothing to write: name a file with {' or '.join(flags)}, or a folder with {SPELLINGS[REPLAY].flag}"
        )
    results = load_results(arguments.results)
    try:
        write_reports(results, files)
        if options.replay:
            write_replays(results, options.replay)
    except OSError as problem:
        raise Problem(f"{problem.filename} cannot be written: {problem.strerror}") from problem
    return 0
