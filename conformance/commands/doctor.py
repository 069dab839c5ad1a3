"""``service-conformance doctor``: try what a run needs, and say what is wrong and how to mend it."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.table import Table
from rich.text import Text

from conformance.console import CommandConsole
from conformance.doctor import State
from conformance.doctor.everything import examine
from conformance.endpoints.client import Target
from conformance.endpoints.patience import Patience
from conformance.problems import Problem
from conformance.profile import Profile, load_profile
from conformance.report import ExitCode
from conformance.run.options import add_option, node_address
from conformance.values.shown_text import cell

SECONDS = 5.0
"""For one answer."""
WIDE = 200
"""The width of the table in characters where the output is no terminal; longer texts are wrapped."""
STYLES = {State.WELL: "green", State.WRONG: "bold red", State.DOUBTFUL: "yellow", State.NOT_TRIED: "dim"}


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Makes one account and one group, and removes the group; mints some wallets."
        " Ends with 1 where something is wrong."
    )
    parser.add_argument("--profile", type=Path, metavar="FILE", help="the node's vendor profile")
    parser.add_argument("--node-url", type=node_address, metavar="URL", help="the node, without /core/v1")
    add_option(parser.add_argument, "ca_file")
    parser.set_defaults(handle=_doctor)


def _doctor(arguments: argparse.Namespace) -> int:
    profile = load_profile(arguments.profile) if arguments.profile else Profile()
    url = arguments.node_url or profile.base_url
    if url is None:
        raise Problem("which node? name it with --node-url, or in base_url of the profile")
    console = CommandConsole(highlight=False)
    if not console.is_terminal:  # a log wraps or scrolls by itself: nothing of an address or a member may be cut
        console.width = WIDE
    table = Table(box=None, pad_edge=False)
    for heading in ("check", "", "found", "mend"):
        table.add_column(heading, overflow="fold")
    wrong = 0
    with Target(url, profile.trusting(arguments.ca_file), patience=Patience(SECONDS)) as target:
        for finding in examine(target):
            texts = [Text(cell(text)) for text in (finding.check, finding.state, finding.found, finding.mend)]
            table.add_row(*texts, style=STYLES[finding.state])
            wrong += finding.state is State.WRONG
    console.print(table)
    console.print(f"{wrong} of {table.row_count} are wrong" if wrong else f"all of {table.row_count} are well")
    return ExitCode.FAILS if wrong else ExitCode.CONFORMS
