"""Ctrl-C ends long commands in order: results so far, the exit code, and no process and no folder left."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from running_processes import await_true, processes_in

from conformance.report import ExitCode

MAIN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes from what it runs in the background
from conformance.cli import main
sys.exit(main(sys.argv[1:]))
"""


def cases_are_under_way(folder: Path) -> bool:
    """Whether a node of the command has got its first block from a case, long after it has deployed its contract."""
    for file in folder.rglob("*.json"):
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError, httpx.HTTPError):
            asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []}
            url = json.loads(file.read_text(encoding="utf-8"))["base_url"]
            answer = httpx.post(f"{url}/rpc", json=asked, trust_env=False, timeout=5).json()
            if int(answer["result"], 16) > 20:
                return True
    return False


def await_begin(running: subprocess.Popen[str], folder: Path) -> None:
    """Wait for the first disturbance of a campaign, or for the first case of a run."""
    if "--chaos" in running.args:  # type: ignore[operator]  # a list of words
        assert running.stdout is not None
        assert any(re.search(r" s  .*, for [0-9.]+ s$", line.rstrip()) for line in running.stdout)
    else:
        await_true(lambda: running.poll() is not None or cases_are_under_way(folder), "no case begins")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("run --pack fuzz", "results.json"),
        ("load --chaos --users 1 --minutes 5 --case groups::group-has-an-id", "load.json"),
    ],
)
def test_interrupt_leaves_results_and_nothing_else(words: str, written: str, tmp_path: Path) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    with subprocess.Popen(  # noqa: S603 - our own text
        [sys.executable, "-u", "-c", MAIN, *words.split(), "--output", str(tmp_path / "out")],
        env=os.environ | {"TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            await_begin(running, place)
        finally:
            os.killpg(running.pid, signal.SIGINT)  # as a terminal sends Ctrl-C
        told, _ = running.communicate(timeout=240)
    assert "Traceback" not in told
    results = json.loads((tmp_path / "out" / written).read_text(encoding="utf-8"))
    assert (running.returncode, results["exit_code"]) == (ExitCode.INTERRUPTED, ExitCode.INTERRUPTED), told
    assert re.search("SIGINT|Ctrl-C", results["interrupted"]), results["interrupted"]
    await_true(lambda: not processes_in(place), f"processes are left: {processes_in(place)}")
    assert list(place.iterdir()) == []
