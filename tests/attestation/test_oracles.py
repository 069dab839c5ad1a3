"""The quote vectors, judged by three verifiers that nobody here wrote: none refuses what this project accepts.

What they accept and this project refuses stands in docs/attestation-vectors.md; the effect of each flag says why.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from conformance.attestation_vectors.against import Comparison, Verdict, compare, markdown
from conformance.attestation_vectors.files import Vector, shipped

PAGE = Path(__file__).resolve().parents[2] / "docs" / "attestation-vectors.md"

REFUSED_THOUGH_SOUND = {
    "go-tdx-guest v0.3.1": {
        "an FMSPC with letters, which TCB info writes in upper case": "compares the hex of the FMSPC as text",
    },
    "@phala/dcap-qvl 0.3.9": {
        "the root's list has the PCK certificate's serial number, which is another issuer's": (
            "looks for a serial number in every list, whoever issued it"
        ),
        "a TDX module of exactly the level's version": (
            "holds the module's version against the platform's level, which Intel's library leaves to the module's own"
        ),
    },
}
"""Sound vectors that one of the three refuses, and why this project does not follow it."""

CRASHES = {
    "go-tdx-guest v0.3.1": {
        "size of the signature data: zero",
        "size of the authentication data: the largest",
        "the header says version 4",
    }
}


@pytest.fixture(scope="module")
def quotes() -> list[Vector]:
    return [vector for vector in shipped() if vector.kind == "quote"]


@pytest.fixture(scope="module")
def comparisons(dcap_qvl: str, phala_dcap_qvl: str, go_tdx_guest: str, quotes: list[Vector]) -> list[Comparison]:
    return [compare(command, quotes, patience=60) for command in (dcap_qvl, phala_dcap_qvl, go_tdx_guest)]


def test_sound_quotes_are_accepted_by_all_but_for_known_faults(comparisons: list[Comparison]) -> None:
    for comparison in comparisons:
        strict = {judged.vector.comment for judged in comparison.having(Verdict.TOO_STRICT)}
        assert strict == set(REFUSED_THOUGH_SOUND.get(comparison.implementation, {})), comparison.implementation


def test_versions_that_a_verifier_does_not_know_are_all_that_it_leaves(comparisons: list[Comparison]) -> None:
    for comparison in comparisons:
        left = [judged.vector for judged in comparison.having(Verdict.UNSUPPORTED)]
        assert all(bytes.fromhex(vector.files["quote.hex"].decode())[:2] == b"\x05\x00" for vector in left)
        assert not left or comparison.implementation.startswith("go-tdx-guest")


def test_crashes_are_told_apart_from_refusals(comparisons: list[Comparison]) -> None:
    for comparison in comparisons:
        crashed = {judged.vector.comment for judged in comparison.having(Verdict.CRASHED)}
        assert crashed == CRASHES.get(comparison.implementation, set())
        assert comparison.having(Verdict.TIMED_OUT) == []


def test_documented_number_is_that_of_the_vectors() -> None:
    assert f"\n{len(shipped())} quotes and sets of evidence" in PAGE.read_text(encoding="utf-8")


def test_documented_table_is_what_the_verifiers_say(comparisons: list[Comparison], quotes: list[Vector]) -> None:
    own = compare(shlex.join([sys.executable, "-m", "conformance", "vectors", "attestation", "--answer"]), quotes)
    assert markdown([own, *comparisons]) in PAGE.read_text(encoding="utf-8")
