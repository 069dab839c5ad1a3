"""Tests for the sources of actions, and for the parameters, results and signers of their runs."""

from __future__ import annotations

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from pydantic import JsonValue

from conformance.problems import Mismatch, ProfileSilent
from conformance.profile import Profile
from conformance.service.action_sources import PLACEHOLDER, names, needs, parameters, source
from conformance.service.runs import address_of_private_key, returned, signer_of_digest, signer_of_message

KEY = "0x" + "11" * 32
WALLET = Account.from_key(KEY)


def profile(**execution: JsonValue) -> Profile:
    return Profile.model_validate({"exec": execution})


@pytest.mark.parametrize("name", names())
def test_source_has_no_placeholder_left(name: str) -> None:
    assert PLACEHOLDER.findall(source(name, Profile())) == []
    assert "main(" in source(name, Profile())


@pytest.mark.parametrize(
    ("stated", "code"),
    [
        (
            {"sandbox_api": {"namespace": "{title}Box", "sign_message": "sign"}},
            'ServiceBox.sign({ ...{ "pkpId": params["pkpId"] }, message: params.message })',
        ),
        (
            {"sandbox_api": {"namespace": "vault", "arguments": "positional"}},
            "((call) => vault.signMessage(...Object.values(call)))({ ...{",
        ),
        (
            {"pkp_selection": {"named_by": "js_params_member", "member": "wallet"}},
            "Service.Actions.signMessage({ ...{}, message: params.message })",
        ),
    ],
    ids=["names of the profile", "values one after the other", "nodes that read the wallet themselves"],
)
def test_source_calls_the_sandbox_as_the_profile_says(stated: dict[str, JsonValue], code: str) -> None:
    assert code in source("sign_message", profile(**stated))


def test_source_begins_with_the_prelude_where_it_calls_the_sandbox() -> None:
    stated = profile(sandbox_api={"namespace": "Calls", "prelude": "const Calls = {};"})
    assert source("sign_message", stated).startswith("const Calls = {};\n")
    assert "Calls" not in source("echo", stated)


def test_source_with_a_mark_is_the_source_and_a_comment() -> None:
    assert source("echo", Profile(), "one") == source("echo", Profile()) + "// one\n"


def test_source_says_what_it_needs() -> None:
    assert needs("echo") == frozenset()
    assert "exec.sandbox_api.sign_digest" in needs("sign_digest")


@pytest.mark.parametrize("silent", [{"sandbox_api": None}, {"sandbox_api": {"sign_message": None}}])
def test_source_without_its_names_is_for_other_nodes(silent: dict[str, JsonValue]) -> None:
    with pytest.raises(ProfileSilent, match=r"exec\.sandbox_api"):
        source("sign_message", profile(**silent))


def test_source_that_chooses_its_wallets_is_for_nodes_whose_calls_name_them() -> None:
    with pytest.raises(ProfileSilent, match=r"named_by is sandbox_call"):
        source("sign_both", profile(pkp_selection={"named_by": "js_params_member"}))


def test_parameters_name_the_wallet_as_the_profile_says() -> None:
    assert parameters("0x01", {"a": 1}, lambda _: "wallet") == {"wallet": "0x01", "a": 1}
    with pytest.raises(ProfileSilent):
        parameters("0x01", {}, lambda _: None)


@pytest.mark.parametrize(
    ("form", "response", "value"),
    [
        ("value", {"a": 1}, {"a": 1}),
        ("value", '{"a":1}', '{"a":1}'),
        ("text", '{"a":1}', {"a": 1}),
        ("text", "0x12", "0x12"),
        ("text", None, None),
        ("text", "[[1]]", [[1]]),
        *(("text", no_json, no_json) for no_json in ("[1,", "[" * 100_000, '{"a":' * 100_000, "9" * 5_000)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_returned_undoes_the_form_of_the_response(form: str, response: JsonValue, value: JsonValue) -> None:
    assert returned(response, form) == value


@pytest.mark.parametrize("text", ["", "hello", "zwölf 二 \U0001f600", "x" * 1000])
def test_signer_of_a_message_is_the_one_that_others_recover(text: str) -> None:
    signed = WALLET.sign_message(encode_defunct(text=text)).signature.hex()
    assert signer_of_message(text, signed) == WALLET.address
    assert signer_of_message(text, f"0x{signed}") == WALLET.address
    assert signer_of_message(f"{text}.", signed) != WALLET.address


@pytest.mark.parametrize("subtracted", [0, 27])
def test_signer_of_a_digest_is_found_with_either_recovery_byte(subtracted: int) -> None:
    digest = "0x" + "22" * 32
    signed = bytearray(WALLET.unsafe_sign_hash(digest).signature)
    signed[-1] -= subtracted
    assert signer_of_digest(digest, bytes(signed).hex()) == WALLET.address


@pytest.mark.parametrize("signature", ["", "0x", "hello", None, "0x" + "00" * 65, "0x" + "11" * 64, "0x" + "ff" * 65])
def test_signature_that_nobody_made_departs(signature: object) -> None:
    with pytest.raises(Mismatch, match="a signature that recovers to a signer"):
        signer_of_message("hello", signature)


def test_digest_of_another_length_departs() -> None:
    with pytest.raises(Mismatch, match="a digest"):
        signer_of_digest("0x1122", "0x" + "11" * 65)


def test_private_key_gives_its_address_also_from_under_a_mask() -> None:
    mask = "0x" + "0f" * 32
    assert address_of_private_key(KEY) == WALLET.address
    assert address_of_private_key("0x" + "1e" * 32, mask) == WALLET.address


@pytest.mark.parametrize("key", ["0x" + "00" * 32, "0x" + "ff" * 32, "0x11", "key", None])
def test_private_key_that_is_none_departs(key: object) -> None:
    with pytest.raises(Mismatch, match="a private key"):
        address_of_private_key(key)
