"""A run loads the packs that hold what it is asked for, and lists the cases of the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from conformance.problems import LoadProblem
from conformance.resources import scenarios
from conformance.run.listing import list_cases
from conformance.run.loader import load_pack, pack_files
from conformance.run.python_cases import list_python_cases
from conformance.run.selection import Options, select

OPTIONS = Options()
PACK = """
pack: {name}
title: A trial
cases:
  - id: plain
    title: A case
    requirements: [GRP-010, ACC-020]
    steps: [{{account: a}}, {{list: list_groups, expect: {{"": []}}, judges: [GRP-010, ACC-020]}}]
  - {{id: table, title: A table, requirements: [GRP-030], each: [{{id: x}}, {{id: "y z"}}],
     steps: [{{account: a}}, {{list: list_groups, expect: {{"": []}}}}]}}
"""
BROKEN = "pack: broken\ntitle: t\ncases: [{id: one}]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped packs of the test: one, two and a broken one."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(dedent(PACK.format(name=name)), encoding="utf-8")
    (tmp_path / "broken.yaml").write_text(BROKEN, encoding="utf-8")
    monkeypatch.setattr("conformance.run.selection.scenarios", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", pack_files([scenarios()]), ids=lambda path: str(path.name))
def test_listing_names_what_loading_finds(path: Path) -> None:
    loaded = [(case.id, case.requirements) for case in load_pack(path)]
    listed = list_python_cases(path) if path.suffix == ".py" else list_cases(path)
    assert [(case.id, case.requirements) for case in listed] == loaded


@pytest.mark.parametrize("text", ["", "[", "cases: 1", "cases: [{each: [1], id: {}}, 2]", "\x00"])
def test_listing_of_a_file_that_is_no_pack_raises_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(text, encoding="utf-8")
    assert all(case.requirements == () for case in list_cases(path))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("cases", "packs"),
    [
        (("one::plain",), {"one"}),
        (("one::*",), {"one"}),
        (("o*::table[x]",), {"one"}),
        (("one::plain", "two::nothing"), {"one", "two"}),
        (("t??::table[[]y*",), {"two"}),
    ],
)
def test_selection_loads_packs_that_may_hold_the_cases(cases: tuple[str, ...], packs: set[str]) -> None:
    assert {path.stem for path in select(replace(OPTIONS, cases=cases)).by_file} == packs


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("cases", [(), ("nowhere::x",), ("*::plain",), ("plain",)])
def test_selection_loads_every_pack_where_any_may_hold_the_cases(cases: tuple[str, ...]) -> None:
    with pytest.raises(LoadProblem, match=r"broken\.yaml"):
        select(replace(OPTIONS, cases=cases))


def test_selection_loads_only_the_given_file(folder: Path) -> None:
    assert {path.stem for path in select(OPTIONS, [folder / "two.yaml"]).by_file} == {"two"}


@pytest.mark.usefixtures("folder")
def test_selection_tells_the_cases_of_packs_that_it_did_not_load() -> None:
    selection = select(replace(OPTIONS, cases=("one::plain",)))

    told = {case.id: case.requirements for case in selection.every_case()}

    assert told["one::plain"] == told["two::plain"] == ("GRP-010", "ACC-020")
    assert "two::table[y z]" in told
