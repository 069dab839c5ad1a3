"""``python -m benchmarks.slow_node``: a run against the bundled node behind a proxy that is as slow as a public node.

The proxy answers reads, writes, runs and transactions later by so many seconds each. The table sets the time of the run
against that of its longest case: a case is a sequence of requests, so no run is faster, however many cases go at once.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.proxy import Exchange, proxied_node
from conformance.profile import OPERATIONS, Effect, NotStated, Profile, resolve
from conformance.report.results import Results
from conformance.report.write import RESULTS_NAME

HEAD = """\
| cases | at once | s | longest case, s | ratio | requests | writes | runs | chain | transactions | MB | verdicts |
|---|---|---|---|---|---|---|---|---|---|---|---|"""
SUBMITTING = b"eth_sendRawTransaction"


@dataclass
class Delays:
    """By how many seconds the node answers later."""

    read: float
    write: float
    run: float
    transaction: float


class Slowness:
    """Holds each answer back until it is due."""

    def __init__(self, delays: Delays, profile: Profile) -> None:
        self._delays = delays
        self._effects = _effects(profile)
        self._rpc = str(profile.chain.rpc_url).removeprefix(str(profile.base_url))
        self._lock = threading.Lock()
        self.seen: Counter[str] = Counter()

    def __call__(self, exchange: Exchange) -> None:
        """Wait."""
        kind, seconds = self._due(exchange)
        with self._lock:
            self.seen[kind] += 1
        time.sleep(seconds)

    def _due(self, exchange: Exchange) -> tuple[str, float]:
        delays = self._delays
        if exchange.path == self._rpc:
            return ("transactions", delays.transaction) if SUBMITTING in exchange.sent else ("chain", delays.read)
        accepted = exchange.status // 100 == 2
        match self._effects.get(exchange.path) if accepted else None:
            case None | Effect.READ:
                return "reads", delays.read
            case Effect.RUN:
                return "runs", delays.run
            case _:
                return "writes", delays.write


def _effects(profile: Profile) -> dict[str, Effect]:
    effects = {}
    for name in OPERATIONS:
        with suppress(NotStated):
            effects[resolve(profile, name).path] = OPERATIONS[name].effect
    return effects


def main() -> int:
    """0 when every run came to its end."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slow_node", description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[16], help="cases at once, a run each; by default 16")
    parser.add_argument("--whole", action="store_true", help="run every case, and not those of --quick alone")
    parser.add_argument("--read", type=float, default=0.06, help="seconds that a read takes; by default 0.06")
    parser.add_argument("--write", type=float, default=2.0, help="seconds that a write takes; by default 2")
    parser.add_argument("--run", type=float, default=0.5, help="seconds that a run takes; by default 0.5")
    parser.add_argument("--transaction", type=float, default=2.0, help="seconds of a transaction; by default 2")
    asked = parser.parse_args()
    delays = Delays(asked.read, asked.write, asked.run, asked.transaction)
    print(HEAD, flush=True)
    return max(_measured(delays, jobs, ["--quick"] * (not asked.whole)) for jobs in asked.jobs)


def _measured(delays: Delays, jobs: int, cases: Sequence[str]) -> int:
    """Print the row of one run; 0 when it came to its end."""
    with proxied_node(partial(Slowness, delays)) as (slow, profile), tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "conformance", "run", "--profile", str(profile), "--output", folder]
        began = time.monotonic()
        done = subprocess.run(  # noqa: S603 - our own module
            [*command, "--jobs", str(jobs), *cases], capture_output=True, text=True, check=False
        )
        seconds = time.monotonic() - began
        try:
            results = Results.model_validate_json((Path(folder) / RESULTS_NAME).read_text(encoding="utf-8"))
        except FileNotFoundError:
            sys.exit(done.stdout + done.stderr)
    verdicts = Counter(case.verdict for case in results.cases)
    longest = max(case.seconds for case in results.cases)
    cells = ["quick" if cases else "whole", jobs, f"{seconds:.0f}", f"{longest:.0f}", f"{seconds / longest:.1f}"]
    cells += [slow.seen.total(), *(slow.seen[kind] for kind in ("writes", "runs", "chain", "transactions"))]
    cells += [resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024]
    cells += [", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common())]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    return int(bool(results.interrupted))


if __name__ == "__main__":
    sys.exit(main())
