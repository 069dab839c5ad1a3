"""``service-conformance vectors``: vectors for implementers, to be used without a node."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from conformance.commands import attestation_vectors
from conformance.commands.vector_files import check_files, write_files
from conformance.resources import fixtures, scenarios
from conformance.run.envelope_vectors import vector_files


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    kinds = parser.add_subparsers(title="kinds", metavar="KIND", required=True)
    typed_data = kinds.add_parser("typed-data", help="signed envelopes that a node must accept or refuse")
    typed_data.add_argument("--seed", default="0", help="what wallets, chains and times come from (default: 0)")
    what = typed_data.add_mutually_exclusive_group()
    what.add_argument("--output", type=Path, metavar="DIR", help="write the files into this folder")
    what.add_argument("--check", action="store_true", help="whether the shipped files are what this seed gives")
    typed_data.set_defaults(handle=_typed_data)
    attestation_vectors.add_to(kinds)


def _typed_data(arguments: argparse.Namespace) -> int:
    if arguments.output is None and not arguments.check:
        return _list()
    files = vector_files(scenarios(), arguments.seed)
    return check_files(_shipped(), files, arguments.seed) if arguments.check else write_files(arguments.output, files)


def _shipped() -> Path:
    return fixtures() / "typed_data"


def _list() -> int:
    for path in sorted(_shipped().glob("*.json")):
        results: Counter[str] = Counter()
        for group in json.loads(path.read_text(encoding="utf-8"))["test_groups"]:
            results.update(test["result"] for test in group["tests"])
        print(f"{path}  {results['valid']} valid, {results['invalid']} invalid")
    return 0
