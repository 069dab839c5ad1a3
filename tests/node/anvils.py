"""A chain outside: anvil, as npm installs it for the tests of the chain."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

GAS_MONEY = hex(10**20)


def anvil_program() -> Path:
    """Anvil as npm installs it for the tests of the chain."""
    found = sorted((Path(__file__).parents[1] / "js" / "node_modules").glob("@foundry-rs/anvil-*/bin/anvil"))
    if not found:
        advice = "anvil is missing: run `npm --prefix tests/js ci`"
        if os.environ.get("CI"):
            pytest.fail(advice)
        pytest.skip(advice)
    return found[0]


class Anvil:
    """A running anvil."""

    def __init__(self, url: str, process: subprocess.Popen[bytes]) -> None:
        self.url = url
        self.process = process

    def ask(self, method: str, *params: object) -> object:
        """One JSON-RPC request."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return httpx.post(self.url, json=request, timeout=60).json()["result"]

    def fund(self, *addresses: str) -> None:
        """Gas money for these."""
        for address in addresses:
            self.ask("anvil_setBalance", address, GAS_MONEY)


@pytest.fixture
def anvil(tmp_path: Path) -> Iterator[Anvil]:
    program = anvil_program()
    home = tmp_path / "anvil-home"
    home.mkdir()
    log = home / "log"
    arguments = [str(program), "--port", "0", "--prune-history", "--accounts", "1", "--chain-id", "31339"]
    with log.open("w") as output:
        process = subprocess.Popen(arguments, stdout=output, stderr=output, env={"HOME": str(home)})  # noqa: S603
    try:
        yield Anvil(_listening_at(log, process), process)
    finally:
        process.kill()
        process.wait()


def _listening_at(log: Path, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + 60
    while "Listening on " not in (said := log.read_text()):
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(0.02)
    return "http://" + said.split("Listening on ")[1].split()[0]
