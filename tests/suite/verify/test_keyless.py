"""Statements signed with an identity: what a Sigstore bundle has to prove, offline, with a small Sigstore."""

from __future__ import annotations

import base64
import copy
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_sigstore import IDENTITY, ISSUER, Sigstore, b64, token
from test_statement_made import LATER, POLICY, command, in_one_line, run, save_run, stated, verified

from conformance.verify import KeylessSigner, Rule, StatementPolicy, Verified, keyless, verify
from conformance.verify.policy_file import load_policy
from conformance.verify.verifying import OF_STATEMENTS

SIGSTORE = Sigstore()
PAYLOAD = stated(run()).payload()
BELIEVED = KeylessSigner(IDENTITY, ISSUER, "our laboratory")
TRUE = SIGSTORE.bundle(PAYLOAD)
ROOT = json.dumps(SIGSTORE.trusted_root()).encode()


def judged(bundle: object, *signers: Any, root: bytes | None = ROOT) -> Verified:
    """What the rules of statements say of a bundle, or of bytes."""
    body = bundle if isinstance(bundle, bytes) else json.dumps(bundle).encode()
    policy = replace(POLICY, statement=StatementPolicy(signers or (BELIEVED,), trusted_root=root))
    return verify(LATER.with_file("statement.json", body), policy, OF_STATEMENTS)


def refusals(result: Verified) -> set[tuple[str, str]]:
    assert not result.accepted
    return {(finding.code, finding.compared) for finding in result.findings}


@pytest.mark.parametrize("others", [(), (KeylessSigner("somebody@else.example", ISSUER),)], ids=["alone", "another"])
def test_true_bundle_is_accepted(others: tuple[KeylessSigner, ...]) -> None:
    result = judged(TRUE, *others, BELIEVED)
    assert result.accepted, result.findings
    told = {rule.rule: rule.compared for rule in result.rules}
    assert told[Rule.STATEMENT_SIGNATURE] == f"our laboratory, identity {IDENTITY}, issuer {ISSUER}"


