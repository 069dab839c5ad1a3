"""The wallet of an account key, against a value computed elsewhere."""

from __future__ import annotations

import base64

import pytest

from conformance.problems import Mismatch, ProfileSilent
from conformance.service.derivations import account_private_key, base64_of, bytes_of_base64

# Anvil's first development account.
KEY = base64.b64encode(bytes.fromhex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")).decode()
WALLET = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"


def wallet_of(key: str, rule: object) -> str:
    return account_private_key(key, rule).public_key.to_checksum_address()


def test_wallet_of_an_account_key_follows_the_rule() -> None:
    assert wallet_of(KEY, "secret_is_private_key") == WALLET
    assert wallet_of(KEY, "keccak256_of_secret_is_private_key") != WALLET


def test_wallet_without_a_rule_is_silence() -> None:
    with pytest.raises(ProfileSilent):
        wallet_of(KEY, None)


@pytest.mark.parametrize("secret", [b"short", bytes(32)])
def test_secret_that_is_no_private_key_departs(secret: bytes) -> None:
    with pytest.raises(Mismatch):
        wallet_of(base64.b64encode(secret).decode(), "secret_is_private_key")


def test_base64_undoes_decoding() -> None:
    assert base64_of(bytes_of_base64(KEY)) == KEY


def test_text_that_is_no_base64_departs() -> None:
    with pytest.raises(Mismatch):
        bytes_of_base64("no base64!")
