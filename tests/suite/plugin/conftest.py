"""A project with packs."""

from __future__ import annotations

import httpcore  # noqa: F401 - httpx knows its exceptions only as long as nobody imports it anew
import pytest
from plugin_project import PACK

import conformance.run.session  # noqa: F401 - pytester forgets what its sessions import, and C modules load only once


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with one shipped pack."""
    packs = pytester.path / "packs"
    packs.mkdir()
    (packs / "trial.yaml").write_text(PACK, encoding="utf-8")
    monkeypatch.setattr("conformance.run.selection.scenarios", lambda: packs)
    return pytester
