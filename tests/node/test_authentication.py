"""Keys in headers: what the specification leaves open, and texts that are almost a key."""

from __future__ import annotations

from typing import Any

import httpx
from nodes import Running, refused


def ask(running: Running, headers: Any) -> httpx.Response:
    """The response to a read with these headers."""
    return running.http.get("/core/v1/list_groups", headers=headers)


def test_header_that_is_empty_is_as_good_as_none(running: Running, account: str) -> None:
    for headers in (
        {"X-Api-Key": "", "Authorization": f"Bearer {account}"},
        {"X-Api-Key": account, "Authorization": "Bearer"},
    ):
        assert ask(running, headers).status_code == 200
    refused(ask(running, {"X-Api-Key": "", "Authorization": "Bearer"}), 401, "key-missing")


def test_refusal_for_want_of_a_key_says_how_to_send_one(running: Running) -> None:
    response = running.get("list_groups")
    assert "X-Api-Key" in refused(response, 401)["detail"]
    assert response.headers["www-authenticate"].startswith("Bearer ")


def test_the_key_is_judged_before_the_body(running: Running) -> None:
    refused(running.post("add_group", nonsense=1), 401, "key-missing")
