"""Keys and the wallets behind them."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from reference_node.permission.keys import (
    CURVE_ORDER,
    KeyDerivation,
    address_of,
    is_private_key,
    key_text,
    parse_key,
)

uint256 = st.integers(min_value=0, max_value=2**256 - 1)


@given(st.binary(min_size=32, max_size=32))
def test_key_text_reads_back(secret: bytes) -> None:
    assert parse_key(key_text(secret)) == secret


@given(st.text() | st.binary(max_size=40).map(lambda raw: base64.b64encode(raw).decode()))
def test_every_text_but_the_canonical_one_is_no_key(text: str) -> None:
    secret = parse_key(text)
    assert secret is None or (len(secret) == 32 and key_text(secret) == text)


@given(uint256)
def test_derived_keys_are_private_keys_and_always_the_same(path: int) -> None:
    key = KeyDerivation(b"\x01" * 32).wallet_key(path)
    assert is_private_key(key)
    assert KeyDerivation(b"\x01" * 32).wallet_key(path) == key
    assert KeyDerivation(b"\x02" * 32).wallet_key(path) != key


def test_purposes_and_paths_never_share_a_key() -> None:
    keys = KeyDerivation(b"\x01" * 32)
    derived = [keys.wallet_key(path) for path in (0, 1, 2**256 - 1)]
    derived += [keys.payer_key(index) for index in (0, 1)] + [keys.admin_payer_key()]
    assert len(set(derived)) == len(derived)


def test_derivation_stays_what_it_is() -> None:
    """Wallets would be lost otherwise: their keys exist nowhere but in this rule."""
    keys = KeyDerivation(bytes(range(32)))
    assert address_of(keys.wallet_key(1)).hex() == "bbce3b653a408b079ee70ef60b4944fb082bc7c7"
    assert address_of(keys.payer_key(0)).hex() == "36606f27fa8190a93419247cc026c3589177318c"
    assert address_of(keys.admin_payer_key()).hex() == "f2b180b4a9da30ca2ef3e464a7c581d15828cc1c"


def test_only_numbers_below_the_order_of_the_curve_are_private_keys() -> None:
    for number, expected in ((0, False), (1, True), (CURVE_ORDER - 1, True), (CURVE_ORDER, False)):
        assert is_private_key(number.to_bytes(32)) is expected


def test_root_secret_is_not_shown() -> None:
    assert "7" * 8 not in repr(KeyDerivation(b"7" * 32))
