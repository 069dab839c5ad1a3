"""The codes of refusals (reference choices, "Errors"): clients branch on what the specification leaves open."""

from __future__ import annotations

from typing import Any

import pytest
from envelopes import new_wallet, signed, wallet_auth
from nodes import LABELS, NEW_GROUP, ZERO_HASH, Running, refused, serving

from reference_node.permission.keys import key_text, new_secret
from reference_node.permission.typed_data import Flow
from reference_node.settings import Settings

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
HASH = "0x" + "ab" * 32

OF_THE_ACCOUNT_KEY: list[tuple[str, dict[str, Any], int, str]] = [
    ("update_group", {"group_id": 9, **LABELS}, 404, "unknown-group"),
    ("remove_group", {"group_id": "0"}, 404, "unknown-group"),
    ("add_action_to_group", {"group_id": 2**64 - 1, "action_ipfs_cid": CID}, 404, "unknown-group"),
    ("add_usage_api_key", {**LABELS, "execute_in_groups": [9]}, 404, "unknown-group"),
    ("groups/9/actions", {"add": [CID]}, 404, "unknown-group"),
    ("add_group", {**NEW_GROUP, "pkp_ids_permitted": [HASH]}, 404, "unknown-wallet"),
    ("update_group", {"group_id": 1, **LABELS, "pkp_ids_permitted": [HASH]}, 404, "unknown-wallet"),
    ("add_pkp_to_group", {"group_id": 1, "pkp_id": HASH}, 404, "unknown-wallet"),
    ("add_pkp_to_group", {"group_id": 1, "pkp_id": ZERO_HASH}, 409, "already-in-group"),
    ("remove_pkp_from_group", {"group_id": 1, "pkp_id": HASH}, 404, "not-in-group"),
    ("remove_action_from_group", {"group_id": 1, "hashed_cid": HASH}, 404, "not-in-group"),
    ("add_action", {"action_ipfs_cid": CID, **LABELS}, 409, "action-exists"),
    ("delete_action", {"hashed_cid": HASH}, 404, "unknown-action"),
    ("update_action_metadata", {"hashed_cid": HASH, **LABELS}, 404, "unknown-action"),
    ("remove_usage_api_key", {"usage_api_key": key_text(new_secret())}, 404, "unknown-usage-key"),
    ("service_action", {"code": "not listed"}, 403, "execution-not-permitted"),
]

OF_A_USAGE_KEY: list[tuple[str, dict[str, Any], int, str]] = [
    ("add_group", NEW_GROUP, 403, "scope-missing"),
    ("create_wallet", {}, 403, "scope-missing"),
    ("groups/1/actions", {"add": [CID]}, 403, "scope-missing"),
    ("update_group", {"group_id": 1, **LABELS}, 403, "owner-only"),
    ("add_action", {"action_ipfs_cid": CID, **LABELS}, 403, "owner-only"),
    ("add_usage_api_key", LABELS, 403, "owner-only"),
]


@pytest.mark.parametrize(("operation", "body", "status", "code"), OF_THE_ACCOUNT_KEY)
def test_refusal_of_an_account_key_has_its_code(
    running: Running, account: str, operation: str, body: dict[str, Any], status: int, code: str
) -> None:
    running.group(account, pkp_ids_permitted=[ZERO_HASH])
    running.done("add_action", account, action_ipfs_cid=CID, **LABELS)
    refused(running.post(operation, account, **body), status, code)


@pytest.mark.parametrize(("operation", "body", "status", "code"), OF_A_USAGE_KEY)
def test_refusal_of_a_usage_key_has_its_code(
    running: Running, account: str, operation: str, body: dict[str, Any], status: int, code: str
) -> None:
    running.group(account)
    refused(running.post(operation, running.usage_key(account), **body), status, code)


def test_missing_scope_is_named_by_the_permission_that_grants_it(running: Running, account: str) -> None:
    problem = refused(running.post("create_wallet", running.usage_key(account)), 403, "scope-missing")
    assert "can_create_pkps" in problem["detail"]


def test_credentials_that_do_not_count_have_codes(running: Running, account: str) -> None:
    keyless = running.get("list_groups")
    assert "X-Api-Key" in refused(keyless, 401, "key-missing")["detail"]
    assert keyless.headers["www-authenticate"].startswith("Bearer ")
    refused(running.get("list_groups", key_text(new_secret())), 401, "unknown-key")
    refused(running.get("billing/balance", running.usage_key(account)), 403, "owner-only")
    two = {"X-Api-Key": account, "Authorization": f"Bearer {key_text(new_secret())}"}
    refused(running.http.get("/core/v1/list_groups", headers=two), 401, "conflicting-credentials")
    proof = wallet_auth(signed(Flow.BILLING_AUTH, new_wallet()))
    refused(running.http.get("/core/v1/billing/balance", headers=proof | two), 401, "conflicting-credentials")


def test_header_that_is_empty_is_as_good_as_none(running: Running, account: str) -> None:
    for headers in (
        {"X-Api-Key": "", "Authorization": f"Bearer {account}"},
        {"X-Api-Key": account, "Authorization": "Bearer"},
    ):
        assert running.http.get("/core/v1/list_groups", headers=headers).status_code == 200
    neither = {"X-Api-Key": "", "Authorization": "Bearer"}
    refused(running.http.get("/core/v1/list_groups", headers=neither), 401, "key-missing")


def test_write_without_credit_has_its_code() -> None:
    with serving(Settings(port=0, starter_credits=0)) as running:
        refused(running.post("create_wallet", running.account()), 402, "insufficient-credits")
