"""The attestation endpoints: what they answer, and what binds one answer to the others (rules 1 to 3, 6 and 7)."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path

import httpx
import pytest
from browser import browsed
from cryptography import x509
from nodes import Running, refused, serving
from reading import program, read_quote, runtime_events

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

TYPES = {
    "/evidences/": "text/html; charset=utf-8",
    "/evidences/sha256sum.txt": "text/plain; charset=utf-8",
    "/evidences/cert-tee.example.pem": "application/pem-certificate-chain",
}


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


def test_answers_have_the_stated_members_and_no_others(attested: Running) -> None:
    get = attested.http.get
    info = get("/info").json()
    assert set(info) == {"app_id", "compose_hash", "tcb_info"}
    assert set(info["tcb_info"]) == {"app_compose"}
    assert set(get("/attestation").json()) == {"quote", "event_log", "vm_config"}
    assert set(get("/evidences/quote.json").json()) == {"quote", "event_log", "report_data", "vm_config"}
    account = get("/evidences/acme-account.json").json()
    assert set(account) == {"uri"}
    assert re.fullmatch(r"https://acme\.example/acme/acct/\d+", account["uri"])
    for event in json.loads(get("/attestation").json()["event_log"]):
        assert set(event) == {"imr", "event_type", "digest", "event", "event_payload"}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [{}, {"X-Api-Key": "nonsense"}, {"Authorization": "Bearer \xff"}, {"X-Api-Key": "a", "Authorization": "Bearer b"}],
)
def test_no_key_is_needed_and_any_is_ignored(attested: Running, path: str, headers: dict[str, str]) -> None:
    encoded = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = attested.http.get(path, headers=encoded)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == TYPES.get(path, "application/json")


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


def test_tags_differ_where_the_bodies_do(attested: Running) -> None:
    assert len({attested.http.head(path).headers["etag"] for path in PATHS}) == len(PATHS)


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
    for link in links:
        body = attested.http.get(f"/evidences/{link}").content
        assert f"<td>{len(body)}</td><td><code>{hashlib.sha256(body).hexdigest()}</code>" in page.text


def test_listing_leads_a_browser_to_the_files(attested: Running, tmp_path: Path) -> None:
    shown = browsed(str(attested.http.base_url.join("/evidences/")), tmp_path)
    assert "<h1>Evidence of tee.example</h1>" in shown
    assert shown.count("<tr>") == 5
    assert '<a href="cert-tee.example.pem">cert-tee.example.pem</a>' in shown


def test_compose_hash_is_that_of_the_text_and_measured(attested: Running) -> None:
    info = attested.http.get("/info").json()
    assert hashlib.sha256(info["tcb_info"]["app_compose"].encode()).hexdigest() == info["compose_hash"]
    compose = json.loads(info["tcb_info"]["app_compose"])["docker_compose_file"]
    images = re.findall(r"^\s+image: (.*)$", compose, re.MULTILINE)
    assert images
    assert all(re.search(r"@sha256:[0-9a-f]{64}$", image) for image in images)
    measured = {
        event["event"]: event["event_payload"]
        for event in runtime_events(attested.http.get("/attestation").json()["event_log"])
    }
    assert (measured["app-id"], measured["compose-hash"]) == (info["app_id"], info["compose_hash"])


def test_both_quotes_are_of_one_machine(attested: Running) -> None:
    answers = [attested.http.get(path).json() for path in ("/attestation", "/evidences/quote.json")]
    plain, bound = (read_quote(answer["quote"]) for answer in answers)
    assert (plain.mr_td, plain.rtmrs) == (bound.mr_td, bound.rtmrs)
    assert answers[0]["event_log"] == answers[1]["event_log"]
    assert plain.report_data == "00" * 64
    assert bound.report_data == answers[1]["report_data"]


def test_registers_of_the_quote_follow_from_the_event_log(attested: Running) -> None:
    answer = attested.http.get("/attestation").json()
    registers = [bytes(48)] * 4
    for event in json.loads(answer["event_log"]):
        typed = event["event_type"].to_bytes(4, "little") + f":{event['event']}:".encode()
        computed = hashlib.sha384(typed + bytes.fromhex(event["event_payload"])).digest()
        digest = bytes.fromhex(event["digest"]) or computed
        registers[event["imr"]] = hashlib.sha384(registers[event["imr"]] + digest).digest()
    assert read_quote(answer["quote"]).rtmrs == [register.hex() for register in registers]


def test_quote_binds_the_checksums_and_they_the_files(attested: Running, tmp_path: Path) -> None:
    for name in ("sha256sum.txt", "acme-account.json", "cert-tee.example.pem"):
        (tmp_path / name).write_bytes(attested.http.get(f"/evidences/{name}").content)
    command = [program("sha256sum", "coreutils"), "--check", "--strict", "sha256sum.txt"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 - coreutils
    assert checked.stdout == "acme-account.json: OK\ncert-tee.example.pem: OK\n"
    report_data = attested.http.get("/evidences/quote.json").json()["report_data"]
    sums = (tmp_path / "sha256sum.txt").read_bytes()
    assert report_data == hashlib.sha256(sums).hexdigest() + "00" * 32


def test_certificate_file_is_a_chain_with_the_leaf_first(attested: Running) -> None:
    body = attested.http.get("/evidences/cert-tee.example.pem").content
    leaf, issuer = x509.load_pem_x509_certificates(body)
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["tee.example", "localhost"]
    leaf.verify_directly_issued_by(issuer)
    (root,) = x509.load_pem_x509_certificates(attested.ready["tls_root_certificate"].encode())
    issuer.verify_directly_issued_by(root)


def test_same_secret_and_time_give_the_same_bytes() -> None:
    first, second = served(made()), served(made())
    assert first == second


def test_rotations_at_the_same_time_are_the_same_too() -> None:
    first, second = made(), made()
    before = first.evidence
    for attestation in (first, second):
        attestation.rotate()
    assert first.evidence.files == second.evidence.files
    assert first.evidence.credentials != before.credentials


@pytest.mark.parametrize("settings", [{"quote_version": 5}, {"tls_domain": "b.example"}])
def test_what_is_set_otherwise_gives_other_bytes(settings: dict[str, object]) -> None:
    assert served(made(**settings)) != served(made())


@pytest.mark.parametrize("version", [4, 5])
def test_quote_has_the_version_that_is_asked_for(version: int) -> None:
    attestation = made(quote_version=version)
    quotes = (attestation.attestation, attestation.evidence.files["quote.json"])
    read = [read_quote(json.loads(document.body)["quote"]) for document in quotes]
    assert [quote.version for quote in read] == [version, version]
    assert read[0].rtmrs == read[1].rtmrs
    assert read[0].mr_td == attestation.identity.mr_td.hex()


def test_documents_are_made_once() -> None:
    attestation = made()
    assert attestation.attestation is attestation.attestation
    assert attestation.evidence is attestation.evidence


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
    assert (
        x509.load_pem_x509_certificate(stated["root_certificate"].encode()).subject
        == x509.load_pem_x509_certificate(stated["root_certificate"].encode()).issuer
    )


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
