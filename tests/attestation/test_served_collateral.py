"""A running node's quotes, verified by others with the collateral that its PCCS serves over HTTP."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import dcap_qvl as library
import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from conformance.endpoints.bundled import BundledNode

from . import peers

DAY = 24 * 3600


@dataclass(frozen=True)
class Served:
    """What a node serves, as the programs take it."""

    quote_file: Path
    root_file: Path
    pccs_url: str
    at: int

    @property
    def arguments(self) -> list[str]:
        return [str(self.quote_file), str(self.root_file), self.pccs_url, str(self.at)]


@pytest.fixture(scope="module")
def node() -> Iterator[dict[str, Any]]:
    """The ready file of a running node."""
    with BundledNode() as bundled:
        bundled.wait_until_ready()
        yield json.loads(bundled.ready_file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["/attestation", "/evidences/quote.json"])
def served(request: pytest.FixtureRequest, node: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Served:
    stated = node["profile"]["attestation"]
    answer = httpx.get(f"{node['base_url']}{request.param}", timeout=60)
    folder = tmp_path_factory.mktemp("served")
    (folder / "quote").write_bytes(bytes.fromhex(answer.json()["quote"]))
    (folder / "root.pem").write_text(stated["root_certificate"], encoding="utf-8")
    identity = httpx.get(f"{stated['pccs_url']}/tdx/certification/v4/qe/identity", timeout=60).json()
    issued = datetime.fromisoformat(identity["enclaveIdentity"]["issueDate"])
    return Served(folder / "quote", folder / "root.pem", stated["pccs_url"], int(issued.timestamp()) + 2 * DAY)


@pytest.fixture(scope="session")
def go_program(tmp_path_factory: pytest.TempPathFactory) -> str:
    return peers.go_program(Path(__file__).parent / "go", tmp_path_factory.mktemp("go") / "served")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603 - our own


def test_go_tdx_guest_verifies_with_served_collateral(go_program: str, served: Served) -> None:
    done = run(go_program, *served.arguments)
    assert (done.returncode, done.stdout) == (0, "verified\n")


def test_go_tdx_guest_refuses_once_the_collateral_has_expired(go_program: str, served: Served) -> None:
    done = run(go_program, *served.arguments[:3], str(served.at + 60 * DAY))
    assert done.returncode == 1
    assert "expired" in done.stdout


def test_phala_dcap_qvl_verifies_with_served_collateral(phala_dcap_qvl: str, served: Served) -> None:
    node, _ = phala_dcap_qvl.split()
    done = run(node, str(Path(__file__).with_name("served.mjs")), *served.arguments)
    assert (done.returncode, done.stdout) == (0, "UpToDate\n"), done.stderr


def test_dcap_qvl_verifies_with_served_collateral(served: Served) -> None:
    quote = served.quote_file.read_bytes()
    collateral = asyncio.run(_fetched(served.pccs_url, quote))
    root = x509.load_pem_x509_certificate(served.root_file.read_bytes()).public_bytes(Encoding.DER)
    assert library.verify_with_root_ca(quote, collateral, root, served.at).status == "UpToDate"


async def _fetched(pccs_url: str, quote: bytes) -> library.QuoteCollateralV3:
    return await library.get_collateral(pccs_url, quote)
