"""``python -m benchmarks.saturation``: load campaigns on the bundled node with more and more users, as a table.

Throughput that no longer grows with the users is saturation. No case may have a verdict other than pass.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conformance.load.results import LOAD_NAME, LoadResults
from conformance.verdict import Verdict

PACKS = "groups,usage_keys,group_runs"
USERS = (1, 2, 4, 8, 16, 32)
WORKERS = (1, 4)
HEAD = """\
| workers | users | requests a second | cases a second | add_group p50, p99 ms | run_action p50, p99 ms | verdicts |
|---|---|---|---|---|---|---|"""


def main() -> int:
    """0 when every case of every campaign passed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.saturation")
    parser.add_argument("--seconds", type=float, default=30.0, help="for each campaign; by default 30")
    parser.add_argument("--users", type=int, nargs="+", default=USERS)
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    asked = parser.parse_args()
    print(HEAD, flush=True)
    held = True
    for workers in asked.workers:
        for users in asked.users:
            if users >= workers:
                results = _campaign(users, workers, asked.seconds)
                print(_row(results), flush=True)
                held = held and results.holds
    return 0 if held else 1


def _campaign(users: int, workers: int, seconds: float) -> LoadResults:
    with tempfile.TemporaryDirectory(prefix="saturation-") as folder:
        command = [sys.executable, "-m", "conformance", "load", "--pack", PACKS, "--output", folder]
        command += ["--users", str(users), "--workers", str(workers), "--minutes", str(seconds / 60)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own module
        try:
            return LoadResults.model_validate_json((Path(folder) / LOAD_NAME).read_text(encoding="utf-8"))
        except FileNotFoundError:
            sys.exit(done.stdout + done.stderr)


def _row(results: LoadResults) -> str:
    done = results.throughput
    rates = (done.requests_per_second, done.cases_per_second)
    cells = [str(results.workers), str(results.users), *(f"{rate:.1f}" for rate in rates)]
    cells += [_latency(results, operation) for operation in ("add_group", "run_action")]
    return "| " + " | ".join([*cells, _verdicts(results)]) + " |"


def _latency(results: LoadResults, operation: str) -> str:
    found = next((one for one in results.operations if one.operation == operation), None)
    return f"{found.median_ms:.0f}, {found.p99_ms:.0f}" if found else ""


def _verdicts(results: LoadResults) -> str:
    counts: Counter[Verdict] = Counter()
    first: Sequence[str] = []
    for case in results.cases:
        counts.update(case.under_load)
        first = first or [f"{case.case}: {began.reason}" for began in case.began]
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return f"{told} ({first[0]})" if first else told


if __name__ == "__main__":
    sys.exit(main())
