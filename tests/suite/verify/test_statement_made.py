"""What a statement says of a run, and when none is made."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from made_evidence import AT, DOMAIN, HONEST, MADE, NOW, POLICY, in_json, made, running

from conformance.cli import main
from conformance.profile import Profile
from conformance.report import Results, RunRecord, results_of
from conformance.report.results import EvidenceVerified, RunEvidence
from conformance.report.statement import NoStatement, judgement_of
from conformance.selftest.attestation.sound_evidence import COMPOSE, DIGEST
from conformance.verdict import Failure, Outcome, Verdict
from conformance.verify import Evidence, Policy, Signer, StatementPolicy, save_folder, verify
from conformance.verify.evidence import digest_of
from conformance.verify.statement import Judgement, read_statement
from conformance.verify.verifying import OF_STATEMENTS

CONTRACT = "0x" + "c0" * 20
CHAIN_CONFIG = json.dumps({"chain_id": 8453, "contract_address": CONTRACT, "more": None}).encode()
EVIDENCE = HONEST.with_file("node-chain-config.json", CHAIN_CONFIG)
LATER = in_json(EVIDENCE, "observed.json", at=AT + 60)


def outcome(case: str, verdict: Verdict = Verdict.PASS) -> Outcome:
    failed = verdict in {Verdict.FAIL, Verdict.KNOWN}
    return Outcome(
        case=case,
        title=case,
        requirements=("ATT-020",),
        verdict=verdict,
        reason="" if verdict is Verdict.PASS else "a reason",
        failure=Failure("steps[1]", "a list", "nothing", None) if failed else None,
        exchanges=1,
        seconds=0.5,
    )


def seen(evidence: Evidence) -> EvidenceVerified:
    return EvidenceVerified(sha256=digest_of(evidence), at=NOW, verified=True, refused=())


def run(
    *outcomes: Outcome, before: Evidence = EVIDENCE, after: Evidence = LATER, checks: Sequence[str] = (), **more: Any
) -> Results:
    record = RunRecord(
        base_url=f"https://{DOMAIN}",
        bundled=False,
        profile=Profile(),
        profile_source="node.yaml",
        seed="7",
        started=NOW - timedelta(seconds=5),
        finished=NOW + timedelta(seconds=90),
        outcomes=outcomes or (outcome("p::a"), outcome("p::b")),
        checks={"ATT-020": (*checks, *(one.case for one in outcomes))},
        evidence=RunEvidence(before=seen(before), after=seen(after), trouble=""),
    )
    return results_of(replace(record, **more))


def stated(
    results: Results, before: Evidence = EVIDENCE, after: Evidence = LATER, policy: Policy = POLICY
) -> Judgement:
    return judgement_of(results, before, after, policy)


def test_statement_names_what_was_judged_by_what_and_when() -> None:
    results = run()
    said = json.loads(stated(results).payload())
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert {one["name"]: one["digest"]["sha256"] for one in said["subject"]} == {
        "app_compose": MADE.who.compose_hash.hex(),
        f"image:registry.example/node:1.0@sha256:{DIGEST}": DIGEST,
        "AccountConfig": sha256(f"eip155:8453:{CONTRACT}".encode()).hexdigest(),
        "results.json": sha256(results.content).hexdigest(),
        "profile": results.profile.sha256,
    }
    predicate = said["predicate"]
    assert (predicate["result"], predicate["passedTests"]) == ("PASSED", ["p::a", "p::b"])
    assert predicate["warnedTests"] == predicate["failedTests"] == []
    used = {one["name"]: one for one in predicate["configuration"]}
    assert used["suite"]["uri"] == f"pkg:pypi/service-conformance@{results.suite.version}"
    assert used["specification"]["digest"]["sha256"] == results.specification.sha256
    assert used["run"]["annotations"]["started"] == "2026-02-28T23:59:55Z"
    assert used["evidence before"]["digest"]["sha256"] == digest_of(EVIDENCE)
    assert used["evidence after"]["annotations"]["at"] == "2026-03-01T00:01:00Z"


def test_statement_is_read_as_it_was_made() -> None:
    made = stated(run(outcome("p::a"), outcome("p::k", Verdict.KNOWN)))
    assert read_statement(made.payload()) == made


@pytest.mark.parametrize(
    ("results", "result", "warning"),
    [
        (run(outcome("p::a"), selected=("--pack=p",)), "WARNED", "A part of the cases was run, 0 were not: --pack=p."),
        (run(outcome("p::a"), quick=True), "WARNED", "A part of the cases was run, 0 were not: --quick."),
        (run(outcome("p::a"), checks=["p::z"]), "WARNED", "A part of the cases was run, 1 were not."),
        (run(outcome("p::a"), outcome("p::k", Verdict.KNOWN)), "WARNED", "1 case failed as the vendor's list"),
        (run(outcome("p::a"), outcome("p::i", Verdict.INCONCLUSIVE)), "WARNED", "1 case taught nothing."),
        (run(outcome("p::i", Verdict.INCONCLUSIVE)), "FAILED", "1 case taught nothing."),
        (run(outcome("p::a"), outcome("p::f", Verdict.FAIL)), "FAILED", "1 case failed."),
        (
            run(outcome("p::a"), outcome("p::s", Verdict.SUITE_ERROR)),
            "FAILED",
            "1 case ended by an error of the suite.",
        ),
        (run(outcome("p::a"), faults=("`x` passes",)), "FAILED", "`x` passes"),
        (run(outcome("p::n", Verdict.NOT_OFFERED)), "FAILED", None),
        (run(outcome("p::a"), outcome("p::n", Verdict.NOT_OFFERED)), "PASSED", None),
    ],
)
def test_result_is_no_better_than_the_run(results: Results, result: str, warning: str | None) -> None:
    said = stated(results)
    assert said.result == result
    assert [one[: len(warning or "")] for one in said.run.annotations.warnings] == ([warning] if warning else [])


def test_run_over_another_connection_than_the_evidence_is_warned_of() -> None:
    profile = Profile.model_validate({"attestation": {"base_url": f"https://{DOMAIN}"}})
    said = stated(run(base_url="http://10.0.0.1:8000", profile=profile))
    assert said.result == "WARNED"
    assert "Nothing shows that the cases' connections ended" in said.run.annotations.warnings[0]


OTHER = made(who=running(COMPOSE.replace(DIGEST, "cd" * 32))).with_file("node-chain-config.json", CHAIN_CONFIG)
OTHER_LATER = in_json(OTHER, "observed.json", at=AT + 60)
OTHER_CONTRACT = LATER.with_file("node-chain-config.json", CHAIN_CONFIG.replace(b"c0c0", b"c1c0"))
NO_CONTRACT = EVIDENCE.with_file("node-chain-config.json", None)
EARLY = in_json(EVIDENCE, "observed.json", at=AT - 600)
BROKEN = in_json(EVIDENCE, "info.json", compose_hash="00" * 32)


@pytest.mark.parametrize(
    ("results", "before", "after", "why"),
    [
        (run(evidence=None), EVIDENCE, LATER, "made without --evidence"),
        (run(evidence=RunEvidence(before=seen(EVIDENCE), after=None, trouble="gone")), EVIDENCE, LATER, "gone"),
        (run(base_url="https://other.example"), EVIDENCE, LATER, "not of the node that results"),
        (run(before=EARLY), EVIDENCE, LATER, "evidence in before/ is not the one that results.json names"),
        (run(), EVIDENCE, EVIDENCE, "evidence in after/ is not the one that results.json names"),
        (run(after=OTHER_LATER), EVIDENCE, OTHER_LATER, "other code answered: app_compose .* and .*; images"),
        (run(after=OTHER_CONTRACT), EVIDENCE, OTHER_CONTRACT, "other code answered: contract eip155:8453"),
        (run(before=NO_CONTRACT), NO_CONTRACT, LATER, "before/ does not name the code: contract-unknown"),
        (run(before=EARLY), EARLY, LATER, "not observed while the run went on"),
        (run(before=LATER, after=EVIDENCE), LATER, EVIDENCE, "not observed while the run went on"),
        (run(before=BROKEN), BROKEN, LATER, "before/ is refused: compose-hash-differs"),
    ],
)
def test_no_statement_is_made_of_evidence_that_does_not_hold_it(
    results: Results, before: Evidence, after: Evidence, why: str
) -> None:
    with pytest.raises(NoStatement, match=why):
        stated(results, before, after)


def test_evidence_is_not_judged_by_the_root_that_it_brings() -> None:
    with pytest.raises(NoStatement, match="root-simulated"):
        stated(run(), policy=Policy())


@pytest.mark.parametrize(
    "update",
    [{"conforms": False}, {"exit_code": 1}, {"cases": ()}, {"cases": run().cases[:1]}, {"cases": run().cases[:1] * 2}],
)
def test_results_that_contradict_themselves_are_not_stated(update: dict[str, object]) -> None:
    with pytest.raises(NoStatement, match="contradicts itself"):
        stated(run().model_copy(update=update))


# the command


def pem(key: PrivateKeyTypes, password: bytes | None = None) -> bytes:
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


def save_run(folder: Path) -> None:
    """Write what a run with evidence leaves, and the root of its evidence."""
    save_folder(EVIDENCE, folder / "evidence" / "before")
    save_folder(LATER, folder / "evidence" / "after")
    (folder / "results.json").write_bytes(run().content)
    (folder / "root.pem").write_bytes(EVIDENCE["root.pem"])


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    save_run(tmp_path)
    (tmp_path / "key.pem").write_bytes(pem(ed25519.Ed25519PrivateKey.generate()))
    return tmp_path


def command(folder: Path, *more: object) -> int:
    arguments = [folder / "results.json", "--evidence", folder / "evidence", "--root", folder / "root.pem"]
    return main(["statement", *map(str, [*arguments, "-o", folder / "statement.json", *more])])


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        pytest.param(ed25519.Ed25519PrivateKey.generate(), [], id="Ed25519"),
        pytest.param(ec.generate_private_key(ec.SECP256R1()), [ec.ECDSA(SHA256())], id="ECDSA over P-256"),
    ],
)
def test_command_signs_what_the_run_shows(
    key: Any, algorithm: list[ec.ECDSA], kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (kept / "key.pem").write_bytes(pem(key))
    assert command(kept, "--key", kept / "key.pem") == 0
    envelope = json.loads((kept / "statement.json").read_bytes())
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    payload = base64.b64decode(envelope["payload"])
    assert payload == stated(run()).payload()
    (signature,) = envelope["signatures"]
    signed = b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(payload), payload)
    key.public_key().verify(base64.b64decode(signature["sig"]), signed, *algorithm)
    assert f"PASSED of 5 subjects, signed by the key {signature['keyid']}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (pem(rsa.generate_private_key(65537, 2048)), "a key of another kind than Ed25519 or ECDSA over P-256"),
        (pem(ec.generate_private_key(ec.SECP384R1())), "a key of another kind than Ed25519 or ECDSA over P-256"),
        (pem(ec.generate_private_key(ec.SECP256K1())), "a key of another kind than Ed25519 or ECDSA over P-256"),
        (pem(ed25519.Ed25519PrivateKey.generate(), b"secret"), "no private key in PEM without a password"),
        (b"nonsense", "no private key in PEM without a password"),
    ],
)
def test_key_that_cannot_sign_is_told_in_one_line(
    content: bytes, why: str, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (kept / "other.pem").write_bytes(content)
    assert command(kept, "--key", kept / "other.pem") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"service-conformance: --key {kept}/other.pem: {why}")
    assert not (kept / "statement.json").exists()


@pytest.mark.parametrize(
    ("gone", "why"),
    [
        ("key.pem", "key.pem: cannot be read: No such file or directory"),
        ("root.pem", "root.pem: cannot be read: No such file or directory"),
        ("results.json", "results.json"),
        ("evidence/after/info.json", "the evidence in after/ is not the one that results.json names"),
    ],
)
def test_missing_file_is_told_in_one_line(gone: str, why: str, kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (kept / gone).unlink()
    assert command(kept, "--key", kept / "key.pem") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert why in line


# what `verify` says of it


@pytest.fixture
def judged(kept: Path) -> Path:
    """The folder of a run, with the statement of its verdict and the signer's public key."""
    key = ec.generate_private_key(ec.SECP256R1())
    (kept / "key.pem").write_bytes(pem(key))
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (kept / "signer.pem").write_bytes(public)
    assert command(kept, "--key", kept / "key.pem") == 0
    return kept


