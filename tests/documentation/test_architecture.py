"""ARCHITECTURE.md names the rooms of both programs as they are."""

from __future__ import annotations

import re

import pytest
from pages import PAGES, ROOT

DRAWING = PAGES["ARCHITECTURE.md"].split("```")[1]
PROGRAMS = ("reference_node", "conformance")
MODULES = [
    path.relative_to(ROOT).with_suffix("").as_posix()
    for program in PROGRAMS
    for path in sorted((ROOT / program).glob("*.py"))
    if path.stem not in {"__init__", "__main__"}
]
PACKAGES = [
    path.parent.relative_to(ROOT).as_posix()
    for program in PROGRAMS
    for path in sorted((ROOT / program).glob("*/**/__init__.py"))
]


@pytest.mark.parametrize("place", [*MODULES, *PACKAGES])
def test_drawing_names_every_package_and_every_module_on_top(place: str) -> None:
    name = place.rpartition("/")[2] + ("/" if place in PACKAGES else "")
    assert re.search(rf"(?<![\w/]){re.escape(name)}(?!\w)", DRAWING), f"name {place} in ARCHITECTURE.md"


def test_drawing_names_no_folder_that_is_gone() -> None:
    folders = {path.name for path in ROOT.glob("*") if path.is_dir()}
    folders |= {place.rpartition("/")[2] for place in PACKAGES}
    assert set(re.findall(r"(?<![\w/])([a-z_]+)/", DRAWING)) <= folders
