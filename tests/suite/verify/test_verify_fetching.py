"""Evidence fetched from a service on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dns.rcode
import pytest
from hostile_servers import Zone, dns_serving
from made_evidence import ACCOUNT, AT, DOMAIN, HONEST, credentials, der
from made_evidence import POLICY as WITHOUT_TIME
from served_evidence import Service, serving, serving_chain

from conformance.verify import CaaAnswer, CaaRecord, FetchError, Outcome, Policy, Sources, fetch, fetch_and_verify
from conformance.verify.authorisation import AuthorisationChain
from conformance.verify.dns_lookup import look_up_caa

POLICY = replace(WITHOUT_TIME, at=AT)
ZERO, ONE = f"0x{0:064x}", f"0x{1:064x}"
"""Words that a contract returns."""
PINNED = f'0 issue "acme.example; accounturi={ACCOUNT}"'


@pytest.fixture
def resolver() -> Iterator[str]:
    with dns_serving({DOMAIN: [], "example": [PINNED]}) as address:
        yield address


@pytest.fixture
def sources(pccs: Service) -> Sources:
    return Sources(pccs=pccs.url, gateway_domain=DOMAIN)


def test_service_over_tls_is_verified_by_every_rule(sources: Sources, resolver: str, tmp_path: Path) -> None:
    with serving(Service(HONEST), credentials(), tmp_path) as secure, serving_chain([ONE, ZERO, ZERO]) as chain:
        around = replace(sources, resolver=resolver, rpc_url=chain.url)
        evidence, verified = fetch_and_verify(secure.url, POLICY, around)
    assert verified.accepted, verified.findings
    assert all(result.outcome is Outcome.HOLDS for result in verified.rules)
    assert len(secure.connections) == 1, "the evidence and the API come over one connection"
    assert evidence["api-certificate.der"] == der(credentials().chain)


def test_other_certificate_on_the_connection_is_refused_after_a_second_look(tmp_path: Path) -> None:
    with serving(Service(HONEST), credentials(1), tmp_path) as service:
        _, verified = fetch_and_verify(service.url, POLICY, Sources(collateral=HONEST["collateral.json"]))
        assert "tls-certificate-differs" in verified.codes
        assert service.requests.count("/info") == 2


def test_checksums_that_change_without_a_renewal_are_refused(service: Service, sources: Sources) -> None:
    path, bound = "/evidences/sha256sum.txt", service.evidence["evidences/sha256sum.txt"]
    shuffled = b"".join(reversed(bound.splitlines(keepends=True)))
    assert shuffled != bound
    service.once[path] = shuffled
    _, verified = fetch_and_verify(service.url, POLICY, sources)
    assert service.requests.count(path) == 2
    assert "checksums-not-bound" in verified.codes


def test_renewal_between_two_requests_is_no_fault(service: Service, sources: Sources) -> None:
    path = f"/evidences/cert-{DOMAIN}.pem"
    service.once[path] = credentials(1).chain
    _, verified = fetch_and_verify(service.url, POLICY, sources)
    assert service.requests.count(path) == 2
    assert verified.accepted, verified.findings


def test_simulated_service_is_refused_without_asking_anybody_for_collateral(service: Service) -> None:
    _, verified = fetch_and_verify(service.url, Policy(), Sources(pccs="http://127.0.0.1:1"))
    assert "root-simulated" in verified.codes


@pytest.mark.parametrize("domain", ["a..b", ".example", "a." + "b" * 64, "*.*.example", "+"])
def test_certificate_file_named_after_no_domain_does_not_count(service: Service, resolver: str, domain: str) -> None:
    service.answers["/evidences/"] = (200, {}, f"<a href='cert-{domain}.pem'>x</a>".encode())
    service.answers[f"/evidences/cert-{domain}.pem"] = (200, {}, service.evidence[f"evidences/cert-{DOMAIN}.pem"])
    _, verified = fetch_and_verify(service.url, POLICY, Sources(collateral=b"{}", resolver=resolver))
    assert "listing-no-certificate" in verified.codes


def test_what_is_not_served_is_absent(service: Service, sources: Sources) -> None:
    service.answers["/info"] = (500, {}, b"{}")
    assert "info.json" not in fetch(service.url, POLICY, sources)


def test_redirect_within_the_origin_is_followed(service: Service, sources: Sources) -> None:
    service.answers["/info"] = (307, {"Location": "/info2"}, b"")
    service.answers["/info2"] = (200, {}, service.evidence["info.json"])
    assert fetch(service.url, POLICY, sources)["info.json"] == service.evidence["info.json"]


@pytest.mark.parametrize(
    "url", ["service.example", "ftp://x", "http://", "http://a:b@c", "http://x/?q", "http://[", "http://x:y"]
)
def test_url_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"begins with http|before its host|has no query|Invalid"):
        fetch(url)


def test_pccs_without_an_answer_is_said(service: Service) -> None:
    with pytest.raises(FetchError, match="no collateral from"):
        fetch(service.url, POLICY, Sources(pccs=service.url))


@pytest.mark.parametrize(
    ("path", "answer", "said"),
    [
        ("/sgx/certification/v4/pckcrl", (200, {}, b"0"), "no header SGX-PCK-CRL-Issuer-Chain"),
        ("/tdx/certification/v4/tcb", (200, {}, b"[]"), "no JSON of tcbInfo"),
        ("/tdx/certification/v4/qe/identity", (503, {}, b""), "status 503"),
        ("/sgx/certification/v4/rootcacrl", (200, {}, b"zz"), "neither DER nor hex"),
        ("/sgx/certification/v4/rootcacrl", (404, {}, b""), "certificates.simulated.invalid"),
    ],
)
def test_pccs_with_another_answer_is_said(
    service: Service, pccs: Service, sources: Sources, path: str, answer: tuple[int, dict[str, str], bytes], said: str
) -> None:
    pccs.answers[path] = answer
    with pytest.raises(FetchError, match=said):
        fetch(service.url, POLICY, sources)


def test_collateral_has_no_chain_of_its_own(service: Service, sources: Sources) -> None:
    collateral = json.loads(fetch(service.url, POLICY, sources)["collateral.json"])
    assert collateral == json.loads(HONEST["collateral.json"])


@pytest.mark.parametrize(
    ("results", "allowed"),
    [
        ([ONE, ZERO, ZERO], True),
        ([ZERO], False),
        (["0x"], False),
        ([ONE, ONE], False),  # compares less than the hash, so that its answer tells nothing
        ([ONE, ZERO, ONE], False),
    ],
)
def test_chain_is_asked_with_a_control(results: list[object], allowed: bool) -> None:
    with serving_chain(results) as chain, AuthorisationChain(chain.url) as asked:
        assert asked.allows(bytes(20), b"\1" * 32) is allowed
        assert json.loads(chain.requests[0])["params"][0] == {"to": f"0x{'00' * 20}", "data": f"0x2f6622e5{'01' * 32}"}


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ({DOMAIN: ['0 issue ";"'], "example": [PINNED]}, CaaAnswer("NOERROR", (CaaRecord(0, "issue", ";"),))),
        ({DOMAIN: [], "example": ['128 tbs "x"']}, CaaAnswer("NOERROR", (CaaRecord(128, "tbs", "x"),))),
        ({"example": ['0 issue "a"']}, CaaAnswer("NOERROR", (CaaRecord(0, "issue", "a"),))),
        ({DOMAIN: [], "example": []}, CaaAnswer("NOERROR")),
        ({"example": []}, CaaAnswer("NXDOMAIN")),
        ({DOMAIN: dns.rcode.SERVFAIL, "example": [PINNED]}, CaaAnswer("SERVFAIL")),
        ({DOMAIN: [], "example": dns.rcode.REFUSED}, CaaAnswer("REFUSED")),
        (
            {DOMAIN: ["CNAME other.test"], "other.test": ['0 issue "b"'], "example": [PINNED]},
            CaaAnswer("NOERROR", (CaaRecord(0, "issue", "b"),)),
        ),
        ({DOMAIN: ["CNAME other.test"], "other.test": [], "example": [], "test": [PINNED]}, CaaAnswer("NOERROR")),
        ({DOMAIN: ["CNAME a.test"], "a.test": [f"CNAME {DOMAIN}"]}, CaaAnswer("FORMERR")),
    ],
)
def test_caa_lookup_climbs_as_rfc_8659_says(zone: Zone, expected: CaaAnswer) -> None:
    with dns_serving(zone) as resolver:
        assert look_up_caa(DOMAIN, resolver) == expected


@pytest.mark.parametrize("address", ["", "127.0.0.1", "localhost:53", "127.0.0.1:0", "127.0.0.1:99999", "[::1]"])
def test_resolver_of_another_form_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="is no address of a resolver"):
        look_up_caa(DOMAIN, address)


@pytest.mark.parametrize("domain", ["a" * 64 + ".example", "..", "a" * 300])
def test_domain_of_another_form_is_refused(domain: str) -> None:
    with pytest.raises(ValueError, match="is no domain name"):
        look_up_caa(domain, "127.0.0.1:53")
