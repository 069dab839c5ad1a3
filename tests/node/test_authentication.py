"""Keys in headers: what the specification leaves open, and texts that are almost a key."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest
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


def test_two_different_keys_conflict(running: Running, account: str) -> None:
    for other in (running.usage_key(account), "x"):
        refused(
            ask(running, {"X-Api-Key": account, "Authorization": f"Bearer {other}"}), 401, "conflicting-credentials"
        )
        refused(ask(running, [("X-Api-Key", account), ("X-Api-Key", other)]), 401, "conflicting-credentials")


@pytest.mark.parametrize("spoilt", ["{key}=", "{key} x", "{key}A", "{bare}", "{swapped}", "0x{hex}", "", "\xff"])
def test_texts_that_are_almost_a_key_do_not_count(running: Running, account: str, spoilt: str) -> None:
    secret = base64.b64decode(account)
    text = spoilt.format(
        key=account, bare=account.rstrip("="), swapped=account[:42] + chr(ord(account[42]) + 1) + "=", hex=secret.hex()
    )
    refused(ask(running, {b"X-Api-Key": text.encode("latin-1")}), 401)


def test_refusal_for_want_of_a_key_says_how_to_send_one(running: Running) -> None:
    response = running.get("list_groups")
    assert "X-Api-Key" in refused(response, 401)["detail"]
    assert response.headers["www-authenticate"].startswith("Bearer ")


def test_the_key_is_judged_before_the_body(running: Running) -> None:
    refused(running.post("add_group", nonsense=1), 401, "key-missing")
