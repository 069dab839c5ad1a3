"""The functions of `let`, against values computed elsewhere."""

from __future__ import annotations

import base64

import pytest

from conformance.language.functions import FUNCTIONS
from conformance.language.scope import Scope
from conformance.problems import Mismatch, ProfileSilent
from conformance.profile import Profile, value_at

# Anvil's first development account.
SECRET = bytes.fromhex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
KEY = base64.b64encode(SECRET).decode()
WALLET = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
EMPTY_KECCAK = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"


def call(name: str, *arguments: object, profile: Profile | None = None, seed: str = "1/a//") -> object:
    stated = profile or Profile()
    return FUNCTIONS[name](Scope(seed, lambda key: value_at(stated, key), {}), *arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("keccak_hex", ["0x"], EMPTY_KECCAK),
        ("hashed_cid", ["abc"], "0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"),
        (
            "pkp_id_of",
            ["0x7e5f4552091a69125d5dfcb7b8c2659029395bdf"],
            "0x3322f33946a3c503c916c8fc29768a547f01fa665e1eb22f9f66cf7e5a262012",
        ),
        ("upper_hex", ["0xabc"], "0xABC"),
        ("upper_hex", ["abc"], "ABC"),
        ("lower", ["aBc"], "abc"),
        ("to_integer", ["42"], 42),
        ("hex_to_integer", ["0x7a69"], 31337),
        ("hex_to_integer", ["0xf"], 15),
        ("to_text", [5], "5"),
        ("length", ["abc"], 3),
        ("sum", [1, 2, -4], -1),
        ("repeat_text", ["ab", 3], "ababab"),
    ],
)
def test_function_gives(name: str, arguments: list[object], value: object) -> None:
    assert call(name, *arguments) == value


def test_flipped_key_differs_in_one_bit() -> None:
    flipped = base64.b64decode(str(call("flip_key_bit", KEY)))

    assert (int.from_bytes(flipped) ^ int.from_bytes(SECRET)).bit_count() == 1


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("random_key", "[A-Za-z0-9+/]{43}="),
        ("random_hash", "0x[0-9a-f]{64}"),
        ("sample_cid", "Qm[1-9A-HJ-NP-Za-km-z]{44}"),
    ],
)
def test_random_values_have_their_form_and_follow_the_seed(name: str, form: str) -> None:
    import re  # noqa: PLC0415 - this test alone needs it

    assert re.fullmatch(form, str(call(name)))
    assert call(name) == call(name)
    assert call(name) != call(name, seed="2/a//")
    assert call(name) != call(name, seed="1/b//")


def test_sample_cid_is_the_same_in_every_branch_of_a_case() -> None:
    assert call("sample_cid", "x", seed="1/a//") == call("sample_cid", "x", seed="1/a///branch 1")
    assert call("sample_cid", "x") != call("sample_cid", "y")


def test_profile_decides_the_derivations() -> None:
    rules = {
        "wire": {"pkp": {"id_source": {"rule": "left_padded_address"}}},
    }
    profile = Profile.model_validate(rules)

    assert call("pkp_id_of", WALLET, profile=profile) == f"0x{'00' * 12}{WALLET[2:].lower()}"


def test_profile_that_says_no_rule_is_told_apart_from_a_departure() -> None:
    with pytest.raises(ProfileSilent):
        call("account_hash", KEY, profile=Profile.model_validate({"crypto": {"api_key_hash_preimage": None}}))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("keccak_hex", ["0xzz"]),
        ("pkp_id_of", ["0x12"]),
        ("to_integer", ["1.5"]),
        ("length", [5]),
        ("sum", [1, "2"]),
        ("flip_key_bit", [""]),
    ],
)
def test_value_of_another_form_departs(name: str, arguments: list[object]) -> None:
    with pytest.raises(Mismatch):
        call(name, *arguments)
