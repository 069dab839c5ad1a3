"""Quotes of real hardware under Intel's root, at their time and one day outside of their collateral."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

import pytest
from cryptography import x509
from real_hardware import RealQuote, dcap_qvl_source, go_test_data

from conformance.verify import Policy, Verified, intel_root, verify_quote
from conformance.verify.certificates import read_root
from conformance.verify.chain import read_pck_chain
from conformance.verify.collateral import read_collateral
from conformance.verify.quote import parse_quote
from conformance.verify.signatures import check_signatures

DAY = 86400
INTEL_ROOT_SHA256 = "44a0196b2b99f889b8e149e95b807a350e7424964399e885a7cbb8ccfab674d3"


@pytest.fixture(scope="session")
def go_module() -> Path:
    return go_test_data()


@pytest.fixture(scope="session")
def dcap_qvl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dcap_qvl_source(tmp_path_factory.mktemp("dcap-qvl"))


@pytest.fixture(scope="session")
def from_go(go_module: Path) -> RealQuote:
    """The production quote, without the words that its authors appended for a test of theirs."""
    data = go_module / "testing" / "testdata"
    whole = (data / "tdx_prod_quote_SPR_E4.dat").read_bytes()
    quote, appended = whole.split(b"-----END CERTIFICATE-----\n\n")
    assert appended == b"extra bytes(only for testing purpose)\n"
    chains = re.findall(
        r'IssuerChain = \[\]string\{\s*"([^"]+)"', (go_module / "testing" / "test_cases.go").read_text()
    )
    pck_crl, tcb, identity = (unquote(chain) for chain in chains)
    tcb_text, tcb_signature = _signed(data / "sample_tcbInfo_response", "tcbInfo")
    identity_text, identity_signature = _signed(data / "sample_qeIdentity_response", "enclaveIdentity")
    collateral = {
        "pck_crl_issuer_chain": pck_crl,
        "root_ca_crl": (data / "rootcrl.der").read_bytes().hex(),
        "pck_crl": (data / "pckcrl").read_bytes().hex(),
        "tcb_info_issuer_chain": tcb,
        "tcb_info": tcb_text,
        "tcb_info_signature": tcb_signature,
        "qe_identity_issuer_chain": identity,
        "qe_identity": identity_text,
        "qe_identity_signature": identity_signature,
    }
    return RealQuote(quote + b"-----END CERTIFICATE-----\n", json.dumps(collateral).encode())


def _signed(file: Path, name: str) -> tuple[str, str]:
    found = re.fullmatch(rf'\{{"{name}":(.*),"signature":"([0-9a-f]+)"\}}\s*', file.read_text(), re.DOTALL)
    assert found
    return found[1], found[2]


def from_dcap_qvl(source: Path, name: str) -> RealQuote:
    sample = source / "sample"
    return RealQuote((sample / name).read_bytes(), (sample / f"{name}_collateral.json").read_bytes())


def validity(real: RealQuote) -> tuple[int, int]:
    """First and last second for which every part of the collateral is valid."""
    members = json.loads(real.collateral)
    documents = [json.loads(members[name]) for name in ("tcb_info", "qe_identity")]
    spans = [(_seconds(document["issueDate"]), _seconds(document["nextUpdate"])) for document in documents]
    for name in ("root_ca_crl", "pck_crl"):
        revocations = x509.load_der_x509_crl(bytes.fromhex(members[name]))
        assert revocations.next_update_utc is not None
        spans.append((int(revocations.last_update_utc.timestamp()), int(revocations.next_update_utc.timestamp())))
    return max(begin for begin, _ in spans), min(end for _, end in spans)


def _seconds(text: str) -> int:
    return int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp())


def judged(real: RealQuote, at: int, **policy: bool) -> Verified:
    return verify_quote(real.quote, real.collateral, replace(Policy(at=at), **policy))


def test_production_quote_of_go_tdx_guest_has_every_signature(from_go: RealQuote) -> None:
    begin, end = validity(from_go)
    quote, root = parse_quote(from_go.quote), read_root(intel_root())
    chain = read_pck_chain(quote.chain_type, quote.chain, "the quote")
    assert chain.root.der == root.der
    for at in (begin, end - 1):
        check_signatures(quote, (chain.leaf, chain.ca, root), read_collateral(from_go.collateral), at)
        # the TD runs without SEPT_VE_DISABLE; and its authors' own tests find its platform below every TCB level
        assert judged(from_go, at).codes == {"td-attributes"}
        assert judged(from_go, at, allow_ve_injection=True).codes == {"tcb-unmatched"}
    for at in (begin - DAY, begin - 1, end, end + DAY):
        assert judged(from_go, at, allow_ve_injection=True).codes == {"collateral-date"}


def test_words_after_the_production_quote_are_refused(go_module: Path, from_go: RealQuote) -> None:
    whole = (go_module / "testing" / "testdata" / "tdx_prod_quote_SPR_E4.dat").read_bytes()
    assert judged(RealQuote(whole, from_go.collateral), validity(from_go)[0]).codes == {"quote-layout"}


@pytest.mark.parametrize("name", ["tdx_quote", "tdx_quote_td15ex"])
def test_quotes_of_dcap_qvl(dcap_qvl: Path, name: str) -> None:
    real = from_dcap_qvl(dcap_qvl, name)
    begin, end = validity(real)
    for at in (begin, end - 1):
        verified = judged(real, at)
        assert verified.accepted, verified.findings
        assert verified.root_sha256 == INTEL_ROOT_SHA256
    for at in (begin - DAY, begin - 1, end, end + DAY):
        assert judged(real, at).codes == {"collateral-date"}


def test_quote_of_a_platform_below_every_level(dcap_qvl: Path) -> None:
    real = from_dcap_qvl(dcap_qvl, "tdx_quote_outdated")
    assert judged(real, validity(real)[0]).codes == {"tcb-unmatched"}


def test_changed_byte_of_a_real_quote_is_refused(dcap_qvl: Path) -> None:
    real = from_dcap_qvl(dcap_qvl, "tdx_quote")
    begin, _ = validity(real)
    for place in (100, 300, 600, 640, 700, 800, 1100):
        changed = real.quote[:place] + bytes([real.quote[place] ^ 1]) + real.quote[place + 1 :]
        assert not judged(RealQuote(changed, real.collateral), begin).accepted, place


def test_intels_root_is_the_one_that_two_packages_ship(go_module: Path, dcap_qvl: Path) -> None:
    ours = read_root(intel_root()).der
    assert sha256(ours).hexdigest() == INTEL_ROOT_SHA256
    assert read_root((go_module / "verify" / "trusted_root.pem").read_bytes()).der == ours
    assert (dcap_qvl / "src" / "TrustedRootCA.der").read_bytes() == ours
