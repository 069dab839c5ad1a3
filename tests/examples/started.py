"""A reference node, started as the examples say."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def started_node(ready_file: Path, *options: str) -> Iterator[Any]:
    """A node on a free port with these options, and what its ready file says."""
    command = [sys.executable, "-m", "reference_node", "serve", "--port", "0"]
    command += ["--ready-file", str(ready_file), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:  # noqa: S603 - our own program
        try:
            while not ready_file.exists():
                assert process.poll() is None, "the node ended before it was ready"
                time.sleep(0.05)
            yield json.loads(ready_file.read_text(encoding="utf-8"))
        finally:
            process.terminate()
