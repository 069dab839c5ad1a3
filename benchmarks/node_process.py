"""A reference node in a process of its own, as clients meet it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

import httpx

START_SECONDS = 60.0


class Ready(TypedDict):
    """What a benchmark needs of the ready file."""

    base_url: str
    pid: int
    """Of the node's process."""


@contextmanager
def node_process(*options: str, **variables: str) -> Iterator[Ready]:
    """Start a node with these options and variables, wait until it is ready, stop it in the end."""
    with tempfile.TemporaryDirectory() as folder:
        ready_file = Path(folder) / "ready.json"
        command = [sys.executable, "-m", "reference_node", "serve", "--port", "0", "--starter-credits", "1000000000"]
        process = subprocess.Popen(  # noqa: S603 - our own node
            [*command, *options, "--ready-file", str(ready_file)], stdout=subprocess.DEVNULL, env=os.environ | variables
        )
        try:
            yield wait_for(ready_file, process)
        finally:
            process.terminate()
            process.wait()


def wait_for(ready_file: Path, process: subprocess.Popen[bytes]) -> Ready:
    """What the ready file of a starting process says."""
    deadline = time.monotonic() + START_SECONDS
    while not ready_file.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the node did not start")
        time.sleep(0.002)
    return {"base_url": json.loads(ready_file.read_text())["base_url"], "pid": process.pid}


class Account:
    """A funded account on a node, and its calls over one connection."""

    def __init__(self, node: Ready) -> None:
        self.http = httpx.Client(base_url=f"{node['base_url']}/core/v1", trust_env=False)
        made = self.post("new_account", account_name="benchmark", account_description="")
        self.http.headers["X-Api-Key"] = str(made["api_key"])

    def post(self, operation: str, **body: object) -> dict[str, object]:
        """A write."""
        answer: dict[str, object] = self.http.post(f"/{operation}", json=body).raise_for_status().json()
        return answer

    def get(self, path: str) -> object:
        """A read."""
        return self.http.get(path).raise_for_status().json()
