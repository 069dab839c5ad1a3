"""The description and its viewer (specification, "Versioning"): as a browser without any other site sees them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from browser import browsed
from nodes import Running
from openapi_spec_validator import OpenAPIV31SpecValidator

PROMISED = {
    "/new_account": "post",
    "/account_exists": "get",
    "/add_usage_api_key": "post",
    "/remove_usage_api_key": "post",
    "/update_usage_api_key": "post",
    "/update_usage_api_key_metadata": "post",
    "/list_api_keys": "get",
    "/add_group": "post",
    "/update_group": "post",
    "/remove_group": "post",
    "/list_groups": "get",
    "/add_action_to_group": "post",
    "/remove_action_from_group": "post",
    "/add_pkp_to_group": "post",
    "/remove_pkp_from_group": "post",
    "/create_wallet": "post",
    "/list_wallets": "get",
    "/list_wallets_in_group": "get",
    "/list_actions": "get",
    "/add_action": "post",
    "/delete_action": "post",
    "/update_action_metadata": "post",
    "/get_service_action_ipfs_id": "post",
    "/get_node_chain_config": "get",
    "/get_api_payers": "get",
    "/get_admin_api_payer": "get",
}


def test_description_is_valid_and_lists_every_operation(running: Running) -> None:
    description = running.http.get("/core/v1/openapi.json").json()
    OpenAPIV31SpecValidator(description).validate()
    assert description["openapi"].startswith("3.1")
    for path, method in PROMISED.items():
        assert list(description["paths"][f"/core/v1{path}"]) == [method]


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


def test_front_page_leads_on(running: Running) -> None:
    page = running.http.get("/")
    assert page.headers["content-type"].startswith("text/html")
    links = re.findall('href="([^"]+)"', page.text)
    assert "core/v1/swagger-ui" in links
    assert [link for link in links if running.http.get(f"/{link}").status_code != 200] == []
