"""A run against the bundled node whose answers a proxy spoils keeps its bounds of memory, terminal and disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_run_keeps_its_bounds_whatever_is_answered() -> None:
    packs = ("groups", "attestation", "key_custody")
    run = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "benchmarks.spoilt_node", "one in three in each", *(f"--pack={name}" for name in packs)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert "| one in three in each of these ways in turn |" in run.stdout
