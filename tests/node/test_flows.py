"""The design-level flow paths: other spellings of management operations (specification, "Design-level flow paths")."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from nodes import Running, refused

from reference_node.permission.cid import cid_hash

FIRST, SECOND, THIRD = (f"QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1Aw{end}" for end in ("QH", "QJ", "QK"))


def hashed(*cids: str) -> list[str]:
    return [f"0x{cid_hash(cid).hex()}" for cid in cids]


def change(running: Running, key: str | None, group: int, **body: Any) -> httpx.Response:
    return running.post(f"groups/{group}/actions", key, **body)


def actions(running: Running, account: str, group: int) -> list[str]:
    return [item["hashed_cid"] for item in running.read("list_actions", account, group_id=group)]


def pkps(running: Running, account: str, group: int) -> list[str]:
    return [item["id"] for item in running.read("list_wallets_in_group", account, group_id=group)]


@pytest.fixture
def group(running: Running, account: str) -> int:
    return running.group(account)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"add": [SECOND, FIRST]}, 409),
        ({"add": [SECOND, SECOND]}, 409),
        ({"add": [SECOND], "remove": [THIRD]}, 404),
        ({"remove": [FIRST, THIRD]}, 404),
        ({"add": [SECOND, "no cid"]}, 422),
        ({"add": [SECOND], "more": []}, 422),
        ({"add": [FIRST] * 101}, 422),
    ],
)
def test_change_that_cannot_be_made_whole_changes_nothing(
    running: Running, account: str, group: int, body: dict[str, object], status: int
) -> None:
    assert change(running, account, group, add=[FIRST]).status_code == 200
    refused(change(running, account, group, **body), status)
    assert actions(running, account, group) == hashed(FIRST)


def test_wallets_are_added_all_or_nothing(running: Running, account: str, group: int) -> None:
    wallets = [running.wallet(account) for _ in range(3)]
    refused(running.post(f"groups/{group}/pkps", account, add=[wallets[0], "0x" + "11" * 32]), 404, "unknown-wallet")
    assert pkps(running, account, group) == []
    assert running.post(f"groups/{group}/pkps", account, add=wallets[:2]).status_code == 200
    refused(running.post(f"groups/{group}/pkps", account, add=[wallets[2], wallets[0]]), 409, "already-in-group")
    assert pkps(running, account, group) == wallets[:2]


@pytest.mark.parametrize("group_id", ["x", "-1", "1.0", "01", str(2**64)])
def test_group_id_that_is_no_id_is_refused(running: Running, account: str, group_id: str) -> None:
    refused(running.post(f"groups/{group_id}/actions", account, add=[FIRST]), 422)
