"""The description and its viewer (specification, "Versioning"), which needs no other site."""

from __future__ import annotations

import json
import re

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
