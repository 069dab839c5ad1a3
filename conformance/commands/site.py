"""``service-conformance site``: the results of many runs as a static site."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.problems import Problem
from conformance.report.site import collect, write_site
from conformance.run.options import folder


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Runs lie at DIR/NODE/VERSION/results.json; without VERSION the day of the run stands for it."
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="a folder with runs of nodes")
    parser.add_argument("-o", "--output", required=True, type=folder, metavar="OUT", help="the folder of the site")
    parser.set_defaults(handle=_site)


def _site(arguments: argparse.Namespace) -> int:
    board = collect(arguments.folders)
    try:
        index = write_site(board, arguments.output)
    except OSError as problem:
        raise Problem(f"{problem.filename} cannot be written: {problem.strerror}") from problem
    print(f"nodes: {len(board.nodes)}, runs: {sum(len(node.runs) for node in board.nodes)}, page: {index}")
    return 0
