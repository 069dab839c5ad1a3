"""A running node's quotes, verified by another library with the collateral that it fetches from the node's PCCS."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import dcap_qvl
import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from conformance.endpoints.bundled import BundledNode

DAY = 24 * 3600


@pytest.fixture(scope="module")
def node() -> Iterator[dict[str, Any]]:
    """The ready file of a running node."""
    with BundledNode() as bundled:
        bundled.wait_until_ready()
        yield json.loads(bundled.ready_file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", ["/attestation", "/evidences/quote.json"])
def test_dcap_qvl_verifies_with_served_collateral(path: str, node: dict[str, Any]) -> None:
    stated = node["profile"]["attestation"]
    quote = bytes.fromhex(httpx.get(f"{node['base_url']}{path}", timeout=60).json()["quote"])
    identity = httpx.get(f"{stated['pccs_url']}/tdx/certification/v4/qe/identity", timeout=60).json()
    issued = datetime.fromisoformat(identity["enclaveIdentity"]["issueDate"])
    root = x509.load_pem_x509_certificate(stated["root_certificate"].encode()).public_bytes(Encoding.DER)
    collateral = asyncio.run(_fetched(stated["pccs_url"], quote))
    at = int(issued.timestamp()) + 2 * DAY
    assert dcap_qvl.verify_with_root_ca(quote, collateral, root, at).status == "UpToDate"


async def _fetched(pccs_url: str, quote: bytes) -> dcap_qvl.QuoteCollateralV3:
    return await dcap_qvl.get_collateral(pccs_url, quote)
