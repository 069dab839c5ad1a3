"""The mock PCCS: what vouches for the platform, fetched and judged the way that it is for real hardware."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import dcap_qvl
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from nodes import Running, refused

from reference_node.assembly import build_node
from reference_node.clock import Clock
from reference_node.settings import Settings

DAY = 24 * 3600


def test_moved_clock_ages_the_collateral(attested: Running) -> None:
    quote = bytes.fromhex(attested.http.get("/attestation").json()["quote"])
    stated = attested.ready["profile"]["attestation"]
    root = x509.load_pem_x509_certificate(stated["root_certificate"].encode()).public_bytes(Encoding.DER)
    try:
        attested.http.post("/control/clock", json={"offset_seconds": 31 * DAY}).raise_for_status()
        collateral = asyncio.run(fetched(stated["pccs_url"], quote))
        with pytest.raises(ValueError, match=r"(?i)expired"):
            dcap_qvl.verify_with_root_ca(quote, collateral, root, attested.node.clock.now())
    finally:
        attested.http.post("/control/clock", json={"offset_seconds": 0})


async def fetched(pccs_url: str, quote: bytes) -> dcap_qvl.QuoteCollateralV3:
    return await dcap_qvl.get_collateral(pccs_url, quote)


class Passing(Clock):
    """A clock whose right time the test sets."""

    seconds = 1_790_000_000

    def right_time(self) -> int:
        return self.seconds


def test_collateral_is_renewed_as_real_days_pass() -> None:
    clock = Passing()
    node = build_node(Settings(), clock)
    issued = []
    for days in (0, 0.9, 1, 45):
        clock.seconds = Passing.seconds + int(days * DAY)
        body = json.loads(node.attestation.pccs()["/tdx/certification/v4/tcb"].body)
        issued.append(datetime.fromisoformat(body["tcbInfo"]["issueDate"]))
    node.close()
    assert [(date - issued[0]).days for date in issued] == [0, 0, 1, 45]
    assert issued[0] < datetime.fromtimestamp(Passing.seconds, UTC)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/sgx/certification/v4/pckcrl?ca=processor", 422),
        ("/sgx/certification/v4/pckcrl?encoding=pem", 422),
        ("/tdx/certification/v4/tcb?fmspc=50806f000000", 404),
        ("/tdx/certification/v4/tcb?fmspc=908060000000&fmspc=908060000000", 422),
        ("/sgx/certification/v3/rootcacrl", 404),
        ("/", 404),
    ],
)
def test_other_platforms_and_forms_are_refused(attested: Running, path: str, status: int) -> None:
    refused(attested.http.get(f"/pccs{path}"), status)
