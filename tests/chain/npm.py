"""Programs that npm installs for these tests (`npm --prefix tests/js ci`). Without them tests skip, but never in CI."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "js"
MODULES = FOLDER / "node_modules"


def missing(what: str) -> None:
    """Skip, or in CI fail, because `what` is not there."""
    advice = f"{what} is missing: run `npm --prefix tests/js ci`"
    if os.environ.get("CI"):
        pytest.fail(advice)
    pytest.skip(advice)


def anvil() -> Path:
    """The program itself, not the script that starts it and would leave it behind when stopped."""
    found = sorted(MODULES.glob("@foundry-rs/anvil-*/bin/anvil"))
    if not found:
        missing("anvil")
    return found[0]


def run_script(name: str, *arguments: str) -> str:
    """What a script of `tests/js` prints; its errors are the test's."""
    node = shutil.which("node")
    if node is None:
        missing("Node.js")
    if not (MODULES / "ethers").is_dir() or not (MODULES / "viem").is_dir():
        missing("ethers or viem")
    command = [str(node), str(FOLDER / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)  # noqa: S603 - our own script
    assert done.returncode == 0, f"{name}: {done.stderr or done.stdout}"
    return done.stdout
