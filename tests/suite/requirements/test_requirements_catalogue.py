"""The catalogue's form, and what it cites."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from conformance.requirements import BadCatalogue, Catalogue, Level, catalogue, load_catalogue
from conformance.requirements.specification import read_sections, sections, specification_file
from conformance.resources import PACKAGE

SPECIFICATION = "5f6b6935a4783ff5ba3d6109a6e6267657a02f21d2edb2f7c014ae2b201f6c5f"
"""SHA-256 of the text that is judged by: nobody edits it in passing."""

VALID = """\
requirements:
- {id: A-010, section: Limits, level: must, text: t, demands: refusal}
- {id: A-020, section: Authentication, items: [1, 2], level: should, text: t}
- id: B-010
  section: Endpoints / Groups
  level: silent
  text: t
  profile_key: limits.rate
  reference_choice: none
tensions:
- {ids: [A-010], text: t, readings: [r], decided: d}
restatements:
  A-010: [A-020]
"""


def load(text: str, folder: Path) -> Catalogue:
    path = folder / "catalogue.yaml"
    path.write_text(text, encoding="utf-8")
    return load_catalogue(path)


def test_specification_is_the_text_judged_by() -> None:
    assert hashlib.sha256(specification_file().read_bytes()).hexdigest() == SPECIFICATION


def test_catalogue_cites_every_section_that_states_anything() -> None:
    only_headings = {"Resources and their fields", "States and transitions", "Endpoints"}
    cited = {requirement.section for requirement in catalogue().requirements}
    assert set(sections()) - cited == only_headings


def test_catalogue_names_in_must_statements_stand_in_the_specification() -> None:
    text = specification_file().read_text(encoding="utf-8")
    wrong = {
        f"{requirement.id}: {name}"
        for requirement in catalogue().requirements
        if requirement.level is Level.MUST
        for name in re.findall(r"`([a-z]+(?:_[a-z]+)+)`", requirement.text)
        if name not in text
    }
    assert wrong == set()


def test_silent_statements_have_different_profile_keys() -> None:
    keys = [requirement.profile_key for requirement in catalogue().requirements if requirement.profile_key]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("A-020, sec", "A-010, sec", "A-010 is used twice"),
        ("id: A-010", "id: a-10", "String should match pattern"),
        ("section: Limits", "section: Limit", "no section 'Limit'"),
        ("items: [1, 2]", "items: [1, 99]", "has no item 99"),
        ("level: should", "level: shall", "Input should be"),
        ("  reference_choice: none\n", "", "belong to silent statements"),
        ("  profile_key: limits.rate\n", "", "belong to silent statements"),
        ("level: silent", "level: must", "belong to silent statements"),
        ("ids: [A-010]", "ids: [A-030]", "a tension names A-030"),
        ("A-010: [A-020]", "A-010: [A-030]", "a restatement names A-030"),
        ("A-010: [A-020]", "C-010: [A-020]", "a restatement names C-010"),
        ("A-010: [A-020]", "A-010: [A-020]\n  A-020: [A-010]", "restates itself"),
        ("demands: refusal", "demands: silence", "Input should be"),
        ("level: should,", "level: should, since: 2020,", "Extra inputs"),
    ],
)
def test_catalogue_of_wrong_form_is_refused(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in VALID
    with pytest.raises(BadCatalogue, match=re.escape(said)):
        load(VALID.replace(old, new), tmp_path)


def test_catalogue_fault_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(BadCatalogue, match=r"catalogue\.yaml:3: "):
        load(VALID.replace("section: Authentication", "section: Authorisation"), tmp_path)


def test_restatement_of_a_restatement_ends_at_what_is_none(tmp_path: Path) -> None:
    known = load(VALID + "  A-020: [B-010]\n", tmp_path)
    assert known.targets("A-010") == ("B-010",)
    assert known.targets("B-010") == ()


def test_sections_are_read_with_their_items() -> None:
    found = read_sections("# Title\nConventions\n## One\n1. a\n2. b\n### In `One`\n1. c\n## Two\n")
    assert found == {"Preamble": frozenset(), "One": {1, 2}, "One / In One": {1}, "Two": frozenset()}


def test_catalogue_corrections_are_told_at_the_entry() -> None:
    text = (PACKAGE / "requirements" / "catalogue.yaml").read_text("utf-8")
    corrected = re.findall(r"# Corrected: .*\n(?:# .*\n)*- id: (\S+)", text)
    assert {"CHAIN-120", "ENV-470", "ENV-480", "VER-090"} <= set(corrected)
