"""Every fault of a pack is refused with its file and line, before anything runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.problems import DuplicateId, LoadProblem, LoadProblems, NothingSelected, Unreadable
from conformance.run.loader import load, load_pack

HEADS = {
    "@top": "pack: trial\ntitle: t\n",
    "@case": "@top\ncases:\n  - id: one\n    title: t\n    requirements: [GRP-010]\n",
    "@rows": "@case\n    driver: typed_data\n    rows:\n",
    "@steps": "@case\n    steps:\n      - account: alice\n      - call: list_groups\n",
    "@controlled": "@steps\n      - {call: add_group, id: adds, with: {group_name: a}}\n",
}
"""What the first line of a faulty pack stands for."""
MARK = re.compile(r"# <- (\w+): (.*)")


def with_head(text: str) -> str:
    first, _, rest = text.partition("\n")
    return with_head(HEADS[first]) + rest if first in HEADS else text


def faulty_packs() -> dict[str, str]:
    """Name and text of each: `# <- Kind: words` stands at the end of the line that has to be told."""
    text = Path(__file__).with_name("faulty_packs.txt").read_text(encoding="utf-8")
    return dict(one.split("\n", 1) for one in text.split("=== ") if one)


@pytest.mark.parametrize("text", faulty_packs().values(), ids=faulty_packs())
def test_fault_is_refused_with_file_and_line(tmp_path: Path, text: str) -> None:
    whole = with_head(text)
    (marked,) = [line for line in whole.splitlines() if "# <- " in line]
    kind, words = MARK.search(marked).groups()  # type: ignore[union-attr]  # it was found
    path = tmp_path / "trial.yaml"
    path.write_text(whole, encoding="utf-8")

    with pytest.raises(LoadProblem) as caught:
        load_pack(path)

    told = (type(caught.value).__name__, caught.value.line)
    assert told == (kind, whole.splitlines().index(marked) + 1), str(caught.value)
    assert str(path) in str(caught.value)
    assert words in str(caught.value)


def test_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trial.yaml"
    path.write_text("", encoding="utf-8")

    with pytest.raises(Unreadable, match="empty"):
        load_pack(path)


def test_two_packs_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trial.yaml").write_text(with_head("@steps"), encoding="utf-8")

    with pytest.raises(DuplicateId, match="also in"):
        load([tmp_path / "a", tmp_path / "b"])


def test_glob_that_no_pack_matches_selects_nothing_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "trial.yaml").write_text(with_head("@steps"), encoding="utf-8")

    assert [case.id for case in load([tmp_path], ["tri*"])] == ["trial::one"]
    with pytest.raises(NothingSelected, match="there are trial"):
        load([tmp_path], ["tri*", "birds"])


SEVERAL = """\
pack: trial
title: t
colour: red  # <- unknown member of the pack
cases:
  - id: shapes
    title: t
    requirements: [GRP-010]
    steps:
      - {account: a, colour: red}  # <- unknown member of a step
      - {call: list_groups, via: 1}  # <- no header
      - {parallel: {times: 2, step: {call: list_groups, colour: red}}}  # <- a step of no kind
  - id: names
    title: t
    requirements: [GRP-999]  # <- no such requirement
    needs: [flying]  # <- no such capability
    steps:
      - {account: alice}
      - {call: add_group, with: {group_name: "${nobody_made_it}"}}  # <- no such variable
      - {call: list_birds, as: alice, save: {birds: ""}}  # <- no such operation
      - {list: list_groups, expect: {0.id: "${birds}", 0.name: "${bees}"}}  # <- only bees are unknown
      - {new_group: g, with: {cid_hashes: []}}  # <- no such member
      - {call: remove_group, with: {group_id: "${g.id}"}}
  - id: names  # <- the id is used twice
    title: t
    requirements: [GRP-010]
    steps:
      - {account: a}
      - {call: list_groups, as: bob}  # <- no such account
"""


def test_all_faults_of_a_pack_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "trial.yaml"
    path.write_text(SEVERAL, encoding="utf-8")

    with pytest.raises(LoadProblems) as caught:
        load_pack(path)

    marked = [number for number, line in enumerate(SEVERAL.splitlines(), 1) if "# <- " in line]
    assert [problem.line for problem in caught.value.problems] == marked
    assert str(caught.value).splitlines()[0].startswith(f"{path}:3: ")
    assert str(caught.value).splitlines()[-1] == "12 errors in 1 file"


def test_faults_of_all_packs_are_told_at_once(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.yaml").write_text(SEVERAL.replace("trial", name), encoding="utf-8")
    (tmp_path / "c.yaml").write_text("]", encoding="utf-8")

    with pytest.raises(LoadProblems) as caught:
        load([tmp_path])

    assert [problem.path.stem for problem in caught.value.problems] == ["a"] * 12 + ["b"] * 12 + ["c"]
    assert str(caught.value).splitlines()[-1] == "25 errors in 3 files"
