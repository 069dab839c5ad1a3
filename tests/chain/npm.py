"""The scripts of `tests/js` (`npm --prefix tests/js ci`)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from programs import absent

FOLDER = Path(__file__).resolve().parents[1] / "js"
MODULES = FOLDER / "node_modules"


def run_script(name: str, *arguments: str) -> str:
    """What a script of `tests/js` prints; its errors are the test's."""
    node = shutil.which("node")
    if node is None:
        absent("Node.js is missing: run `npm --prefix tests/js ci`")
    if not (MODULES / "ethers").is_dir() or not (MODULES / "viem").is_dir():
        absent("ethers or viem is missing: run `npm --prefix tests/js ci`")
    command = [str(node), str(FOLDER / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)  # noqa: S603 - our own script
    assert done.returncode == 0, f"{name}: {done.stderr or done.stdout}"
    return done.stdout
