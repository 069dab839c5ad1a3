"""The compiled second node."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from second_node import COMPILER, EXAMPLE, compiled


@pytest.fixture(scope="session")
def program(worker_id: str) -> Iterator[Path]:
    """The compiled node. Each worker has its own, beside the packages that it imports."""
    if shutil.which("node") is None or not COMPILER.is_file():
        advice = "the second node cannot be built: install Node.js and run `npm --prefix examples/node-typescript ci`"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(advice)
    folder = EXAMPLE / "dist" / worker_id
    yield compiled(folder)
    shutil.rmtree(folder)
