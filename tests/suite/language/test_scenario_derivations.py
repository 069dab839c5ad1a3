"""Tests for what follows from keys, codes and wallets."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable

import httpx
import pytest
from eth_utils.crypto import keccak

from conformance.endpoints.messages import Answer
from conformance.problems import Mismatch, ProfileSilent
from conformance.profile import Profile
from conformance.service.derivations import account_hash, hashed_cid, pkp_id_in, sample_cid, usage_key_hash
from conformance.service.secrets_search import wallets_leaked_by, wallets_of_secrets_in

SECRET = bytes(range(1, 33))
KEY = base64.b64encode(SECRET).decode()
WALLET = "0x6370ef2f4db3611d657b90667de398a2cc2a370c"
"""The address of the private key `SECRET`, as MetaMask and ethers derive it."""

ADDRESS = "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"
PKP_ID = f"0x{keccak(bytes.fromhex(ADDRESS[2:])).hex()}"
LEFT_PADDED = f"0x{'0' * 24}{ADDRESS[2:].lower()}"


def profile(**crypto: str | None) -> Profile:
    return Profile.model_validate({"crypto": crypto})


@pytest.mark.parametrize("of", [account_hash, usage_key_hash])
@pytest.mark.parametrize(("rule", "preimage"), [("decoded_bytes", SECRET), ("base64_text", KEY.encode())])
def test_key_hash_follows_the_profiles_rule(of: Callable[..., object], rule: str, preimage: bytes) -> None:
    asked = profile(api_key_hash_preimage=rule, usage_key_hash_preimage=rule)
    assert of(KEY, asked) == f"0x{keccak(preimage).hex()}"


def test_key_hash_without_a_rule_is_not_judged() -> None:
    with pytest.raises(ProfileSilent):
        account_hash(KEY, profile(api_key_hash_preimage=None))


def test_hashed_cid_is_keccak_of_the_text() -> None:
    assert hashed_cid("abc") == "0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"


def test_sample_cid_is_a_cid_that_follows_its_seed() -> None:
    assert re.fullmatch("Qm[1-9A-HJ-NP-Za-km-z]{44}", sample_cid("x"))
    assert sample_cid("x") == sample_cid("x") != sample_cid("y")


def test_pkp_id_is_the_one_that_the_list_shows_for_the_address() -> None:
    other = {"id": f"0x{'2' * 64}", "wallet_address": f"0x{'2' * 40}"}
    listed = [other, {"id": f"0x{'1' * 64}", "wallet_address": ADDRESS.lower()}]
    assert pkp_id_in(listed, ADDRESS, None) == f"0x{'1' * 64}"


@pytest.mark.parametrize(("rule", "expected"), [("keccak256_of_address", PKP_ID), ("left_padded_address", LEFT_PADDED)])
def test_pkp_id_follows_the_rule_where_items_hold_none(rule: str, expected: str) -> None:
    assert str(pkp_id_in([{"wallet_address": ADDRESS}], ADDRESS, rule)).lower() == expected


@pytest.mark.parametrize(
    "listed",
    [
        [],
        [{"id": f"0x{'1' * 64}", "wallet_address": f"0x{'2' * 40}"}],
        [{"id": f"0x{'1' * 64}", "wallet_address": ADDRESS}] * 2,
        [{"id": 7, "wallet_address": ADDRESS}],
        "no list",
    ],
)
def test_pkp_id_of_a_wallet_that_is_not_listed_once_departs(listed: object) -> None:
    with pytest.raises(Mismatch):
        pkp_id_in(listed, ADDRESS, "keccak256_of_address")


@pytest.mark.parametrize(
    "value",
    [
        f"0xabc{SECRET.hex()}def",
        f"key={KEY}; path=/",
        int.from_bytes(SECRET),
        {"items": [{"note": [SECRET.hex()]}]},
        {SECRET.hex(): None},
    ],
)
def test_wallet_of_a_secret_is_found_wherever_it_stands(value: object) -> None:
    assert WALLET in wallets_of_secrets_in("nothing", value)


@pytest.mark.parametrize(("headers", "body"), [({"x-note": SECRET.hex()}, "[]"), ({}, f'["{SECRET.hex()}"]')])
def test_wallet_of_a_secret_is_found_in_headers_and_bodies(headers: dict[str, str], body: str) -> None:
    leaks, keeps = Answer(200, httpx.Headers(headers), body, 0), Answer(404, httpx.Headers(), "no JSON", 1)
    assert WALLET in wallets_leaked_by([keeps, leaks])
    assert wallets_leaked_by([keeps]) == []


@pytest.mark.parametrize("value", ["", "text", None, True, 0, -1, 2**256, "f" * 64, f"0x{'0' * 64}", ADDRESS])
def test_what_cannot_be_a_private_key_gives_no_wallet(value: object) -> None:
    assert wallets_of_secrets_in(value) == []
