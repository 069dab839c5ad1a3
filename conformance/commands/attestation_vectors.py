"""``service-conformance vectors attestation``: list, write and check the vectors, ask verifiers, answer questions."""

from __future__ import annotations

import argparse
from collections import Counter
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path

from conformance.attestation_vectors.against import PATIENCE, Comparison, Verdict, compare, differences, markdown
from conformance.attestation_vectors.files import Vector, folder, shipped
from conformance.attestation_vectors.protocol import KINDS
from conformance.commands.vector_files import check_files, write_files
from conformance.ending import print_document
from conformance.problems import Problem, require_verifier
from conformance.report import ExitCode


def add_to(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the kind of vectors."""
    parser = kinds.add_parser("attestation", help="quotes and evidence that a verifier must accept or refuse")
    parser.add_argument("--seed", default="0", help="what keys and names come from (default: 0)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--output", type=Path, metavar="DIR", help="write the files into this folder")
    what.add_argument("--check", action="store_true", help="whether the shipped files are what this seed gives")
    what.add_argument(
        "--against", action="append", metavar="COMMAND", help="ask a verifier of every vector; again for a further one"
    )
    what.add_argument("--answer", action="store_true", help="answer such questions with this package's own verifier")
    parser.add_argument("--only", metavar="GLOB", default="*", help="vectors with such ids, e.g. 'caa/*'")
    parser.add_argument("--kind", choices=KINDS, help="vectors of this kind alone")
    parser.add_argument("--patience", type=float, default=PATIENCE, metavar="SECONDS", help="for one vector")
    parser.add_argument("--table", action="store_true", help="print a table in Markdown instead of each difference")
    parser.set_defaults(handle=_handle)


def _handle(arguments: argparse.Namespace) -> int:
    if arguments.answer:
        require_verifier()
        import_module("conformance.attestation_vectors.answer").serve()
        return ExitCode.CONFORMS
    if arguments.output is not None or arguments.check:
        # The generator takes reference nodes apart, so it is not imported unless it is asked for.
        files: dict[str, str] = import_module("conformance.selftest.attestation").vector_files(arguments.seed)
        return check_files(folder(), files, arguments.seed) if arguments.check else write_files(arguments.output, files)
    kinds = [arguments.kind] if arguments.kind else KINDS
    vectors = [vector for vector in shipped() if fnmatchcase(vector.id, arguments.only) and vector.kind in kinds]
    if not vectors:
        raise Problem(f"no vector has an id as {arguments.only}; the list without --only and --kind names the files")
    return _against(arguments, vectors) if arguments.against else _list(vectors)


def _list(vectors: list[Vector]) -> int:
    counts = Counter((vector.file, vector.result) for vector in vectors)
    for file in sorted({vector.file for vector in vectors}):
        print(f"{folder() / file}  {counts[file, 'accepted']} accepted, {counts[file, 'refused']} refused")
    return ExitCode.CONFORMS


def _against(arguments: argparse.Namespace, vectors: list[Vector]) -> int:
    comparisons = [compare(command, vectors, arguments.patience) for command in arguments.against]
    if arguments.table:
        print_document(markdown(comparisons))
    for comparison in () if arguments.table else comparisons:
        for text in differences(comparison):
            print(text)
    return max((_code(comparison) for comparison in comparisons), key=_SEVERITY.index)


_SEVERITY = (ExitCode.CONFORMS, ExitCode.NOTHING_SELECTED, ExitCode.INCONCLUSIVE, ExitCode.FAILS)
"""What counts most comes last."""


def _code(comparison: Comparison) -> ExitCode:
    if comparison.having(Verdict.TOO_GENEROUS, Verdict.TOO_STRICT):
        return ExitCode.FAILS
    if comparison.having(Verdict.CRASHED, Verdict.TIMED_OUT):
        return ExitCode.INCONCLUSIVE
    return ExitCode.CONFORMS if comparison.having(Verdict.AGREES) else ExitCode.NOTHING_SELECTED
