"""Functions of another contract, matched with the suite's by the names of arguments, results and members."""

from __future__ import annotations

import pytest

from conformance.problems import ProfileSilent
from conformance.profile.abi_names import DoesNotFit, Translation, translation
from conformance.profile.chain import SUITE_SIGNATURES
from conformance.values.json_values import member

KEY = "0x" + "11" * 32
PADDED = "0x" + "00" * 12 + "ab" * 20


def other(name: str, signature: str) -> Translation:
    return translation(SUITE_SIGNATURES[name], signature)


@pytest.mark.parametrize("name", SUITE_SIGNATURES)
def test_suite_signature_is_matched_with_itself(name: str) -> None:
    matched = other(name, SUITE_SIGNATURES[name])
    assert matched.own == matched.suite
    assert not [*matched.untaken, *matched.unreturned]


@pytest.mark.parametrize(
    ("signature", "arguments"),
    [
        ("f(bytes32 pkpId, uint256 keyHash, bytes32 cidHash)", [PADDED, 5, KEY]),
        ("f(bytes32 pkp_id, uint256 KEYHASH, bytes32 _cidHash)", [PADDED, 5, KEY]),
        ("f(uint256, bytes32, bytes32)", [5, KEY, PADDED]),
        ("f(uint256 keyHash, uint256 cidHash, address pkpId)", [5, int(KEY, 16), "0x" + "ab" * 20]),
        ("f(bytes32 keyHash, bytes32 cidHash, bytes32 pkpId)", [f"0x{5:064x}", KEY, PADDED]),
    ],
)
def test_arguments_follow_their_names(signature: str, arguments: list[object]) -> None:
    assert other("can_execute", signature).arguments([5, KEY, PADDED]) == arguments


def test_lists_are_passed_item_by_item() -> None:
    matched = other(
        "add_group", "f(address[] pkpIds, uint256 keyHash, uint256[] cidHashes, string name, string description)"
    )
    assert matched.arguments([1, "n", "d", [PADDED], [KEY]]) == [["0x" + "ab" * 20], 1, [int(KEY, 16)], "n", "d"]


@pytest.mark.parametrize(
    ("name", "signature", "values", "said"),
    [
        ("can_execute", "f(uint256 keyHash, bytes32 cidHash, address pkpId)", [5, KEY, KEY], "pkpId of 32 bytes"),
        ("remove_group", "f(uint256 keyHash, uint32 groupId)", [5, 2**40], "groupId of type uint64, not uint32"),
        ("add_group", "f(uint256 keyHash, string name, string description)", [5, "n", "d", [KEY], []], "takes pkpIds"),
        ("delete_action", "f(uint256 adminHash)", [5, KEY], "takes cidHash"),
    ],
)
def test_value_that_the_function_cannot_take_is_told(
    name: str, signature: str, values: list[object], said: str
) -> None:
    with pytest.raises(DoesNotFit, match=f"a contract whose f .*{said}"):
        other(name, signature).arguments(values)


def test_value_of_no_type_of_the_suite_is_left_to_the_encoder() -> None:
    assert other("remove_group", "f(uint256 keyHash, uint32 groupId)").arguments([5, 2**64]) == [5, 2**64]


def test_empty_values_and_page_sizes_may_be_left_out() -> None:
    assert other("list_groups", "f(uint256 accountHash)").arguments([5, 0, 100]) == [5]
    assert other("add_group", "f(uint256 keyHash, string name)").arguments([5, "n", "", [], []]) == [5, "n"]


def test_labels_are_left_out_where_they_do_not_matter() -> None:
    matched = other("new_chain_secured_account", "f()")
    assert matched.arguments(["n", "d"], without_labels=True) == []
    with pytest.raises(DoesNotFit, match="takes name"):
        matched.arguments(["n", "d"])


@pytest.mark.parametrize(
    ("returns", "values"),
    [
        ("(address adminWalletAddress, bool managed)", ("0xab", True)),
        ("((uint8 more, address adminWalletAddress, bool managed) account)", ((7, "0xab", True),)),
        ("(bool managed, uint8 more, address admin_wallet_address)", (True, 7, "0xab")),
    ],
)
def test_results_have_the_names_of_the_suite(returns: str, values: tuple[object, ...]) -> None:
    shown = other("get_account", f"f(uint256) returns {returns}").results(values)
    assert shown == {"managed": True, "adminWalletAddress": "0xab"}
    with pytest.raises(ProfileSilent, match="a contract whose f returns name"):
        member(shown, "name")


def test_members_of_a_struct_may_stand_alone() -> None:
    shown = other("get_wallet", "f(uint256, bytes32) returns (string name, address id)").results(
        ("n", "0x" + "ab" * 20)
    )
    assert shown == {"wallet": {"name": "n", "id": PADDED}}


def test_only_list_of_structs_is_the_list() -> None:
    matched = other(
        "list_groups", "f(uint256,uint256,uint256) returns (uint256 total, (string name, uint256 id)[] page)"
    )
    assert matched.results((7, (("n", 1), ("m", 2)))) == {"groups": [{"name": "n", "id": 1}, {"name": "m", "id": 2}]}
    assert matched.unreturned == ["description"]


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        ("f(uint256 keyHash, bytes32 salt)", "nothing is known for the argument salt; known here: keyHash"),
        ("f(string pkpId)", "pkpId has the type string, which cannot stand for bytes32"),
        ("f(bytes32[] pkpId)", "pkpId has the type"),
        ("f(uint256, bytes32)", "2 arguments without names where packs know 3"),
        ("f(uint256 keyHash, bytes32)", "name every argument, or none"),
        ("f(uint256 keyHash, uint256 key_hash)", "two are called keyHash"),
        (
            "f(uint256, bytes32, bytes32) returns (uint256)",
            "permitted has the type uint256, which cannot stand for bool",
        ),
    ],
)
def test_function_that_packs_cannot_call_is_no_function_of_a_profile(signature: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        other("can_execute", signature)
