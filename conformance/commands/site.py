"""``service-conformance site``: the results of many runs as a static site."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from conformance.problems import Problem, require_verifier
from conformance.report.site import collect, write_site
from conformance.report.site.board import MarkReader
from conformance.run.options import folder


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Runs lie at DIR/NODE/VERSION/results.json; without VERSION the day of the run stands for it."
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="a folder with runs of nodes")
    parser.add_argument(
        "--signer",
        type=Path,
        action="append",
        default=[],
        metavar="PEM",
        help="public key: mark runs whose statement.json, beside results.json, is of this signer (repeatable)",
    )
    parser.add_argument("-o", "--output", required=True, type=folder, metavar="OUT", help="the folder of the site")
    parser.set_defaults(handle=_site)


def _site(arguments: argparse.Namespace) -> int:
    board = collect(arguments.folders, _marks(arguments.signer)) if arguments.signer else collect(arguments.folders)
    try:
        index = write_site(board, arguments.output)
    except OSError as problem:
        raise Problem(f"{problem.filename} cannot be written: {problem.strerror}") from problem
    print(f"nodes: {len(board.nodes)}, runs: {sum(len(node.runs) for node in board.nodes)}, page: {index}")
    return 0


def _marks(files: Sequence[Path]) -> MarkReader:
    require_verifier()
    # Only a site with marks pays for the verifier.
    from conformance.report.site.mark import mark_reader  # noqa: PLC0415
    from conformance.verify import Signer  # noqa: PLC0415
    from conformance.verify.dsse import read_public_key  # noqa: PLC0415

    signers = []
    for file in files:
        try:
            body = file.read_bytes()
            read_public_key(body)
        except OSError as problem:
            raise Problem(f"--signer {file}: cannot be read: {problem.strerror}") from problem
        except ValueError as problem:
            raise Problem(f"--signer {file}: {problem}") from problem
        signers.append(Signer(body, file.stem))
    return mark_reader(signers)
