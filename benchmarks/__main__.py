"""``python -m benchmarks [NAME ...]``: measure, print the rows; with ``--write`` put all into docs/benchmarks.md."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import (
    attacks,
    attestation,
    envelope,
    linear,
    matrix,
    node,
    payments,
    runs,
    start,
    suite,
    vectors,
    verification,
)
from benchmarks.timing import Row

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
HEAD = """\
# Benchmarks

`python -m benchmarks` times two things in turn within one run and compares the medians, so the ratios hold where
absolute times don't. `python -m benchmarks node payments` measures these parts alone, and `--help` names all of them.
`--write` renews the table below, with parts their rows alone.

Runs in a row ask the contract the same, and the in-memory chain answers a view that it has answered from memory until
the next block or second. Lists are asked for in pages of another size each time, so that they are evaluated anew.

A node's evidence is verified with nothing kept of what was read before. Beside the fetches, which every verification
needs, the verifier's own work is small. Without them it takes about three times as long as dcap-qvl alone: that library
is a part of one of sixteen rules, and what it lets through in chains, revocation lists, TCB info and quotes is read a
second time, in Python.

Attacks are measured each on a node of its own, as the 99th percentile of an honest caller's requests alone, in the
seconds in which the attack begins, and while it goes on. `python -m benchmarks.soak --minutes 10` measures apart how
much memory each thousand requests of a kind take.

What reads the texts of a node is measured on a text and on half of it, in processor time, for the shape of text that
takes it longest: a reader in proportion to the length has a ratio of 2.

| measured | ms | against | ms | ratio | at most |
|---|---|---|---|---|---|
"""


PARTS: dict[str, Callable[[], Sequence[Row]]] = {
    "node": node.rows,
    "payments": payments.rows,
    "runs": runs.rows,
    "envelope": envelope.rows,
    "suite": suite.rows,
    "matrix": matrix.rows,
    "attestation": attestation.rows,
    "vectors": vectors.rows,
    "verification": verification.rows,
    "attacks": attacks.rows,
    "start": start.rows,
    "linear": linear.rows,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when every ratio is within its bound, else 1; 2 for arguments that are wrong."""
    options = _options(arguments)
    table = [row for name in options.parts or PARTS for row in PARTS[name]()]
    text = "\n".join(map(_line, table))
    print(text)
    if options.write:
        _write(table, whole=not options.parts)
    return 0 if all(row.kept for row in table) else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time things in turn, and print the ratios.",
    )
    parser.add_argument("parts", nargs="*", metavar="NAME", help=f"measure only these: {', '.join(PARTS)}")
    parser.add_argument(
        "--write", action="store_true", help="renew the table of docs/benchmarks.md, or the rows of the parts"
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    return options


def _write(table: Sequence[Row], *, whole: bool) -> None:
    """Renew the page: all of it, or the rows of these names, new ones at the end of the table."""
    if whole:
        lines = [_line(row) for row in table]
    else:
        renewed = {row.what: _line(row) for row in table}
        kept = PAGE.read_text(encoding="utf-8").removeprefix(HEAD).partition("\n\n")[0].splitlines()
        lines = [renewed.pop(line.split(" | ")[0].removeprefix("| "), line) for line in kept] + list(renewed.values())
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    PAGE.write_text(HEAD + "\n".join(lines) + f"\n\nMeasured on {machine}.\n", encoding="utf-8")


def _line(row: Row) -> str:
    figures = f"{row.measured_ms:.2f} | {row.against} | {row.base_ms:.2f} | {row.ratio:.2f}"
    return f"| {row.what} | {figures} | {row.bound}{'' if row.kept else ', **over**'} |"


if __name__ == "__main__":
    sys.exit(main())
