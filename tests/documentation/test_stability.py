"""docs/stability.md: what was written for 1.0.0 is read as it was meant."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.profile import known_paths, load_profile, value_at
from conformance.resources import fixtures
from conformance.verdict import ExitCode

PROFILE = Path(__file__).parents[1] / "suite" / "profile" / "profile_1_0.yaml"
EXIT_CODES = {
    "CONFORMS": 0,
    "FAILS": 1,
    "USAGE": 2,
    "INCONCLUSIVE": 3,
    "NOTHING_SELECTED": 4,
    "INTERRUPTED": 5,
    "SUITE_ERROR": 6,
    "CRASHED": 70,
}
VECTORS = {
    "typed_data": (
        {"description", "generator", "flow", "primary_type", "number_of_tests", "test_groups"},
        {"topic", "comment", "requirements", "assumes", "chain_id", "title", "now", "wallet", "tests"},
        {"tc_id", "comment", "typed_data", "signature", "digest", "digest_is_of", "result", "reason"},
    ),
    "attestation": (
        {"notes", "bases", "testGroups"},
        {"topic", "comment", "base", "tests"},
        {"tcId", "comment", "flags", "result", "files"},
    ),
}
"""The members of the file, of a group and of a vector, as 1.0.0 wrote them."""


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each key that holds no section, with its value."""
    for name, member in value.items():
        whole = f"{path}{name}"
        if isinstance(member, dict) and any(known.startswith(f"{whole}.") for known in known_paths()):
            yield from leaves(member, f"{whole}.")
        else:
            yield whole, member


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda inner: inner.model_dump(mode="json")))


def test_profile_of_1_0_is_read_as_it_was_written() -> None:
    profile = load_profile(PROFILE)
    written = yaml.safe_load(PROFILE.read_text(encoding="utf-8"))
    assert {key: plain(value_at(profile, key)) for key, _ in leaves(written)} == dict(leaves(written))


def test_exit_codes_are_those_of_1_0() -> None:
    assert {code.name: code.value for code in ExitCode} == EXIT_CODES


@pytest.mark.parametrize("kind", VECTORS)
def test_vectors_have_the_members_of_1_0(kind: str) -> None:
    top, of_group, of_vector = VECTORS[kind]
    for path in sorted((fixtures() / kind).glob("*.json")):
        file = json.loads(path.read_text(encoding="utf-8"))
        groups = file["test_groups" if "test_groups" in file else "testGroups"]
        assert top <= set(file), path
        assert all(of_group <= set(group) for group in groups), path
        assert all(of_vector <= set(vector) for group in groups for vector in group["tests"]), path