def verified(folder: Path, *more: object) -> int:
    arguments = ["--evidence", folder / "evidence" / "after", "--root", folder / "root.pem", *more]
    return main(["verify", *map(str, arguments)])


def in_one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed, with single blanks in place of columns and line breaks."""
    return " ".join(capsys.readouterr().out.split())


def test_verify_tells_in_one_table_what_was_judged(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--statement", judged / "statement.json", "--signer", judged / "signer.pem"]
    assert verified(judged, *arguments) == 0
    shown = in_one_line(capsys)
    assert "judged by holds signer.pem, key" in shown
    assert "judged code holds app_compose" in shown
    assert "judged as holds PASSED: 2 passed" in shown
    assert "22 of 22 rules hold" in shown
    assert verified(judged, *arguments, "--at", AT + 400 * 86400) == 1  # other rules refuse by then, this one does not
    assert "judged when holds the run ended 2026-03-01 00:01:30Z, 399 days before" in in_one_line(capsys)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--statement", "none.json", "--signer", "signer.pem"], "none.json: cannot be read: No such file"),
        (["--statement", "long.json", "--signer", "signer.pem"], "long.json: longer than 4194304 bytes"),
        (["--statement", "statement.json", "--signer", "long.json"], "long.json: longer than 4194304 bytes"),
    ],
)
def test_verify_tells_what_it_cannot_use(
    options: list[str], why: str, judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (judged / "long.json").write_bytes(b"[" * 10_000_000)
    named = [str(judged / option) if "." in option else option for option in options]
    assert verified(judged, *named) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert why in line


@pytest.mark.parametrize("body", [b"[" * 10_000_000, b'{"payload":"' + b"A" * 10_000_000 + b'"}', b"\0" * 10_000_000])
def test_library_refuses_long_statements_at_once(body: bytes) -> None:
    signer = ed25519.Ed25519PrivateKey.generate().public_key()
    believed = Signer(signer.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    policy = replace(POLICY, statement=StatementPolicy((believed,)))
    result = verify(LATER.with_file("statement.json", body), policy)
    assert not result.accepted
    assert {finding.code for finding in result.findings if finding.rule in OF_STATEMENTS} == {"statement-malformed"}


def test_signer_that_is_no_key_is_refused_by_the_library(judged: Path) -> None:
    policy = replace(POLICY, statement=StatementPolicy((Signer(b"nobody"),)))
    statement = (judged / "statement.json").read_bytes()
    assert "signer-unusable" in verify(LATER.with_file("statement.json", statement), policy).codes


# the board


def site(folder: Path, *more: object) -> int:
    runs = folder / "runs" / "acme" / "1.0"
    runs.mkdir(parents=True, exist_ok=True)
    for name in ("results.json", "statement.json"):
        (runs / name).write_bytes((folder / name).read_bytes())
    return main(["site", *map(str, [folder / "runs", "-o", folder / "site", *more])])


def test_board_marks_a_run_whose_statement_holds(judged: Path) -> None:
    assert site(judged, "--signer", judged / "signer.pem") == 0
    board = (judged / "site" / "index.html").read_text(encoding="utf-8")
    assert "signed by signer</a> for code <code>" + MADE.who.compose_hash.hex()[:12] in board
    kept = judged / "site" / "acme" / "1.0.statement.json"
    assert kept.read_bytes() == (judged / "statement.json").read_bytes()
    assert "statement of signer" in (judged / "site" / "acme" / "1.0.html").read_text(encoding="utf-8")


def test_board_shows_no_mark_of_a_signer_whom_nobody_named(judged: Path) -> None:
    assert site(judged) == 0
    assert "signed by" not in (judged / "site" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("results.json", b'"seed": "7"', b'"seed": "8"', "is about another results.json than the one beside it"),
        ("statement.json", b'"sig": "', b'"sig": "MEU', "statement-malformed: sig: no standard base64"),
        ("statement.json", b'"keyid": "', b'"keyid": "0', "statement-signature: signature 1 of 1"),
        ("signer.pem", b"PUBLIC", b"PRIVATE", "--signer"),
    ],
)
def test_board_is_not_made_with_a_false_statement(
    name: str, old: bytes, new: bytes, why: str, judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = (judged / name).read_bytes()
    assert old in body
    (judged / name).write_bytes(body.replace(old, new))
    assert site(judged, "--signer", judged / "signer.pem") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert why in line
    assert not (judged / "site" / "index.html").exists()
