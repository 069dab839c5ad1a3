"""An external chain: anvil, as npm installs it (`npm --prefix tests/js ci`)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from programs import absent, foreign_process

GAS_MONEY = hex(10**20)


def anvil_program() -> Path:
    """The program itself, not the script that starts it and would leave it behind when stopped."""
    found = sorted((Path(__file__).parent / "js" / "node_modules").glob("@foundry-rs/anvil-*/bin/anvil"))
    if not found:
        absent("anvil is missing: run `npm --prefix tests/js ci`")
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


@contextmanager
def anvil_in(home: Path, *options: str, chain_id: int = 31339) -> Iterator[Anvil]:
    """An anvil that runs, with its files in this folder."""
    home.mkdir()
    arguments = [str(anvil_program()), "--port", "0", "--accounts", "1", "--chain-id", str(chain_id), *options]
    with foreign_process(home / "log", arguments, r"Listening on (\S+)\s", {"HOME": str(home)}) as (process, address):
        yield Anvil(f"http://{address}", process)


@pytest.fixture
def anvil(tmp_path: Path) -> Iterator[Anvil]:
    with anvil_in(tmp_path / "anvil-home", "--prune-history") as running:
        yield running
