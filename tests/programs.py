"""Programs of others that some tests need."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

START_SECONDS = 180


def absent(advice: str) -> NoReturn:
    """Skip a test, or fail it in CI, for want of a program."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(advice)


@contextmanager
def foreign_process(
    log: Path, arguments: Sequence[str], ready: str, variables: Mapping[str, str] = os.environ
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A program of others once its log has this pattern, and what stands in the pattern's group."""
    with log.open("w") as output:
        process = subprocess.Popen(arguments, stdout=output, stderr=output, env=variables)  # noqa: S603 - as pinned
    try:
        deadline = time.monotonic() + START_SECONDS
        while (found := re.search(ready, said := log.read_text())) is None:
            assert process.poll() is None, said
            assert time.monotonic() < deadline, said
            time.sleep(0.02)
        yield process, found[1]
    finally:
        process.kill()
        process.wait()
