"""The description and its viewer (specification, "Versioning"): as a browser without any other site sees them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from browser import browsed
from nodes import Running


def test_description_keeps_large_bounds_exact(running: Running) -> None:
    bounds: list[object] = []

    def collect(members: dict[str, object]) -> dict[str, object]:
        bounds.extend(members[name] for name in ("minimum", "maximum") if name in members)
        return members

    json.loads(running.http.get("/core/v1/openapi.json").text, object_hook=collect)
    assert {type(bound) for bound in bounds} == {int}
    assert {2**64 - 1, 2**256 - 1} <= set(bounds)


def test_viewer_loads_nothing_from_elsewhere(running: Running) -> None:
    page = running.http.get("/core/v1/swagger-ui")
    assert page.headers["content-type"].startswith("text/html")
    assets = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(assets) >= 2
    for asset in assets:
        assert asset.startswith("swagger-ui-assets/")
        assert running.http.get(f"/core/v1/{asset}").status_code == 200


def test_viewer_shows_our_operations_in_a_browser(running: Running, tmp_path: Path) -> None:
    shown = browsed(str(running.http.base_url.join("/core/v1/swagger-ui")), tmp_path)
    assert 'id="operations-Groups-add_group"' in shown
    assert "/core/v1/new_account" in shown
