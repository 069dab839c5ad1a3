"""The examples of clients' own tests, run as their authors would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from programs import absent
from started import started_node

from conformance.run.client_fixtures import ReferenceNode, running_node

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PLUGINS = [f"-pno:{name}" for name in ("cov", "schemathesis", "cacheprovider")]


def test_python_example_passes(tmp_path: Path) -> None:
    file = shutil.copy(EXAMPLES / "client-python" / "test_client.py", tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", *PLUGINS, str(file)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - pytest
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_typescript_example_passes(tmp_path: Path) -> None:
    folder = EXAMPLES / "client-typescript"
    npm = shutil.which("npm")
    if npm is None or not (folder / "node_modules" / "tsx").is_dir():
        absent("tsx is missing: run `npm --prefix examples/client-typescript ci`")
    options = ("--starter-credits", "100000", "--seed-accounts", str(folder / "accounts.yaml"))
    with started_node(tmp_path / "ready.json", *options):
        done = subprocess.run(  # noqa: S603 - our own script
            [str(npm), "--prefix", str(folder), "test"],
            env=os.environ | {"READY_FILE": str(tmp_path / "ready.json")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 4" in done.stdout


def test_node_of_the_fixtures_moves_its_clock_gives_ether_and_forgets() -> None:
    with running_node() as node:
        account = node.new_account()
        with node.clock_moved(1_000):
            node.new_account()
            assert int(rpc(node, "eth_getBlockByNumber", "latest", False)["timestamp"], 16) > time.time() + 900
        node.fund(account.pkp_address, 5)
        assert int(rpc(node, "eth_getBalance", account.pkp_address, "latest"), 16) == 5
        node.reset()
        exists = httpx.get(f"{node.api_url}/account_exists", headers={"X-Api-Key": account.api_key}, timeout=60)
        assert exists.json() is False
        assert node.new_account().group_id == 1


def rpc(node: ReferenceNode, method: str, *parameters: object) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    return httpx.post(node.rpc_url, json=body, timeout=60).json()["result"]
