"""`X-Wallet-Auth` and the balance (specification, "Billing" and "Authentication" 7)."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from envelopes import envelope, new_wallet, signed, wallet_auth
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nodes import Running, refused

from reference_node.permission.typed_data import Flow

BALANCE = "/core/v1/billing/balance"


def ask(running: Running, headers: Any) -> httpx.Response:
    return running.http.get(BALANCE, headers=headers)


def proof() -> dict[str, Any]:
    return signed(Flow.BILLING_AUTH, new_wallet())


@pytest.mark.parametrize(("cents", "shown"), [(0, "$0.00"), (5, "$0.05"), (500, "$5.00"), (1234, "$12.34")])
def test_balance_is_shown_in_dollars(
    running: Running, account: str, monkeypatch: pytest.MonkeyPatch, cents: int, shown: str
) -> None:
    monkeypatch.setattr(running.node.billing, "balance", lambda _: cents)
    assert running.read("billing/balance", account) == {"balance_cents": cents, "balance_display": shown}


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
