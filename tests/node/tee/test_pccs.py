"""The mock PCCS: what vouches for the platform, fetched and judged the way that it is for real hardware."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import unquote

import dcap_qvl
import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from nodes import Running, refused

from reference_node.assembly import build_node
from reference_node.clock import Clock
from reference_node.settings import Settings

FMSPC = "908060000000"
DAY = 24 * 3600


def fetched(get: Callable[[str], httpx.Response]) -> dict[str, str]:
    """The collateral in dcap-qvl's form, from the four paths of a PCCS."""
    pck_crl = get("/pccs/sgx/certification/v4/pckcrl?ca=platform&encoding=der")
    root_crl = get("/pccs/sgx/certification/v4/rootcacrl")
    tcb = get(f"/pccs/tdx/certification/v4/tcb?fmspc={FMSPC}")
    qe = get("/pccs/tdx/certification/v4/qe/identity?update=standard")
    return {
        "pck_crl_issuer_chain": unquote(pck_crl.headers["sgx-pck-crl-issuer-chain"]),
        "root_ca_crl": root_crl.text,
        "pck_crl": pck_crl.content.hex(),
        "tcb_info_issuer_chain": unquote(tcb.headers["tcb-info-issuer-chain"]),
        **signed(tcb.text, "tcbInfo", "tcb_info"),
        "qe_identity_issuer_chain": unquote(qe.headers["sgx-enclave-identity-issuer-chain"]),
        **signed(qe.text, "enclaveIdentity", "qe_identity"),
    }


def signed(body: str, member: str, name: str) -> dict[str, str]:
    """The exact text that was signed, and its signature."""
    start, end = f'{{"{member}":', ',"signature":"'
    text, _, rest = body.removeprefix(start).rpartition(end)
    assert body == start + text + end + rest
    return {name: text, f"{name}_signature": rest.removesuffix('"}')}


def judged(quote: bytes, collateral: dict[str, str], root_pem: str, at: int) -> str:
    """dcap-qvl's word on a quote."""
    root = x509.load_pem_x509_certificate(root_pem.encode()).public_bytes(Encoding.DER)
    held = dcap_qvl.QuoteCollateralV3.from_json(json.dumps(collateral))
    return str(dcap_qvl.verify_with_root_ca(quote, held, root, at).status)


def test_quote_of_version_five_is_up_to_date_too(attested: Running) -> None:
    node = build_node(Settings(root_secret=attested.node.settings.root_secret, quote_version=5))
    quote = node.attestation.quote(bytes(64))
    node.close()
    assert quote[0] == 5
    root = attested.ready["profile"]["attestation"]["root_certificate"]
    assert judged(quote, fetched(attested.http.get), root, int(time.time())) == "UpToDate"


def test_moved_clock_ages_the_collateral(attested: Running) -> None:
    quote = bytes.fromhex(attested.http.get("/attestation").json()["quote"])
    root = attested.ready["profile"]["attestation"]["root_certificate"]
    try:
        assert attested.http.post("/control/clock", json={"offset_seconds": 31 * DAY}).status_code == 200
        collateral = fetched(attested.http.get)
        with pytest.raises(ValueError, match=r"(?i)expired"):
            judged(quote, collateral, root, attested.node.clock.now())
    finally:
        attested.http.post("/control/clock", json={"offset_seconds": 0})


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
