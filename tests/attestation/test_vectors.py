"""The shipped attestation vectors: their form, their coverage, and what this project's own verifier says of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance import attestation_vectors
from conformance.attestation_vectors.answer import answer
from conformance.attestation_vectors.files import Vector, folder, read, shipped
from conformance.attestation_vectors.protocol import request
from conformance.problems import Problem
from conformance.requirements import catalogue
from conformance.selftest.attestation import vector_files
from conformance.verify import FAULTS, Severity

FILES = sorted(folder().glob("*.json"))
SCHEMA = Path(attestation_vectors.__file__).with_name("schema.json")

NO_VECTOR = {
    "compose-unexpected": "needs a compose file of the caller",
    "root-unusable": "needs a root of the caller that is none",
    "signer-unusable": "needs a signer of the caller that is none",
    "time-unknown": "needs a caller that states no time",
    "readings-differ": "would be a fault of the quote library or of this verifier",
    "verifier-fault": "would be a fault of this verifier",
}
"""Codes that no evidence alone can bring about."""

MISTAKES: dict[str, dict[str, tuple[str, ...]]] = {
    "boot.json": {
        "compares the beginnings of registers": tuple(
            f"the measured {name} differs in its last bit" for name in ("MRTD", "RTMR0", "RTMR1", "RTMR2")
        ),
        "knows the first set alone": ("the second of two sets has them",),
        "takes each register from any set": ("each register is in one of two sets, all of them in none",),
        "believes the log": ("another kernel, and the log shows the expected one's events",),
        "accepts what the log leaves out": ("another kernel, whose boot events the log leaves out",),
    },
    "policy.json": {
        "takes the first of several events": ("os-image-hash is measured again with another value",),
        "takes the last of several events": ("os-image-hash is measured twice",),
        "counts what the application measures": (
            "os-image-hash is measured by the application, after system-ready",
            "another os-image-hash measured by the application, where it counts for nothing",
        ),
        "takes another event's digest": (
            "os-image-hash stands beside an event that has the digest of another one",
            "key-provider stands beside an event that has the digest of another one",
        ),
        "compares the kind of key provider alone": ("another key_provider than the policy's, in one digit",),
        "compares the id of the key provider alone": ("another kind of key provider",),
        "is content with one image": ("a second image, not the policy's",),
        "compares the beginning of an account": ("the beginning of the account is the policy's",),
        "counts a day more": tuple(f"{what} older by a day than the policy allows" for what in ("tcb", "collateral")),
        "takes the platform's date alone": ("the quoting enclave's level is older",),
    },
    "statement.json": {
        "checks the first signature alone": ("a right one and a wrong one",),
        "checks the last signature alone": ("a wrong one and a right one",),
        "counts one signature twice": ("the right one twice",),
        "ignores the names of keys": ("the signer's, which names another key",),
        "reads any base64": ("payload in the alphabet of URLs", "sig without its padding"),
        "takes the last of two members": ("payload stands twice, with one value", "result stands twice"),
        "takes the last of two entries": ("suite stands twice",),
        "takes the last of two subjects": (
            "app_compose stands with another digest before the right one",
            "app_compose stands with another digest behind the right one",
        ),
        "misses no subject": ("AccountConfig is missing", "results.json is missing", "profile is missing"),
        "overlooks further subjects": ("a subject 'sbom' more", "one image more"),
        "ignores addresses": ("a contract at another address, with the right digest",),
        "ignores digests": ("another digest of AccountConfig",),
        "leaves a register out": tuple(f"another {name} was judged" for name in ("mrtd", "rtmr0", "rtmr1", "rtmr2")),
        "lets a policy accept failures": ("FAILED, where WARNED is accepted",),
        "lets clocks differ more, or less": (
            "ends in the future, by a second more than clocks may differ",
            "ended as far in the future as clocks may differ",
        ),
    },
}
"""Faults of verifiers that few vectors notice, with those vectors by file and comment."""


@pytest.fixture(scope="module")
def vectors() -> list[Vector]:
    return shipped()


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    return vector_files("0")


def document(path: Path) -> dict[str, Any]:
    form: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return form


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_file_conforms_to_its_schema(path: Path) -> None:
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(document(path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_file_numbers_its_tests_and_explains_its_flags(path: Path) -> None:
    form = document(path)
    tests = [test for group in form["testGroups"] for test in group["tests"]]
    assert [test["tcId"] for test in tests] == list(range(1, form["numberOfTests"] + 1))
    assert {flag for test in tests for flag in test["flags"]} == set(form["notes"])
    assert {group["base"] for group in form["testGroups"]} == set(form["bases"])
    comments = Counter((group["topic"], test["comment"]) for group in form["testGroups"] for test in group["tests"])
    assert [comment for comment, count in comments.items() if count > 1] == []


def test_shipped_files_are_what_the_seed_gives(generated: dict[str, str]) -> None:
    assert {path.name for path in FILES} == set(generated)
    for path in FILES:
        assert path.read_text(encoding="utf-8") == generated[path.name], path.name


def test_other_seed_gives_other_keys_and_the_same_tests(generated: dict[str, str]) -> None:
    for name, text in vector_files("1", {"td_report.json", "caa.json"}).items():
        assert text != generated[name]
        shown, usual = json.loads(text), json.loads(generated[name])
        assert [_told(group) for group in shown["testGroups"]] == [_told(group) for group in usual["testGroups"]]


def _told(group: dict[str, Any]) -> list[tuple[Any, ...]]:
    members = ("tcId", "comment", "flags", "result", "rule", "requirement", "finding")
    return [tuple(test[member] for member in members) for test in group["tests"]]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_own_verifier_agrees_and_names_the_finding(path: Path) -> None:
    wrong: list[str] = []
    for vector in read(path):
        said = answer(request(vector))
        found = str(said["detail"]).split(", ")
        if said["result"] != vector.result or (vector.finding is not None and vector.finding not in found):
            wrong.append(f"{vector.id} {vector.topic}: {vector.comment}: {vector.finding}, not {said}")
    assert wrong == []


def test_vectors_of_another_seed_are_judged_alike(tmp_path: Path) -> None:
    path = tmp_path / "bindings.json"
    path.write_text(vector_files("another", {path.name})[path.name], encoding="utf-8")
    assert [vector.id for vector in read(path) if answer(request(vector))["result"] != vector.result] == []


def test_every_refusal_code_has_a_vector(vectors: list[Vector]) -> None:
    refusing = {code for code, kind in FAULTS.items() if kind.severity in {Severity.REFUSED, Severity.NOT_SUPPORTED}}
    assert refusing - {vector.finding for vector in vectors} == set(NO_VECTOR)


@pytest.mark.parametrize("file", MISTAKES)
def test_vectors_notice_mistakes_that_verifiers_make(file: str, vectors: list[Vector]) -> None:
    comments = {vector.comment for vector in vectors if vector.file == file}
    missing = {mistake: noticed for mistake, noticed in MISTAKES[file].items() if not comments.issuperset(noticed)}
    assert missing == {}


def test_requirements_of_vectors_are_those_of_the_catalogue(vectors: list[Vector]) -> None:
    known = {requirement.id for requirement in catalogue().requirements}
    assert {vector.requirement for vector in vectors if vector.requirement} <= known


def test_file_that_is_no_file_of_vectors_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "vectors.json"
    path.write_text('{"testGroups": [{}]}', encoding="utf-8")
    with pytest.raises(Problem, match=r"vectors\.json: no file of attestation vectors"):
        read(path)
