"""TLS of the node's own: rule 4 holds on every connection, also while the certificate changes."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from connecting import connect_to
from cryptography import x509
from nodes import Running, refused, serving
from processes import failing

from reference_node.settings import Settings
from reference_node.tee.acme import Issuer

DOMAIN = "tee.example"


def https(running: Running, **options: object) -> httpx.Client:
    """A client that trusts the simulated issuer alone, and checks the address against the certificate."""
    trusting = ssl.create_default_context(cadata=running.ready["tls_root_certificate"])
    return httpx.Client(base_url=running.ready["https_url"], verify=trusting, timeout=60, **options)  # type: ignore[arg-type]


@contextlib.contextmanager
def connected(
    running: Running, name: str, trusting: ssl.SSLContext | None = None, session: ssl.SSLSession | None = None
) -> Iterator[ssl.SSLSocket]:
    """A bare connection to the node under this name."""
    trusting = trusting or ssl.create_default_context(cadata=running.ready["tls_root_certificate"])
    with (
        connect_to(running.ready["https_url"]) as plain,
        trusting.wrap_socket(plain, server_hostname=name, session=session) as secure,
    ):
        yield secure


def leaf_of(chain: bytes) -> x509.Certificate:
    return x509.load_pem_x509_certificates(chain)[0]


def served_leaf(running: Running) -> x509.Certificate:
    """The certificate that a new connection is shown."""
    address = httpx.URL(running.ready["https_url"])
    return leaf_of(ssl.get_server_certificate((address.host, address.port or 443), timeout=60).encode())


def leaf_in_evidence(running: Running) -> x509.Certificate:
    return leaf_of(running.http.get(f"/evidences/cert-{DOMAIN}.pem").raise_for_status().content)


def rotate(running: Running) -> None:
    assert running.http.post("/control/rotate", json={}).json() == {"success": True}


def own(folder: Path, seed: bytes = b"operator") -> tuple[Path, Path]:
    """A certificate and key of an operator's, in files."""
    credentials = Issuer(seed, 1_790_000_000).issue("mine.example", int(datetime.now(UTC).timestamp()), 0)
    folder.mkdir(exist_ok=True)
    chain, key = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(credentials.chain)
    key.write_bytes(credentials.key)
    return chain, key


def test_domain_and_the_loopback_are_names_of_the_certificate(attested: Running) -> None:
    for name in (DOMAIN, "localhost", "127.0.0.1"):
        with connected(attested, name) as connection:
            assert connection.version() == "TLSv1.3"
    with pytest.raises(ssl.SSLCertVerificationError), connected(attested, "other.example"):
        pass


def test_quote_without_report_data_outlives_a_rotation(attested: Running) -> None:
    before = attested.http.get("/attestation").content
    rotate(attested)
    assert attested.http.get("/attestation").content == before


def test_no_request_fails_while_certificates_rotate(attested: Running) -> None:
    done = threading.Event()

    def statuses() -> set[int]:
        seen = set()
        with https(attested) as kept:
            while not done.is_set():
                with https(attested) as fresh:
                    seen |= {http.get("/info").status_code for http in (kept, fresh)}
        return seen

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(statuses) for _ in range(3)]
        for _ in range(20):
            rotate(attested)
        done.set()
        assert {status for asked in asking for status in asked.result(60)} <= {200}


def test_certificate_ages_with_the_clock() -> None:
    settings = Settings(port=0, control=True, tls_domain=DOMAIN, tls_port=0)
    with serving(settings) as running:
        ninety_days = 90 * 24 * 3600
        assert running.http.post("/control/clock", json={"offset_seconds": ninety_days}).status_code == 200
        then = datetime.fromtimestamp(running.node.clock.now(), UTC)
        assert leaf_in_evidence(running).not_valid_after_utc <= then
        rotate(running)
        renewed = leaf_in_evidence(running)
        assert renewed.not_valid_before_utc <= then < renewed.not_valid_after_utc
        assert renewed.not_valid_after_utc - renewed.not_valid_before_utc == timedelta(days=90)


def test_client_that_speaks_no_tls_leaves_the_server_running(attested: Running) -> None:
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"x" * 50, b""):
        with connect_to(attested.ready["https_url"]) as connection:
            connection.sendall(garbage)
    with https(attested) as http:
        assert http.get("/info").status_code == 200


def test_no_session_is_resumed_past_a_rotation(attested: Running) -> None:
    trusting = ssl.create_default_context(cadata=attested.ready["tls_root_certificate"])
    session = None
    for _ in range(2):
        with connected(attested, DOMAIN, trusting, session) as connection:
            connection.sendall(b"GET /info HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            while connection.recv(65536):
                pass
            assert not connection.session_reused
            session = connection.session
        rotate(attested)


def test_own_certificate_is_served_with_evidence_of_it(tmp_path: Path) -> None:
    chain, key = own(tmp_path)
    with serving(Settings(port=0, control=True, tls_cert=chain, tls_key=key, tls_port=0)) as running:
        assert running.ready["profile"]["attestation"]["gateway_domain"] == "mine.example"
        assert running.ready["tls_root_certificate"] is None
        assert running.http.get("/evidences/cert-mine.example.pem").content == chain.read_bytes()
        leaf = leaf_of(chain.read_bytes())
        assert served_leaf(running) == leaf
        other_chain, other_key = own(tmp_path / "other", b"another")
        other_key.replace(key)
        for operation in ("rotate", "reset"):
            refused(running.http.post(f"/control/{operation}", json={}), 409, "certificate-unusable")
        assert running.http.get("/evidences/cert-mine.example.pem").content == chain.read_bytes()
        other_chain.replace(chain)
        rotate(running)
        assert running.http.get("/evidences/cert-mine.example.pem").content == chain.read_bytes()
        assert served_leaf(running) == leaf_of(chain.read_bytes()) != leaf


def test_certificate_that_can_not_be_served_is_one_clear_line(tmp_path: Path) -> None:
    chain, key = own(tmp_path)
    _, other_key = own(tmp_path / "other", b"another")
    (tmp_path / "empty").write_text("")
    cases = [
        (("--tls-cert", chain), 2, "give both --tls-cert and --tls-key"),
        (("--tls-cert", chain, "--tls-key", other_key), 1, "is not that of the first certificate"),
        (("--tls-cert", chain, "--tls-key", tmp_path / "none"), 1, "can't be read"),
        (("--tls-cert", tmp_path / "empty", "--tls-key", key), 1, "holds no certificate in PEM"),
        (("--tls-cert", chain, "--tls-key", chain), 1, "holds no private key in PEM"),
        (("--tls-cert", chain, "--tls-key", key, "--tls-domain", "other.example"), 1, "is not for other.example"),
    ]
    for options, code, said in cases:
        returned, error = failing("--tls-port", "0", *map(str, options))
        assert (returned, error.count("\n")) == (code, 1), error
        assert said in error
