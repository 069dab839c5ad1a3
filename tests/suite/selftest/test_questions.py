"""The page of open questions follows the catalogue and the variants."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.requirements import catalogue
from conformance.selftest.tools.questions import page

PAGE = Path(__file__).parents[3] / "docs" / "open-questions.md"


def test_page_is_what_the_catalogue_and_the_variants_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m conformance.selftest.tools.questions`"


def test_page_has_every_silent_statement_and_what_other_nodes_do() -> None:
    text = page()
    assert all(f"### {one.id}: " in text for one in catalogue().silent)
    assert "- others, minimal-answers: `1`" in text


def test_silent_requirements_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["requirements", "--silent", "--family", "LIST"]) == 0
    text = capsys.readouterr().out
    assert "LIST-080" in text
    assert "    taken: " in text
    assert "GRP-130" not in text.partition("\n")[0]
    assert main(["requirements", "--silent", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["silent"]) == len(catalogue().silent)
    assert len(told["tensions"]) == len(catalogue().tensions)
