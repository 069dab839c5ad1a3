"""`X-Wallet-Auth` and the balance (specification, "Billing" and "Authentication" 7)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from envelopes import conversion, envelope, new_wallet, signed, wallet_auth
from eth_account import Account
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nodes import Running, refused, serving

from reference_node.permission.keys import key_text, new_secret
from reference_node.permission.typed_data import Flow
from reference_node.settings import Settings

BALANCE = "/core/v1/billing/balance"

STARTER = 10**9


def ask(running: Running, headers: Any) -> httpx.Response:
    return running.http.get(BALANCE, headers=headers)


def proof() -> dict[str, Any]:
    return signed(Flow.BILLING_AUTH, new_wallet())


def test_account_key_sees_its_balance(running: Running, account: str) -> None:
    assert running.read("billing/balance", account) == {
        "balance_cents": STARTER,
        "balance_display": "$10000000.00",
    }
    running.done("create_wallet", account)
    assert running.read("billing/balance", account)["balance_display"] == "$9999999.99"


@pytest.mark.parametrize(("cents", "shown"), [(0, "$0.00"), (5, "$0.05"), (500, "$5.00"), (1234, "$12.34")])
def test_balance_is_shown_in_dollars(cents: int, shown: str) -> None:
    with serving(Settings(port=0, starter_credits=cents)) as running:
        assert running.read("billing/balance", running.account()) == {"balance_cents": cents, "balance_display": shown}


def test_wallet_that_holds_the_record_sees_it_managed_or_not(running: Running, account: str) -> None:
    own = Account.from_key(base64.b64decode(account))
    assert ask(running, wallet_auth(signed(Flow.BILLING_AUTH, own))).json()["balance_cents"] == STARTER
    wallet = new_wallet()
    running.done("convert_to_chain_secured_account", account, **conversion(wallet))
    assert ask(running, wallet_auth(signed(Flow.BILLING_AUTH, own))).json()["balance_cents"] == 0
    assert ask(running, wallet_auth(signed(Flow.BILLING_AUTH, wallet))).json()["balance_cents"] == STARTER - 1


def test_wallet_without_a_record_has_no_credit(running: Running) -> None:
    assert ask(running, wallet_auth(proof())).json() == {"balance_cents": 0, "balance_display": "$0.00"}


def test_same_proof_counts_again_inside_its_window(running: Running) -> None:
    headers = wallet_auth(proof())
    for _ in range(3):
        assert ask(running, headers).status_code == 200


def test_proof_may_hold_the_envelope_as_a_string(running: Running) -> None:
    body = proof()
    assert ask(running, wallet_auth(body | {"typed_data": json.dumps(body["typed_data"])})).status_code == 200


def test_usage_keys_see_no_balance(running: Running, account: str) -> None:
    refused(running.get("billing/balance", running.usage_key(account)), 403, "owner-only")


def test_no_credentials_or_strange_ones_are_refused(running: Running) -> None:
    refused(running.get("billing/balance"), 401, "key-missing")
    refused(running.get("billing/balance", key_text(new_secret())), 401, "unknown-key")
    refused(ask(running, {"X-Wallet-Auth": ""}), 401, "key-missing")


def test_key_and_proof_together_conflict(running: Running, account: str) -> None:
    header = wallet_auth(proof())
    refused(ask(running, header | {"X-Api-Key": account}), 401, "conflicting-credentials")
    refused(ask(running, header | {"Authorization": f"Bearer {account}"}), 401, "conflicting-credentials")
    two = [*header.items(), *wallet_auth(proof()).items()]
    refused(ask(running, two), 401, "conflicting-credentials")


def changed(**parts: object) -> Callable[[], dict[str, Any]]:
    return lambda: proof() | parts


FAULTS: dict[str, tuple[Callable[[], object], str]] = {
    "another flow": (lambda: signed(Flow.CREATE_WALLET, new_wallet()), "typed-data-primary-type"),
    "another signer": (changed(signature=proof()["signature"]), "signature-mismatch"),
    "another chain": (
        lambda: {"typed_data": (other := envelope(Flow.BILLING_AUTH, new_wallet(), chain_id=1)), "signature": other},
        "typed-data-chain-id",
    ),
    "too large": (changed(typed_data="x" * 4097), "typed-data-too-large"),
    "no signature": (lambda: {"typed_data": proof()["typed_data"]}, "wallet-auth-malformed"),
    "one member more": (changed(nonce=1), "wallet-auth-malformed"),
    "a list": (lambda: [proof()], "wallet-auth-malformed"),
    "null": (lambda: None, "wallet-auth-malformed"),
}


@pytest.mark.parametrize(("make", "code"), FAULTS.values(), ids=FAULTS.keys())
def test_every_fault_of_a_proof_is_refused_with_401(running: Running, make: Callable[[], object], code: str) -> None:
    refused(ask(running, wallet_auth(make())), 401, code)


@pytest.mark.parametrize("offset", [-310, 400])  # what is ahead of the window gets nearer to it as time goes by
def test_proof_outside_its_window_is_refused(running: Running, offset: int) -> None:
    late = signed(Flow.BILLING_AUTH, new_wallet(), running.node.clock.now() + offset)
    assert refused(ask(running, wallet_auth(late)), 401)["code"].startswith("typed-data-")


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (b"x", "wallet-auth-not-base64"),
        (b"\xff", "wallet-auth-not-base64"),
        (b"e30", "wallet-auth-not-base64"),
        (b"e30=!", "wallet-auth-not-base64"),
        (base64.urlsafe_b64encode(b'{"a": "\xfb\xff"}'), "wallet-auth-not-base64"),
        (base64.b64encode(b"\xff"), "wallet-auth-not-utf8"),
        (base64.b64encode(b"{"), "wallet-auth-not-json"),
        (base64.b64encode(b'{"a": 1, "a": 1}'), "duplicate-member"),
        (base64.b64encode(b"[" * 100), "wallet-auth-too-deep"),
        (base64.b64encode(b"1e999"), "number-out-of-range"),
    ],
)
def test_header_that_is_no_base64_of_json_is_refused(running: Running, header: bytes, code: str) -> None:
    refused(ask(running, {b"X-Wallet-Auth": header}), 401, code)


VISIBLE_TEXT = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(text=VISIBLE_TEXT | st.binary().map(lambda raw: base64.b64encode(raw).decode()))
def test_whatever_the_header_holds_is_refused_with_401(running: Running, text: str) -> None:
    refused(ask(running, {"X-Wallet-Auth": text}), 401)


def test_proof_opens_nothing_but_billing(running: Running, account: str) -> None:
    header = wallet_auth(signed(Flow.BILLING_AUTH, Account.from_key(base64.b64decode(account))))
    assert ask(running, header).status_code == 200
    for operation in ("list_groups", "list_api_keys", "list_wallets", "list_actions", "account_exists"):
        refused(running.http.get(f"/core/v1/{operation}", headers=header), 401, "key-missing")
    for operation in ("create_wallet", "convert_to_chain_secured_account"):
        refused(running.http.post(f"/core/v1/{operation}", headers=header, json={}), 401, "key-missing")


def test_key_of_one_account_shows_no_other(running: Running) -> None:
    first, second = running.account(), running.account()
    running.done("create_wallet", first)
    assert running.read("billing/balance", first)["balance_cents"] == STARTER - 1
    assert running.read("billing/balance", second)["balance_cents"] == STARTER
