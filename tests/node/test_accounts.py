"""Account and key management (specification, "Endpoints")."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from eth_utils.address import is_checksum_address
from nodes import PERMISSIONS, Running, refused

from reference_node.permission.keys import address_of, key_hash, key_text, new_secret


def test_new_account_returns_a_key_whose_secret_is_its_wallet(running: Running) -> None:
    created = running.done("new_account", account_name="n", account_description="d", email="a@example.org")
    secret = base64.b64decode(created["api_key"], validate=True)
    assert set(created) == {"api_key", "wallet_address"}
    assert len(secret) == 32
    assert is_checksum_address(created["wallet_address"])
    assert bytes.fromhex(created["wallet_address"][2:]) == address_of(secret)


def test_new_account_is_on_chain_under_the_hash_of_its_key_with_its_labels(running: Running) -> None:
    created = running.done("new_account", account_name="name ✓", account_description="desc")
    secret = base64.b64decode(created["api_key"])
    record = running.node.accounts.account(key_hash(secret))
    assert record == (True, address_of(secret), "name ✓", "desc")


def test_equal_requests_create_distinct_accounts(running: Running) -> None:
    assert running.account() != running.account()


def test_account_exists_for_the_account_key_alone(running: Running, account: str) -> None:
    assert running.read("account_exists", account) is True
    assert running.read("account_exists", key_text(new_secret())) is False
    assert running.read("account_exists", running.usage_key(account)) is False
    refused(running.get("account_exists"), 401, "key-missing")
    refused(running.get("account_exists", "not a key"), 401, "unknown-key")


def test_usage_key_is_listed_with_its_metadata_and_never_itself(running: Running, account: str) -> None:
    group = running.group(account)
    permissions = PERMISSIONS | {"execute_in_groups": [group], "can_delete_groups": False}
    created = running.done("add_usage_api_key", account, name="n", description="d", **permissions)
    listed = running.get("list_api_keys", account)
    secret = base64.b64decode(created["usage_api_key"])
    assert created["success"] is True
    assert created["usage_api_key"] not in listed.text
    assert listed.json() == [
        {
            "api_key_hash": f"0x{key_hash(secret):064x}",
            "name": "n",
            "description": "d",
            "expiration": 0,
            "balance": 0,
            **permissions,
        }
    ]


def test_omitted_permissions_are_not_granted(running: Running, account: str) -> None:
    running.usage_key(account)
    (listed,) = running.read("list_api_keys", account)
    assert {name: listed[name] for name in PERMISSIONS} == {
        name: [] if isinstance(value, list) else False for name, value in PERMISSIONS.items()
    }


def test_usage_key_update_replaces_all_nine_values(running: Running, account: str) -> None:
    key = running.usage_key(account, **PERMISSIONS)
    running.done("update_usage_api_key", account, usage_api_key=key, name="x", description="y", execute_in_groups=[0])
    (listed,) = running.read("list_api_keys", account)
    cleared = {name: [] if isinstance(value, list) else False for name, value in PERMISSIONS.items()}
    assert {name: listed[name] for name in PERMISSIONS} == cleared | {"execute_in_groups": [0]}
    assert (listed["name"], listed["description"]) == ("x", "y")


def test_usage_key_metadata_update_keeps_the_permissions(running: Running, account: str) -> None:
    key = running.usage_key(account, **PERMISSIONS)
    running.done("update_usage_api_key_metadata", account, usage_api_key=key, name="x", description="y")
    (listed,) = running.read("list_api_keys", account)
    assert {name: listed[name] for name in PERMISSIONS} == PERMISSIONS
    assert (listed["name"], listed["description"]) == ("x", "y")


def test_removed_usage_key_opens_nothing(running: Running, account: str) -> None:
    key = running.usage_key(account)
    running.read("list_groups", key)
    running.done("remove_usage_api_key", account, usage_api_key=key)
    refused(running.get("list_groups", key), 401, "unknown-key")
    assert running.read("list_api_keys", account) == []


def test_permission_for_a_group_that_does_not_exist_is_refused(running: Running, account: str) -> None:
    body = {"name": "n", "description": "d", "execute_in_groups": [1]}
    refused(running.post("add_usage_api_key", account, **body), 404, "unknown-group")
    assert running.read("list_api_keys", account) == []


@pytest.mark.parametrize(
    ("operation", "labels"),
    [
        ("remove_usage_api_key", {}),
        ("update_usage_api_key", {"name": "n", "description": "d"}),
        ("update_usage_api_key_metadata", {"name": "n", "description": "d"}),
    ],
)
def test_keys_that_are_not_the_accounts_are_unknown(
    running: Running, account: str, operation: str, labels: dict[str, str]
) -> None:
    other = running.account()
    foreign = running.usage_key(other)
    before = running.everything(other)
    for key in (foreign, key_text(new_secret()), account):
        refused(running.post(operation, account, usage_api_key=key, **labels), 404, "unknown-usage-key")
    assert running.everything(other) == before


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("add_usage_api_key", {"name": "n", "description": "d"}),
        ("remove_usage_api_key", {"usage_api_key": "own"}),
        ("update_usage_api_key", {"usage_api_key": "own", "name": "n", "description": "d"}),
        ("update_usage_api_key_metadata", {"usage_api_key": "own", "name": "n", "description": "d"}),
    ],
)
def test_keys_are_the_owners_business_alone(
    running: Running, account: str, operation: str, body: dict[str, str]
) -> None:
    key = running.usage_key(account, **PERMISSIONS)
    before = running.everything(account)
    filled = {name: key if value == "own" else value for name, value in body.items()}
    refused(running.post(operation, key, **filled), 403, "owner-only")
    assert running.everything(account) == before
    running.done(operation, account, **filled)


def test_no_secret_is_on_chain(running: Running, account: str) -> None:
    keys = [account, running.usage_key(account)]
    latest = int(rpc(running, "eth_blockNumber"), 16)
    blocks = json.dumps([rpc(running, "eth_getBlockByNumber", hex(number), True) for number in range(latest + 1)])
    assert f"{key_hash(base64.b64decode(account)):064x}" in blocks
    for key in keys:
        secret = base64.b64decode(key)
        assert secret.hex() not in blocks
        assert key.encode().hex() not in blocks
    assert running.node.settings.root_secret.hex() not in blocks


def rpc(running: Running, method: str, *params: object) -> Any:
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return running.http.post("/rpc", json=request).json()["result"]


def test_no_answer_but_the_first_holds_a_key(running: Running, account: str) -> None:
    key = running.usage_key(account, **PERMISSIONS)
    running.group(account)
    running.wallet(account)
    seen = [
        running.get(listing, account).text
        for listing in ("list_api_keys", "list_groups", "list_wallets", "list_actions")
    ]
    seen.append(running.post("update_usage_api_key", account, usage_api_key=key, name="n").text)
    seen.append(running.post("remove_usage_api_key", account, usage_api_key=key + "=").text)
    for text in seen:
        for secret in (account, key):
            assert secret not in text
            assert base64.b64decode(secret).hex() not in text
