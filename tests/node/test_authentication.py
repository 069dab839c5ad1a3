"""Authentication (specification): two headers, one key, and nothing else."""

from __future__ import annotations

import base64
import time

import httpx
import pytest
from eth_utils.crypto import keccak
from nodes import Running, refused, serving

from reference_node.chain.account_config import Permissions, UsageKey
from reference_node.chain.contract_abi import call_data
from reference_node.chain.payers import PayerPool
from reference_node.permission.keys import address_of, key_hash, key_text, new_derivation_path, new_secret
from reference_node.settings import Settings

NO_PERMISSIONS = Permissions(False, False, False, (), (), (), ())

NEEDS_KEY = [
    ("GET", "account_exists"),
    ("POST", "add_usage_api_key"),
    ("POST", "remove_usage_api_key"),
    ("POST", "update_usage_api_key"),
    ("POST", "update_usage_api_key_metadata"),
    ("GET", "list_api_keys"),
    ("POST", "add_group"),
    ("POST", "update_group"),
    ("POST", "remove_group"),
    ("GET", "list_groups"),
    ("POST", "add_action_to_group"),
    ("POST", "remove_action_from_group"),
    ("POST", "add_pkp_to_group"),
    ("POST", "remove_pkp_from_group"),
    ("POST", "create_wallet"),
    ("GET", "list_wallets"),
    ("GET", "list_wallets_in_group"),
    ("GET", "list_actions"),
    ("POST", "add_action"),
    ("POST", "delete_action"),
    ("POST", "update_action_metadata"),
    ("POST", "convert_to_chain_secured_account"),
    ("GET", "billing/balance"),
]

OPEN = ["get_node_chain_config", "get_api_payers", "get_admin_api_payer"]


def ask(running: Running, method: str, operation: str, headers: dict[str, str] | None = None) -> httpx.Response:
    """The response, with a body where the method has one."""
    body = {} if method == "POST" else None
    return running.http.request(method, f"/core/v1/{operation}", headers=headers, json=body)


@pytest.mark.parametrize(("method", "operation"), NEEDS_KEY)
def test_endpoint_that_needs_a_key_refuses_none_and_strange_ones(running: Running, method: str, operation: str) -> None:
    refused(ask(running, method, operation), 401, "key-missing")
    if operation != "account_exists":
        refused(ask(running, method, operation, {"X-Api-Key": key_text(new_secret())}), 401, "unknown-key")
    refused(ask(running, method, operation, {"Authorization": "Bearer x"}), 401, "unknown-key")


@pytest.mark.parametrize("operation", OPEN)
def test_open_endpoint_answers_without_a_key_and_with_a_wrong_one(running: Running, operation: str) -> None:
    expected = running.read(operation)
    assert ask(running, "GET", operation, {"X-Api-Key": "wrong", "Authorization": "Bearer other"}).json() == expected


def test_both_headers_are_equivalent(running: Running, account: str) -> None:
    for headers in (
        {"X-Api-Key": account},
        {"Authorization": f"Bearer {account}"},
        {"Authorization": f"bearer {account}"},
    ):
        assert ask(running, "GET", "list_groups", headers).status_code == 200


def test_the_same_key_in_both_headers_counts(running: Running, account: str) -> None:
    headers = {"X-Api-Key": account, "Authorization": f"Bearer {account}"}
    assert ask(running, "GET", "list_groups", headers).status_code == 200


def test_header_that_is_empty_is_as_good_as_none(running: Running, account: str) -> None:
    for headers in (
        {"X-Api-Key": "", "Authorization": f"Bearer {account}"},
        {"X-Api-Key": account, "Authorization": "Bearer"},
    ):
        assert ask(running, "GET", "list_groups", headers).status_code == 200
    refused(ask(running, "GET", "list_groups", {"X-Api-Key": "", "Authorization": "Bearer"}), 401, "key-missing")


def test_two_different_keys_conflict(running: Running, account: str) -> None:
    usage_key = running.usage_key(account)
    for first, second in ((account, usage_key), (usage_key, account), (account, "x")):
        headers = {"X-Api-Key": first, "Authorization": f"Bearer {second}"}
        refused(ask(running, "GET", "list_groups", headers), 401, "conflicting-credentials")
    repeated = running.http.get("/core/v1/list_groups", headers=[("X-Api-Key", account), ("X-Api-Key", usage_key)])
    refused(repeated, 401, "conflicting-credentials")


