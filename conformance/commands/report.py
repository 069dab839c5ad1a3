"""``service-conformance report``: write the results of an earlier run in another form."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.problems import Problem
from conformance.report.load import load_results
from conformance.report.renderers import write_reports
from conformance.run.options import REPORT_FORMS, SPELLINGS, Options


def add_to(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("report", help="show the results of a run as a page, Markdown or a badge")
    parser.add_argument("results", type=Path, metavar="RESULTS", help="results.json, or the folder that holds it")
    for form in REPORT_FORMS:
        option = SPELLINGS[form]
        parser.add_argument(option.flag, dest=form, type=option.type, metavar=option.metavar, help=option.help)
    parser.set_defaults(handle=_report)


def _report(arguments: argparse.Namespace) -> int:
    files = Options.of(arguments).reports
    if not files:
        raise Problem(
            f"nothing to write: name a file with {' or '.join(SPELLINGS[form].flag for form in REPORT_FORMS)}"
        )
    results = load_results(arguments.results)
    try:
        write_reports(results, files)
    except OSError as problem:
        raise Problem(f"{problem.filename} cannot be written: {problem.strerror}") from problem
    return 0
