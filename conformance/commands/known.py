"""``service-conformance known``: write a list of known failures from the results of a run."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import yaml

from conformance.ending import print_document
from conformance.problems import NothingSelected
from conformance.report.load import load_results
from conformance.report.results import Results
from conformance.verdict import Verdict

MOST_CHARACTERS = 200
"""Of the reason that an entry takes over from the results."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    made = verbs.add_parser("from", help="print an entry for each case that failed in a run", allow_abbrev=False)
    made.add_argument("results", type=Path, metavar="RESULTS", help="results.json, or the folder that holds it")
    made.add_argument("--link", type=_link, required=True, metavar="URL", help="where the failures are tracked")
    made.add_argument("--reason", metavar="TEXT", help="why they fail; without it what each case says")
    made.add_argument(
        "--expires", type=_future_day, metavar="DAY", help="the last day on which the list counts, 2027-01-31"
    )
    made.set_defaults(handle=_from)


def _link(text: str) -> str:
    if not re.fullmatch(r"https?://\S+", text):
        raise argparse.ArgumentTypeError(f"begins with http:// or https://, unlike {text}")
    return text


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(f"must be a day such as 2027-01-31, unlike {text}") from problem


def _future_day(text: str) -> date:
    day = _day(text)
    if day < datetime.now(UTC).date():
        raise argparse.ArgumentTypeError(f"{text} is in the past: the list would not count")
    return day


def _from(arguments: argparse.Namespace) -> int:
    results = load_results(arguments.results)
    entries = list(_entries(results, arguments))
    if not entries:
        raise NothingSelected(f"no case failed in {arguments.results}: there is nothing to list")
    print_document(yaml.safe_dump({"known": entries}, sort_keys=False, allow_unicode=True, width=120))
    return 0


def _entries(results: Results, arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    for case in results.cases:
        if case.verdict is Verdict.FAIL:
            entry = {"case": case.case, "reason": arguments.reason or _shortened(case.reason), "link": arguments.link}
            yield entry | ({"expires": arguments.expires} if arguments.expires else {})


def _shortened(reason: str) -> str:
    text = " ".join(reason.split())
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
