"""Programs of others that some tests need."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from typing import NoReturn

import pytest

START_SECONDS = 180


def absent(advice: str) -> NoReturn:
    """Skip a test, or fail it in CI, for want of a program."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(advice)


def told(log: Path, process: subprocess.Popen[bytes], pattern: str) -> str:
    """What a program that starts says in its log where the pattern has its group."""
    deadline = time.monotonic() + START_SECONDS
    while (found := re.search(pattern, said := log.read_text())) is None:
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(0.02)
    return found[1]
