"""A small share of the fuzzing campaign; `python -m conformance.selftest.attestation.fuzzing` runs more of it."""

from __future__ import annotations

import copy
import random

import pytest

from conformance.selftest.attestation import fuzzer, fuzzing, meaning
from conformance.selftest.attestation.mutation import INTERESTING_VALUES, value_mutated
from conformance.selftest.attestation.sound_evidence import SoundEvidence, identity
from conformance.selftest.attestation.sound_quote import SoundQuote, bit_flipped
from conformance.verify import Verified
from conformance.verify.evidence import CHECKSUMS, INFO, certificate_file


@pytest.fixture(scope="module")
def figures() -> fuzzing.Figures:
    return fuzzing.campaign(1_000, seed=7)


def test_mutated_inputs_raise_nothing_and_nothing_that_counts_is_accepted_changed(figures: fuzzing.Figures) -> None:
    assert figures.failures == []


def test_campaign_tries_every_target_and_not_only_refusals(figures: fuzzing.Figures) -> None:
    assert sum(figures.inputs.values()) == 1_000
    assert set(figures.inputs) == {*fuzzer.Fuzzer(random.Random(0)).targets, "arbitrary bodies and members"}  # noqa: S311
    assert len(figures.codes) > 30
    assert sum(figures.accepted.values()) > 50


def test_same_seed_tries_the_same() -> None:
    assert fuzzing.campaign(90, seed=1) == fuzzing.campaign(90, seed=1)


def test_campaign_notices_a_verifier_that_accepts_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    def accepting(*_: object, **__: object) -> Verified:
        return Verified(accepted=True, at=None, root_sha256="", rules=(), findings=())

    monkeypatch.setattr(fuzzer, "verify", accepting)
    monkeypatch.setattr(fuzzer, "verify_quote", accepting)
    figures = fuzzing.campaign(600, seed=0)
    caught = {failure.partition(", input")[0] for failure in figures.failures}
    assert caught == set(figures.inputs)


def test_campaign_notices_a_verifier_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(*_: object, **__: object) -> Verified:
        raise IndexError("beyond the end")

    monkeypatch.setattr(fuzzer, "verify", raising)
    failures = fuzzing.campaign(60, seed=0).failures
    assert failures
    assert all("IndexError" in failure for failure in failures)


def test_meaning_is_that_of_signed_bytes_alone() -> None:
    raw = SoundQuote(b"meaning").raw
    told = meaning.of_quote(raw)
    assert meaning.of_quote(raw + bytes(9)) == told
    signature = 48 + 584 + 4
    assert meaning.of_quote(bit_flipped(raw, signature)) == told
    for place in (2, 47, 48, 300, 631, signature + 64, signature + 134, signature + 134 + 383, signature + 600):
        assert meaning.of_quote(bit_flipped(raw, place)) != told, place


def test_meaning_of_evidence_holds_every_bound_body() -> None:
    evidence = SoundEvidence(b"meaning", identity(b"meaning"))
    bodies, certificate = evidence.bodies, certificate_file(evidence.domain)
    told = meaning.of_evidence(bodies, certificate)
    assert meaning.of_evidence(bodies | {INFO: bodies[INFO] + b"\n"}, certificate) == told
    for name in (CHECKSUMS, certificate):
        assert meaning.of_evidence(bodies | {name: bodies[name] + b"\n"}, certificate) != told


def test_mutations_leave_the_values_that_they_put_in_as_they_were() -> None:
    before = copy.deepcopy(INTERESTING_VALUES)
    rng = random.Random(3)  # noqa: S311 - test data
    value: object = {"a": [1, {"b": []}]}
    for _ in range(2_000):
        value = value_mutated(rng, value) or {"a": [1, {"b": []}]}
    assert before == INTERESTING_VALUES
