"""`X-Wallet-Auth` and the balance (specification, "Billing" and "Authentication" 7)."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nodes import Running, refused

BALANCE = "/core/v1/billing/balance"


@pytest.mark.parametrize(("cents", "shown"), [(0, "$0.00"), (5, "$0.05"), (500, "$5.00"), (1234, "$12.34")])
def test_balance_is_shown_in_dollars(
    running: Running, account: str, monkeypatch: pytest.MonkeyPatch, cents: int, shown: str
) -> None:
    monkeypatch.setattr(running.node.billing, "balance", lambda _: cents)
    assert running.read("billing/balance", account) == {"balance_cents": cents, "balance_display": shown}


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
        (base64.b64encode(b"null"), "wallet-auth-malformed"),
        (base64.b64encode(b"[]"), "wallet-auth-malformed"),
        (base64.b64encode(b'{"typed_data": {}}'), "wallet-auth-malformed"),
        (base64.b64encode(b'{"typed_data": {}, "signature": "0x", "nonce": 1}'), "wallet-auth-malformed"),
    ],
)
def test_header_that_is_no_base64_of_a_proof_is_refused(running: Running, header: bytes, code: str) -> None:
    refused(running.http.get(BALANCE, headers={b"X-Wallet-Auth": header}), 401, code)


VISIBLE_TEXT = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E))


@settings(max_examples=50)
@given(text=VISIBLE_TEXT | st.binary().map(lambda raw: base64.b64encode(raw).decode()))
def test_whatever_the_header_holds_is_refused_with_401(running: Running, text: str) -> None:
    refused(running.http.get(BALANCE, headers={"X-Wallet-Auth": text}), 401)
