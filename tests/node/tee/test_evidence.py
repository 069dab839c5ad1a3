"""The attestation endpoints: what they answer, and what binds one answer to the others (rules 1 to 3, 6 and 7)."""

from __future__ import annotations

import hashlib
import json
import re

import dcap_qvl
import httpx
import pytest
from cryptography import x509
from nodes import Running, refused, serving

from reference_node.assembly import build_node
from reference_node.clock import Clock
from reference_node.settings import Settings
from reference_node.tee.attestation import Attestation

PATHS = [
    "/info",
    "/attestation",
    "/evidences/",
    "/evidences/sha256sum.txt",
    "/evidences/quote.json",
    "/evidences/acme-account.json",
    "/evidences/cert-tee.example.pem",
]


class Stopped(Clock):
    """A clock that stands still."""

    def right_time(self) -> int:
        return 1_790_000_000


def made(**settings: object) -> Attestation:
    """The attestation of a node that began at one known moment."""
    node = build_node(Settings(root_secret=b"\x42" * 32, **settings), Stopped())  # type: ignore[arg-type]
    try:
        return node.attestation
    finally:
        node.close()


def served(attestation: Attestation) -> dict[str, bytes]:
    """Every body that it serves."""
    files = {name: document.body for name, document in attestation.evidence.files.items()}
    answers = {path: answer.body for path, answer in attestation.pccs().items()}
    return {"info": attestation.info.body, "attestation": attestation.attestation.body, **files, **answers}


@pytest.mark.parametrize("path", PATHS)
def test_head_answers_as_get_without_the_body(attested: Running, path: str) -> None:
    got, head = attested.http.get(path), attested.http.head(path)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-length", "content-type", "etag", "cache-control"):
        assert head.headers[name] == got.headers[name]
    assert int(got.headers["content-length"]) == len(got.content)


@pytest.mark.parametrize("path", PATHS)
def test_client_that_has_it_is_sent_nothing(attested: Running, path: str) -> None:
    etag = attested.http.get(path).headers["etag"]
    assert re.fullmatch(r'"[0-9a-f]{32}"', etag)
    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        for method in ("GET", "HEAD"):
            answer = attested.http.request(method, path, headers={"If-None-Match": known})
            assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)
    for other in ('"other"', etag.strip('"'), etag[:-2] + '"'):
        assert attested.http.get(path, headers={"If-None-Match": other}).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_other_methods_are_told_which_there_are(attested: Running, path: str) -> None:
    answer = attested.http.post(path, json={})
    refused(answer, 405, "method-not-allowed")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}


@pytest.mark.parametrize("path", ["/evidences/cert-other.example.pem", "/evidences/cert-..%2F.pem", "/evidences/none"])
def test_what_is_not_there_is_404(attested: Running, path: str) -> None:
    refused(attested.http.get(path), 404)


def test_listing_links_every_file(attested: Running) -> None:
    page = attested.http.get("/evidences/")
    links = re.findall(r'href="([^"]+)"', page.text)
    assert links == ["acme-account.json", "cert-tee.example.pem", "sha256sum.txt", "quote.json"]
    assert "<h1>Evidence of tee.example</h1>" in page.text
    for link in links:
        body = attested.http.get(f"/evidences/{link}").content
        assert f"<td>{len(body)}</td><td><code>{hashlib.sha256(body).hexdigest()}</code>" in page.text


def test_same_secret_and_time_give_the_same_bytes_also_after_a_rotation() -> None:
    first, second = made(), made()
    assert served(first) == served(second)
    before = first.evidence
    for attestation in (first, second):
        attestation.rotate()
    assert served(first) == served(second)
    assert first.evidence.credentials != before.credentials


@pytest.mark.parametrize("version", [4, 5])
def test_quote_has_the_version_that_is_asked_for(version: int) -> None:
    attestation = made(quote_version=version)
    documents = (attestation.attestation, attestation.evidence.files["quote.json"])
    plain, bound = (dcap_qvl.parse_quote(bytes.fromhex(json.loads(document.body)["quote"])) for document in documents)
    assert (plain.header.version, bound.header.version) == (version, version)
    for register in ("rt_mr0", "rt_mr1", "rt_mr2", "rt_mr3"):
        assert getattr(plain.report, register) == getattr(bound.report, register)
    assert bytes(plain.report.mr_td) == attestation.identity.mr_td


def test_without_tls_there_is_evidence_of_the_default_domain(running: Running) -> None:
    profile = running.ready["profile"]
    assert profile["attestation"]["gateway_domain"] == "node.example"
    assert not {"base_url", "resolver"} & set(profile["attestation"])
    assert {"attestation", "app_authorisation_contract"} <= set(profile["capabilities"])
    assert not {"tls", "caa_dns"} & set(profile["capabilities"])
    assert (running.ready["https_url"], running.ready["tls_root_certificate"]) == (None, None)
    leaf, _ = x509.load_pem_x509_certificates(running.http.get("/evidences/cert-node.example.pem").content)
    assert leaf.subject.rfc4514_string() == "CN=node.example"


def test_ready_file_says_where_everything_is(attested: Running) -> None:
    profile = attested.ready["profile"]
    assert {"attestation", "app_authorisation_contract", "tls", "caa_dns"} <= set(profile["capabilities"])
    stated = profile["attestation"]
    assert stated["base_url"] == attested.ready["https_url"]
    assert httpx.get(f"{stated['pccs_url']}/sgx/certification/v4/pckcrl", timeout=60).status_code == 200
    root = x509.load_pem_x509_certificate(stated["root_certificate"].encode())
    assert root.subject == root.issuer


def test_reset_gives_the_same_machine_again() -> None:
    with serving(Settings(port=0, control=True)) as running:
        paths = [path.replace("tee.example", "node.example") for path in PATHS]
        before = [running.http.get(path).content for path in paths]
        stated = running.ready["profile"]["attestation"]["root_certificate"]
        assert running.http.post("/control/rotate", json={}).status_code == 200
        assert running.http.post("/control/clock", json={"offset_seconds": 10**6}).status_code == 200
        assert running.http.post("/control/reset", json={}).status_code == 200
        assert [running.http.get(path).content for path in paths] == before
        assert running.node.attestation.platform.root_pem == stated
