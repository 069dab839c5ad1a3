"""The example of a web page, as its README says to start it, driven in headless Chromium."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser import absent, clicked
from started import started_node

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "client-browser"
STEPS = [
    r"A wallet of the page: 0x[0-9a-fA-F]{40}",
    r"Gas for it, from the application's server: 100000000000000000 wei",
    r"An account on the chain that the wallet owns: 0x[0-9a-f]{64}",
    r"A wallet minted by signature: (?P<minted>0x[0-9a-fA-F]{40})",
    r"A group that lets every action use it: 1",
    r"A usage key that may run actions in it: [A-Za-z0-9+/]{43}=",
    r"Credits, paid with a test card: \$5\.00",
    r"An action that signs, run with the usage key: signed by (?P=minted)",
]
"""What the page shows of each step."""


def node_options(origin: str) -> list[str]:
    """The options of the node that the README starts, for a page of another origin."""
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    command = re.search(r"^reference-node serve (.*) &$", readme, re.MULTILINE)
    assert command is not None
    return shlex.split(command[1].replace("http://localhost:5173", origin))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def page(node_url: str, port: int) -> Iterator[str]:
    """The page, from a server of its own."""
    program = shutil.which("node")
    if program is None or not (EXAMPLE / "node_modules" / "ethers").is_dir():
        absent("ethers is missing: run `npm --prefix examples/client-browser ci`")
    command = [str(program), *json.loads((EXAMPLE / "package.json").read_text())["scripts"]["start"].split()[1:]]
    own = os.environ | {"NODE_URL": node_url, "PORT": str(port)}
    with subprocess.Popen(command, cwd=EXAMPLE, env=own, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == f"open http://localhost:{port}; the node is at {node_url}\n"
            yield f"http://localhost:{port}/"
        finally:
            process.terminate()


def test_page_mints_pays_and_runs_an_action(tmp_path: Path) -> None:
    port = free_port()
    with (
        started_node(tmp_path / "ready.json", *node_options(f"http://localhost:{port}")) as ready,
        page(ready["base_url"], port) as address,
    ):
        shown = clicked("client_browser.js", address)
    assert shown["outcome"] == "All steps succeeded.", shown
    assert re.fullmatch("\n".join(STEPS), "\n".join(shown["steps"])), shown
    assert shown["errors"] == []


@pytest.mark.parametrize("origin", ["http://127.0.0.1:{port}", "http://localhost:1"])
def test_page_of_an_origin_that_was_not_allowed_says_which_option_is_missing(tmp_path: Path, origin: str) -> None:
    port = free_port()
    with (
        started_node(tmp_path / "ready.json", *node_options(origin.format(port=port))) as ready,
        page(ready["base_url"], port) as address,
    ):
        shown = clicked("client_browser.js", address)
    assert shown["steps"] == []
    assert f"--allow-origin http://localhost:{port}?" in shown["outcome"]
    assert any("blocked by CORS policy" in error for error in shown["errors"])
