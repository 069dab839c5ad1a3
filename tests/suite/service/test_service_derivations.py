"""The wallet of an account key, against a value computed elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.problems import Mismatch, ProfileSilent
from conformance.service.derivations import (
    account_private_key,
    base64_of,
    bytes_of_base64,
    code_cid,
    key_with_flipped_bit,
    long_code_cid,
    pkp_id,
)

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


# By `ipfs add --only-hash` of Kubo with default settings, and with `--cid-version 1`.
@pytest.mark.parametrize(
    ("code", "algorithm", "cid"),
    [
        ("", "ipfs_add_v0", "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"),
        ("hello world\n", "ipfs_add_v0", "QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o"),
        ("hello world", "ipfs_add_v1", "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"),
    ],
)
def test_cid_of_code_follows_the_algorithm(code: str, algorithm: str, cid: str) -> None:
    assert code_cid(code, algorithm) == cid


VECTORS = json.loads((Path(__file__).parents[3] / "fixtures" / "cid" / "vectors.json").read_text())["vectors"]


@pytest.mark.parametrize(
    "vector", [one for one in VECTORS if one["length"] <= 174 * 256 * 1024], ids=lambda vector: str(vector["id"])
)
def test_cid_of_one_block_or_many_is_what_ipfs_gives(vector: dict[str, Any]) -> None:
    blocks = (hashlib.sha256(f"{vector['seed']}:{n}".encode()).hexdigest() for n in range(-(-vector["length"] // 64)))
    code = "".join(blocks)[: vector["length"]]
    assert (code_cid(code, "ipfs_add_v0") or long_code_cid(code, "ipfs_add_v0")) == vector["cid"]


def test_cid_of_many_blocks_is_known_for_version_0_and_one_node_alone() -> None:
    assert long_code_cid("x" * (256 * 1024 + 1), "ipfs_add_v1") is None
    assert long_code_cid("x" * 256 * 1024, "ipfs_add_v0") is None
    assert long_code_cid("x" * (174 * 256 * 1024 + 1), "ipfs_add_v0") is None


@pytest.mark.parametrize(("code", "algorithm"), [("x" * (256 * 1024 + 1), "ipfs_add_v0"), ("short", None)])
def test_cid_is_left_to_the_node_without_a_known_rule(code: str, algorithm: str | None) -> None:
    assert code_cid(code, algorithm) is None


@pytest.mark.parametrize(("index", "changed"), [(0, 0), (15, 15), (-1, 31)])
def test_flipped_key_differs_in_one_bit_of_one_byte(index: int, changed: int) -> None:
    secret, flipped = bytes_of_base64(KEY), bytes_of_base64(key_with_flipped_bit(KEY, index))
    differing = [(place, byte ^ secret[place]) for place, byte in enumerate(flipped) if byte != secret[place]]
    assert differing == [(changed, 1)]


@pytest.mark.parametrize(("key", "index"), [(KEY, 32), ("", 0)])
def test_bit_that_the_key_has_not_departs(key: str, index: int) -> None:
    with pytest.raises(Mismatch):
        key_with_flipped_bit(key, index)


@pytest.mark.parametrize(
    ("rule", "known"),
    [
        ("keccak256_of_address", "0x3322f33946a3c503c916c8fc29768a547f01fa665e1eb22f9f66cf7e5a262012"),
        ("left_padded_address", "0x0000000000000000000000007e5f4552091a69125d5dfcb7b8c2659029395bdf"),
    ],
)
def test_pkp_id_follows_the_rule(rule: str, known: str) -> None:
    assert pkp_id("0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf", rule) == known


def test_pkp_id_of_no_address_departs() -> None:
    with pytest.raises(Mismatch):
        pkp_id("0x12", "left_padded_address")
