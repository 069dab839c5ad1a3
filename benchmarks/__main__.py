"""``python -m benchmarks``: measure, print the table; with ``--write`` put it into docs/benchmarks.md."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from benchmarks import attestation, envelope, matrix, node, payments, runs, suite, vectors, verification
from benchmarks.timing import Row

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
HEAD = """\
# Benchmarks

`python -m benchmarks` times two things in turn within one run and compares the medians, so the ratios hold where
absolute times don't. `--write` renews the table below.

Runs in a row ask the contract the same, and the in-memory chain answers a view that it has answered from memory until
the next block or second. Lists are asked for in pages of another size each time, so that they are evaluated anew.

A node's evidence is verified with nothing kept of what was read before. Beside the fetches, which every verification
needs, the verifier's own work is small. Without them it takes about three times as long as dcap-qvl alone: that library
is a part of one of sixteen rules, and what it lets through in chains, revocation lists, TCB info and quotes is read a
second time, in Python.

| measured | ms | against | ms | ratio | at most |
|---|---|---|---|---|---|
"""


def main() -> int:
    """0 when every ratio is within its bound, else 1."""
    table = [
        *node.rows(),
        *payments.rows(),
        *runs.rows(),
        *envelope.rows(),
        *suite.rows(),
        *matrix.rows(),
        *attestation.rows(),
        *vectors.rows(),
        *verification.rows(),
    ]
    text = "\n".join(map(_line, table))
    print(text)
    if "--write" in sys.argv[1:]:
        machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        PAGE.write_text(f"{HEAD}{text}\n\nMeasured on {machine}.\n")
    return 0 if all(row.kept for row in table) else 1


def _line(row: Row) -> str:
    figures = f"{row.measured_ms:.2f} | {row.against} | {row.base_ms:.2f} | {row.ratio:.2f}"
    return f"| {row.what} | {figures} | {row.bound}{'' if row.kept else ', **over**'} |"


if __name__ == "__main__":
    sys.exit(main())
