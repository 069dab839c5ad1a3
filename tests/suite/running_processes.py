"""Processes that a command has started, found by the folder of their temporary files."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path


def processes_in(folder: Path) -> dict[int, str]:
    """The command lines of processes whose temporary folder this is."""
    wanted = f"TMPDIR={folder}".encode()
    found: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                    found |= {int(entry.name): line} if line else {}
    return found


def await_true(condition: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.05)
