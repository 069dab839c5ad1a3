"""The committed gas figures are what the committed contract costs, so that every change of them shows in review."""

from __future__ import annotations

from gas import FIGURES, PAGE, figures, with_tables

REBUILD = "the figures have changed; see by how much with: python tests/contracts/gas.py && git diff contracts/gas.json"


def test_figures_are_current() -> None:
    assert FIGURES.read_text(encoding="utf-8") == figures(), REBUILD


def test_documentation_shows_the_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_tables(page, FIGURES.read_text(encoding="utf-8")), REBUILD
