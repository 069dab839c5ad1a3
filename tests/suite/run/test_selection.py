"""A run loads the packs that hold what it is asked for, and lists the cases of the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from conformance.problems import LoadProblem, NothingSelected
from conformance.requirements import catalogue
from conformance.resources import scenarios
from conformance.run.listing import list_cases, list_pack, pack_files
from conformance.run.loader import load_pack
from conformance.run.requirement_filter import RequirementFilter
from conformance.run.selection import Options, select

Asked = dict[str, tuple[str, ...]]
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
    loaded = [(case.id, case.requirements, case.opt_in) for case in load_pack(path)]
    assert [(case.id, case.requirements, case.opt_in) for case in list_pack(path)] == loaded


@pytest.mark.parametrize("text", ["", "[", "cases: 1", "cases: [{each: [1], id: {}}, 2]", "\x00"])
def test_listing_of_a_file_that_is_no_pack_raises_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(text, encoding="utf-8")
    assert all(case.requirements == () for case in list_cases(path))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("asked", "packs"),
    [
        ({"cases": ("one::plain",)}, {"one"}),
        ({"cases": ("one::*",)}, {"one"}),
        ({"cases": ("o*::table[x]",)}, {"one"}),
        ({"cases": ("one::plain", "two::*")}, {"one", "two"}),
        ({"cases": ("t??::table[y*",)}, {"two"}),
        ({"requirements": ("GRP-030",)}, {"one", "two"}),
    ],
)
def test_selection_loads_packs_that_may_hold_what_is_asked_for(asked: Asked, packs: set[str]) -> None:
    assert {path.stem for path in select(replace(OPTIONS, **asked)).by_file} == packs  # type: ignore[arg-type]


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


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({"requirements": ("GRP-010",)}, {"plain"}),
        ({"requirements": ("GRP-0?0",)}, {"plain", "table[x]", "table[y z]"}),
        ({"families": ("ACC",)}, {"plain"}),
        ({"families": ("GRP", "ACC")}, {"plain", "table[x]", "table[y z]"}),
        ({"families": ("GRP",), "levels": ("silent",)}, set()),
        ({"requirements": ("ACC-020",), "families": ("ACC",), "levels": ("must",)}, {"plain"}),
        ({"families": ("GRP",), "cases": ("*[x]", "one::*")}, {"plain", "table[x]", "table[y z]"}),
    ],
)
def test_selection_by_requirement_family_and_level(asked: Asked, wanted: set[str]) -> None:
    selection = select(replace(OPTIONS, packs=("one",), **asked))  # type: ignore[arg-type]

    assert {case.id for case in selection.loaded if selection.wants(case)} == {f"one::{name}" for name in wanted}


def test_requirement_that_restates_others_selects_the_checks_of_those() -> None:
    restated, targets = next(iter(catalogue().restatements.items()))

    assert RequirementFilter.of(replace(OPTIONS, requirements=(restated,))).fits(targets[:1])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"cases": ("one::plian",)}, "no case is called 'one::plian'; did you mean 'one::plain' or "),
        (
            {"cases": ("two::plain", "tabel[x]")},
            "no case is called 'tabel[x]'; did you mean 'two::table[x]' or 'one::table[x]'?",
        ),
        ({"packs": ("onne",)}, "no pack is called 'onne'; did you mean 'one'?"),
        ({"requirements": ("grp-010",)}, "no requirement is called 'grp-010'; did you mean 'GRP-010'?"),
    ],
)
def test_name_that_nothing_has_is_told_with_near_ones(asked: Asked, said: str) -> None:
    with pytest.raises(NothingSelected) as raised:
        select(replace(OPTIONS, **{"packs": ("one", "two"), **asked}))  # type: ignore[arg-type]

    assert str(raised.value).startswith(said)
