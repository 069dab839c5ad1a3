"""A private CA: `--ca-file`, `ca_file` of the profile, and curl in the scripts that repeat a case."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from answering_server import Server, running

from conformance.cli import main
from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Message
from conformance.endpoints.redaction import Secrets
from conformance.problems import Untrusted
from conformance.profile import Profile, load_profile
from conformance.profile.load import BadProfile
from conformance.report.replay import FUNCTIONS, NETWORK
from conformance.run.options import Options
from conformance.verify.authorisation import AuthorisationChain


@pytest.fixture
def secure(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with running(certificate) as server:
        yield server


def status(server: Server, profile: Profile) -> int:
    with Target(server.url, profile) as target:
        return target.exchange(Message("GET", "/", {}, None), ExchangeLog(Secrets())).status


def test_certificate_is_trusted_by_the_option_alone(secure: Server, certificate: Path) -> None:
    with pytest.raises(Untrusted, match="self-signed certificate"):
        status(secure, Profile())

    assert status(secure, Profile().trusting(certificate)) == 200


def test_profile_names_the_file_from_its_folder(
    secure: Server, certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ca.pem").write_bytes(certificate.read_bytes())
    (tmp_path / "node.yaml").write_text("ca_file: ca.pem\n", encoding="utf-8")
    monkeypatch.chdir("/")

    profile = load_profile(tmp_path / "node.yaml")

    assert status(secure, profile) == 200
    assert profile.trusting(None).trusted_file == tmp_path / "ca.pem"
    assert profile.trusting(certificate).trusted_file == certificate, "the option goes before the key"


@pytest.mark.parametrize(("text", "why"), [(None, "cannot be read"), ("no certificate", "has no certificate in PEM")])
def test_file_of_a_profile_that_has_none_is_told_with_its_line(text: str | None, why: str, tmp_path: Path) -> None:
    (tmp_path / "node.yaml").write_text("capabilities: []\nca_file: ca.pem\n", encoding="utf-8")
    if text is not None:
        (tmp_path / "ca.pem").write_text(text, encoding="utf-8")

    with pytest.raises(BadProfile, match=rf"node.yaml:2: ca_file: .*ca.pem {why}"):
        load_profile(tmp_path / "node.yaml")


@pytest.mark.parametrize(
    "command", [["run"], ["doctor"], ["init", "https://a.example"], ["load"], ["verify", "https://a.example"]]
)
def test_option_without_certificates_is_told(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main([*command, "--ca-file", "/nowhere/ca.pem"])

    assert raised.value.code == 2
    assert "--ca-file: /nowhere/ca.pem cannot be read: No such file" in " ".join(capsys.readouterr().err.split())


def test_doctor_trusts_the_file(secure: Server, certificate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--node-url", secure.url])
    assert "certificate is not trusted" in capsys.readouterr().out

    main(["doctor", "--node-url", secure.url, "--ca-file", str(certificate)])
    assert "certificate is not trusted" not in capsys.readouterr().out


def test_chain_of_the_verifier_trusts_the_file(secure: Server, certificate: Path) -> None:
    with AuthorisationChain(secure.url, ca_file=certificate) as chain:
        assert chain.has_contract(bytes(20))


def test_command_that_repeats_a_case_names_the_file() -> None:
    options = Options(ca_file=Path("ca.pem"))
    assert options.to_repeat_case() == ("--ca-file", "ca.pem")
    assert options.arguments() == ["--conformance-ca-file=ca.pem"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_curl_of_a_script_trusts_the_file_and_takes_no_proxy(secure: Server, certificate: Path) -> None:
    lines = [f"CA_FILE='{certificate}'", NETWORK, FUNCTIONS, f"send 200 look '{secure.url}/'", 'exit "$different"']
    proxies = {"HTTP_PROXY": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1", "NO_PROXY": "[::1"}

    def done(script: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own script
            ["/usr/bin/env", *(f"{name}={value}" for name, value in proxies.items()), "bash", "-c", "\n".join(script)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    trusted, untrusted = done(lines), done(["CA_FILE=", *lines[1:]])

    assert (trusted.returncode, trusted.stdout) == (0, "look: 200\n"), trusted.stderr
    assert untrusted.returncode == 1, "the control"