@pytest.mark.parametrize("spoilt", ["{key}=", "{key} x", "{key}A", "{bare}", "{swapped}", "0x{hex}", "", "\xff"])
def test_texts_that_are_almost_a_key_do_not_count(running: Running, account: str, spoilt: str) -> None:
    secret = base64.b64decode(account)
    text = spoilt.format(
        key=account, bare=account.rstrip("="), swapped=account[:42] + chr(ord(account[42]) + 1) + "=", hex=secret.hex()
    )
    response = running.http.get("/core/v1/list_groups", headers=[(b"X-Api-Key", text.encode("latin-1"))])
    refused(response, 401)


def test_a_key_one_bit_off_does_not_count(running: Running, account: str) -> None:
    secret = int.from_bytes(base64.b64decode(account))
    for bit in (0, 7, 128, 255):
        other = key_text((secret ^ (1 << bit)).to_bytes(32))
        refused(running.get("list_groups", other), 401, "unknown-key")


def test_key_in_any_other_place_does_not_count(running: Running, account: str) -> None:
    get = running.http.get
    path = "/core/v1/list_groups"
    refused(get(path, params={"api_key": account, "X-Api-Key": account}), 401, "key-missing")
    refused(get(path, headers={"Cookie": f"X-Api-Key={account}"}), 401, "key-missing")
    refused(get(path, headers={"Authorization": account}), 401, "key-missing")
    basic = base64.b64encode(f"{account}:".encode()).decode()
    refused(get(path, headers={"Authorization": f"Basic {basic}"}), 401, "key-missing")
    body = {"group_name": "n", "group_description": "d", "api_key": account}
    refused(running.post("add_group", **body), 401, "key-missing")


def test_refusal_for_want_of_a_key_says_how_to_send_one(running: Running) -> None:
    response = running.get("list_groups")
    assert "X-Api-Key" in refused(response, 401)["detail"]
    assert response.headers["www-authenticate"].startswith("Bearer ")


def test_the_key_is_judged_before_the_body(running: Running) -> None:
    refused(running.post("add_group", nonsense=1), 401, "key-missing")


def attach(running: Running, account: str, expiration: int) -> str:
    """A usage key with an expiration, which HTTP can't give one."""
    secret = new_secret()
    owner = key_hash(base64.b64decode(account))
    running.node.accounts.set_usage_key(owner, UsageKey(key_hash(secret), expiration, 0, "n", "d", NO_PERMISSIONS))
    return key_text(secret)


def test_usage_key_expires_by_the_clock_of_the_chain() -> None:
    with serving(Settings(port=0, starter_credits=100)) as running:
        account = running.account()
        expiration = int(time.time()) + 1000
        key = attach(running, account, expiration)
        running.read("list_groups", key)
        running.node.clock.offset_seconds = 2000
        refused(running.get("list_groups", key), 401, "key-expired")
        refused(running.post("create_wallet", key), 401, "key-expired")
        running.read("list_groups", account)


def converted(running: Running, account: str) -> bytes:
    """Hand the account over to a wallet; its address."""
    wallet = address_of(new_secret())
    running.node.accounts.convert_to_chain_secured(key_hash(base64.b64decode(account)), wallet)
    return wallet


def test_account_key_opens_nothing_once_the_account_is_chain_secured(running: Running, account: str) -> None:
    converted(running, account)
    assert running.read("account_exists", account) is False
    for method, operation in NEEDS_KEY[1:]:
        refused(ask(running, method, operation, {"X-Api-Key": account}), 401, "unknown-key")


def test_usage_key_of_a_chain_secured_account_reads_and_can_not_write(running: Running, account: str) -> None:
    key = running.usage_key(account, can_create_groups=True, can_create_pkps=True)
    wallet = converted(running, account)
    before = running.everything(key)
    assert running.node.billing.balance(wallet) == 0  # and yet the refusal is not for want of credits
    refused(running.post("add_group", key, group_name="n", group_description="d"), 403, "chain-secured-account")
    refused(running.post("create_wallet", key), 403, "chain-secured-account")
    assert running.everything(key) == before


def test_key_attached_by_a_wallet_counts_once_both_calls_have_landed(running: Running) -> None:
    wallet, secret = new_secret(), new_secret()
    running.node.chain.fund(address_of(wallet), 10**20)
    account_hash = int.from_bytes(keccak(address_of(wallet)))
    key = (account_hash, key_hash(secret), 0, 0, "n", "d", False, False, False, (), (), (), ())

    def send(function: str, *arguments: object) -> None:
        pool = PayerPool(running.node.chain, [wallet])
        pool.submit(running.node.accounts.address, call_data(function, *arguments))

    send("newChainSecuredAccount", "n", "d")
    send("setUsageApiKey", *key)
    refused(running.get("list_groups", key_text(secret)), 401, "key-not-attached")
    send("registerWalletDerivation", account_hash, address_of(secret), new_derivation_path(), "n", "d")
    assert running.read("list_groups", key_text(secret)) == []
