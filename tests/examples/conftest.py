"""The compiled second node."""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path

import pytest
from programs import absent
from second_node import COMPILER, compiled


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The second node, which the first worker that needs it compiles for all workers of the run."""
    if shutil.which("node") is None or not COMPILER.is_file():
        absent("the second node cannot be built: install Node.js and run `npm --prefix examples/node-typescript ci`")
    own = tmp_path_factory.getbasetemp()
    shared = own if worker_id == "master" else own.parent
    with (shared / "second-node.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return compiled(shared / "second-node")
