"""``python -m benchmarks.hostile [SECONDS]``: what each hostile action takes, in a sandbox with this wall limit."""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from benchmarks.timing import milliseconds
from conformance.profile import Profile
from conformance.resources import fixtures
from conformance.service.action_sources import source
from reference_node.sandbox import Limits, RunResult, Sandbox, SandboxBroken

SAMPLE_SECONDS = 0.005
SETTLE_SECONDS = 0.1
"""The process of the run before has to be gone."""

HONEST = "async function main() { return 'hello'; }"
BESIDE = 8
HONEST_RUNS = 200


class Peaks:
    """The largest resident memory of the processes of runs, sampled while they live; in MiB."""

    def __init__(self, zygote: int) -> None:
        self._children = Path(f"/proc/{zygote}/task/{zygote}/children")
        self._ended = threading.Event()
        self.peak = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Sample until the block ends."""
        time.sleep(SETTLE_SECONDS)
        watcher = threading.Thread(target=self._watch)
        self._ended.clear()
        self.peak = 0.0
        watcher.start()
        try:
            yield
        finally:
            self._ended.set()
            watcher.join()

    def _watch(self) -> None:
        ended = False
        while not ended:
            for child in self._children.read_text().split():
                self.peak = max(self.peak, _resident(child))
            ended = self._ended.wait(SAMPLE_SECONDS)


def _resident(process: str) -> float:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


def main() -> int:
    """Print a table of all of them, then what eight endless loops do to honest runs."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    print(f"| action | what it does | ends after s (limit {seconds:g}) | peak MiB | how |\n|---|---|---|---|---|")
    with Sandbox(Limits(wall_seconds=seconds)) as sandbox:
        sandbox.start()
        assert sandbox.process is not None
        peaks = Peaks(sandbox.process)
        for entry in yaml.safe_load((fixtures() / "hostile" / "index.yaml").read_text()):
            with peaks.watching():
                result = _run(sandbox, source(f"hostile/{entry['id']}", Profile()), 1)
            how = f"{result.seconds:.2f} | {peaks.peak:.0f} | {_how(result)}"
            print(f"| `{entry['id']}` | {_cell(entry['title'])} | {how} |", flush=True)
            assert _run(sandbox, source("hostile/probe", Profile()), 1).response == "[]"
    print(f"\n{_beside_endless_loops()}")
    return 0


def _run(sandbox: Sandbox, code: str, account: int) -> RunResult:
    return sandbox.run(code, '{"pkpId": "0x01"}', lambda *_: "0x", account)


def _how(result: RunResult) -> str:
    return _cell(result.logs.rsplit("\n", 1)[-1][:80]) if result.has_error else "a response"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _beside_endless_loops() -> str:
    """Honest runs alone, then beside eight loops of another account."""
    with Sandbox() as sandbox:
        alone = _honest(sandbox)
        loops = [threading.Thread(target=_loop, args=(sandbox,)) for _ in range(BESIDE)]
        for loop in loops:
            loop.start()
        beside = _honest(sandbox)
        sandbox.close()
        for loop in loops:
            loop.join()
    return f"honest runs, ms: alone {alone}; beside {BESIDE} endless loops of another account {beside}"


def _loop(sandbox: Sandbox) -> None:
    try:
        _run(sandbox, "for (;;) {}", 1)
    except SandboxBroken:
        return  # closed at the end


def _honest(sandbox: Sandbox) -> str:
    times = sorted(milliseconds(lambda: _run(sandbox, HONEST, 2)) for _ in range(HONEST_RUNS))
    return f"median {statistics.median(times):.1f}, p99 {times[int(len(times) * 0.99)]:.1f}"


if __name__ == "__main__":
    sys.exit(main())
