"""A run against the bundled node whose answers a proxy spoils keeps its bounds of memory, terminal and disk."""

from __future__ import annotations

from pathlib import Path

from benchmarks.spoilt_node import IN_TURN, taken
from conformance.verdict import ExitCode


def test_run_keeps_its_bounds_whatever_is_answered(tmp_path: Path) -> None:
    packs = ("groups", "endpoints", "attestation", "key_custody", "onchain")
    run = taken(IN_TURN, tmp_path, "--quick", *(word for pack in packs for word in ("--pack", pack)))

    assert run.beyond == [], run.text[-3000:]
    assert run.code in {ExitCode.FAILS, ExitCode.INCONCLUSIVE}, run.text[-3000:]
    assert run.verdicts["inconclusive"] + run.verdicts["fail"] >= 5
    assert run.requests > 100