def altered(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """A true bundle, changed."""
    bundle = copy.deepcopy(TRUE)
    change(bundle)
    return bundle


def _second_envelope(bundle: dict[str, Any]) -> None:
    bundle["dsse_envelope"] = bundle["dsseEnvelope"]
    bundle["dsseEnvelope"] = bundle["dsseEnvelope"] | {"payload": b64(PAYLOAD + b" ")}


def _file_in_place_of_a_statement(bundle: dict[str, Any]) -> None:
    bundle["messageSignature"] = {"signature": bundle.pop("dsseEnvelope")["signatures"][0]["sig"]}


WARNED = b64(PAYLOAD.replace(b"PASSED", b"WARNED"))
SIGNATURE, MALFORMED = "statement-signature", "statement-malformed"
FALSE: dict[str, tuple[dict[str, Any], str, str]] = {
    "another payload": (
        altered(lambda bundle: bundle["dsseEnvelope"].update(payload=WARNED)),
        SIGNATURE,
        "DSSE: invalid signature",
    ),
    "no entry of the log": (
        altered(lambda bundle: bundle["verificationMaterial"].update(tlogEntries=[])),
        SIGNATURE,
        "expected exactly one log entry",
    ),
    "second envelope": (altered(_second_envelope), SIGNATURE, ""),
    "envelope alone": (TRUE["dsseEnvelope"], SIGNATURE, ""),
    "another identity": (
        SIGSTORE.bundle(PAYLOAD, identity=IDENTITY + "2"),
        SIGNATURE,
        f"signed by identity {IDENTITY}2, issuer {ISSUER}, whom the policy does not name",
    ),
    "beginning of the identity": (SIGSTORE.bundle(PAYLOAD, identity=IDENTITY[:-1]), SIGNATURE, "whom the policy does"),
    "another issuer": (
        SIGSTORE.bundle(PAYLOAD, issuer="https://other.example"),
        SIGNATURE,
        "issuer https://other.example, whom the policy",
    ),
    "issuer with a slash": (SIGSTORE.bundle(PAYLOAD, issuer=ISSUER + "/"), SIGNATURE, "whom the policy does not name"),
    "another Sigstore": (Sigstore().bundle(PAYLOAD), SIGNATURE, "failed to build timestamp certificate chain"),
    "older media type": (
        altered(lambda bundle: bundle.update(mediaType="application/vnd.dev.sigstore.bundle+json;version=0.1")),
        MALFORMED,
        "",
    ),
    "no media type": (altered(lambda bundle: bundle.update(mediaType=None)), MALFORMED, ""),
    "file in place of a statement": (altered(_file_in_place_of_a_statement), MALFORMED, ""),
}


@pytest.mark.parametrize("name", FALSE)
def test_false_bundle_is_refused(name: str) -> None:
    bundle, code, why = FALSE[name]
    ((found, text),) = refusals(judged(bundle))
    assert found == code
    assert why in text


def test_public_instance_is_trusted_by_default_without_a_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    for variable in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    trusted = [certificate.subject.rfc4514_string() for certificate in keyless.public_root().get_fulcio_certs()]
    assert "CN=sigstore,O=sigstore.dev" in trusted
    ((code, text),) = refusals(judged(TRUE, root=None))
    assert (code, "failed to build timestamp certificate chain" in text) == ("statement-signature", True)
    assert capsys.readouterr().err == ""


def test_library_refuses_a_file_that_is_no_trusted_root() -> None:
    assert {code for code, _ in refusals(judged(TRUE, root=b"{}"))} == {"signer-unusable"}


@pytest.mark.parametrize(("identity", "issuer"), [("", ISSUER), (IDENTITY, "")])
def test_signer_needs_identity_and_issuer(identity: str, issuer: str) -> None:
    with pytest.raises(ValueError, match="both an identity and its issuer"):
        KeylessSigner(identity, issuer)


# the commands


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The folder of a run, with the trusted root of the small Sigstore."""
    save_run(tmp_path)
    (tmp_path / "trusted_root.json").write_bytes(ROOT)
    (tmp_path / "statement.json").write_text(json.dumps(TRUE))
    return tmp_path


def believing(folder: Path, *more: object) -> list[object]:
    named = ["--certificate-identity", IDENTITY, "--certificate-oidc-issuer", ISSUER]
    return ["--statement", folder / "statement.json", *named, "--trusted-root", folder / "trusted_root.json", *more]


def test_statement_is_signed_with_an_identity_and_verified(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (kept / "statement.json").unlink()
    with SIGSTORE.served() as url:
        (kept / "trust.json").write_text(json.dumps(SIGSTORE.trust_config(url)))
        assert command(kept, "--keyless", "--identity-token", token(), "--trust-config", kept / "trust.json") == 0
    assert f"PASSED of 5 subjects, signed by identity {IDENTITY}, issuer {ISSUER}" in capsys.readouterr().out
    bundle = json.loads((kept / "statement.json").read_bytes())
    assert bundle["mediaType"] == "application/vnd.dev.sigstore.bundle.v0.3+json"
    assert base64.b64decode(bundle["dsseEnvelope"]["payload"]) == PAYLOAD
    assert verified(kept, *believing(kept)) == 0
    shown = in_one_line(capsys)
    assert "judged by holds a signer, identity" in shown
    assert "22 of 22 rules hold" in shown


def test_policy_names_identities(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    signers = f"[{{identity: '{IDENTITY}', issuer: '{ISSUER}', name: our laboratory}}]"
    policy = kept / "judged.yaml"
    policy.write_text(f"statement:\n  signers: {signers}\n  trusted_root: trusted_root.json\n")
    assert load_policy(policy).policy.statement == StatementPolicy((BELIEVED,), trusted_root=ROOT)
    written = kept / "written.yaml"
    options = ["--statement", kept / "statement.json"]
    assert verified(kept, "--policy", policy, *options, "--write-policy", written) == 0
    assert "judged by holds our laboratory" in in_one_line(capsys)
    assert load_policy(written).policy.statement == StatementPolicy((BELIEVED,), trusted_root=ROOT)
    policy.write_text(policy.read_text().replace("judge.yml", "other.yml"))
    assert verified(kept, "--policy", policy, *options) == 1
    assert "refused statement-signature" in in_one_line(capsys)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--identity-token", "nonsense"], "--keyless: nothing is signed: Identity token is malformed"),
        (["--identity-token", ""], "--keyless: nothing is signed: Identity token is malformed"),
        (["--identity-token", token()], "127.0.0.1"),  # nobody listens there
        (["--trust-config", "root.pem"], "--keyless: nothing is signed: "),
        (["--trust-config", "none.json"], "none.json: cannot be read: No such file"),
    ],
)
def test_nothing_is_signed_without_a_usable_identity(
    options: list[str], why: str, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (kept / "trust.json").write_text(json.dumps(SIGSTORE.trust_config("http://127.0.0.1:9")))
    (kept / "statement.json").unlink()
    named = [kept / one if one.endswith((".json", ".pem")) else one for one in options]
    trust = [] if "--trust-config" in options else ["--trust-config", kept / "trust.json"]
    assert command(kept, "--keyless", *named, *trust) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert why in line
    assert not (kept / "statement.json").exists()


def test_options_of_an_identity_need_one(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(kept, "--key", kept / "root.pem", "--identity-token", token()) == 2
    assert capsys.readouterr().err == "service-conformance: --identity-token needs --keyless\n"


def test_absent_library_is_named_in_one_line(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "sigstore"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(keyless, "find_spec", lambda _: None)
    install = "Sigstore's library is not installed: pip install 'service-conformance[sigstore]'"
    assert command(kept, "--keyless") == 2
    assert capsys.readouterr().err == f"service-conformance: --keyless: {install}\n"
    assert verified(kept, *believing(kept)[:-2]) == 2
    assert capsys.readouterr().err == f"service-conformance verify: {install}\n"
    assert {code for code, _ in refusals(judged(TRUE))} == {"signer-unusable"}
    assert "sigstore" not in sys.modules
