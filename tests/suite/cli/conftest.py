"""A small pack in place of the shipped ones."""

from __future__ import annotations

from pathlib import Path

import pytest

PACK = """\
pack: shelf
title: Shelf
needs: [managed_accounts]
cases:
  - id: group-is-listed
    title: A group is listed
    requirements: [ACC-070, PKP-090]
    setup: [{account: alice}]
    steps: [{list: list_groups, judges: [ACC-070, PKP-090]}]
  - id: page-is-short
    title: A page is short
    requirements: [LIST-040]
    each: [{id: one, size: 1}, {id: two, size: 2}]
    setup: [{account: alice}]
    steps: [{call: list_groups, with: {page_size: "${size}"}}]
"""


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shelf"
    folder.mkdir()
    (folder / "shelf.yaml").write_text(PACK, encoding="utf-8")
    for module in ("conformance.commands.packs", "conformance.commands.requirements", "conformance.run.selection"):
        monkeypatch.setattr(f"{module}.scenarios", lambda: folder)
    return folder
