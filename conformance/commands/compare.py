"""``service-conformance compare``: what changed between two runs, as Markdown."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.ending import print_document
from conformance.report import ExitCode
from conformance.report.compare import Change, compare, markdown
from conformance.report.load import load_results

WORSE = {Change.BROKEN, Change.LOST, Change.GONE}


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Ends with 1 where a requirement is broken, no longer shown or gone."
    for name, whose in (("old", "the earlier run's"), ("new", "the later run's")):
        parser.add_argument(name, type=Path, metavar=name.upper(), help=f"{whose} results.json, or its folder")
    parser.set_defaults(handle=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    before, after = load_results(arguments.old), load_results(arguments.new)
    changed = compare(before, after)
    print_document(markdown(before, after, changed))
    return ExitCode.FAILS if any(change.change in WORSE for change in changed) else ExitCode.CONFORMS
