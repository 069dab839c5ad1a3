"""The examples of docs/profile.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from conformance.profile import BadProfile, Profile, load_profile
from conformance.values.capability import Capability

DOCUMENT = (Path(__file__).parents[3] / "docs" / "profile.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)


def test_documentation_has_examples() -> None:
    assert len(EXAMPLES) == 7


@pytest.mark.parametrize("text", EXAMPLES[:-1])
def test_example_is_a_profile_unlike_the_reference(text: str, tmp_path: Path) -> None:
    path = tmp_path / "my-node.yaml"
    path.write_text(text, encoding="utf-8")
    assert load_profile(path) != Profile()


def test_example_of_faults_is_what_is_said(tmp_path: Path) -> None:
    path = tmp_path / "faulty.yaml"
    path.write_text(EXAMPLES[-1], encoding="utf-8")
    with pytest.raises(BadProfile) as caught:
        load_profile(path)
    shown = re.findall(r"^faulty\.yaml:.*$", DOCUMENT, re.MULTILINE)
    said = str(caught.value).replace(f"{tmp_path}/", "").splitlines()
    assert [line.partition(", add_action_duplicate")[0] for line in said] == [
        line.partition(", add_action_duplicate")[0] for line in shown
    ]


def test_every_section_and_capability_is_described() -> None:
    described = set(re.findall(r"`(\w+)`", DOCUMENT))
    assert set(Profile.model_fields) <= described
    assert set(get_args(Capability)) <= described
