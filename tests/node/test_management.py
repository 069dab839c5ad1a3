"""Management where the specification is silent (reference choices): ids, limits, and what refusals say to mend them."""

from __future__ import annotations

import pytest
from eth_utils.crypto import keccak
from nodes import LABELS, NEW_GROUP, Running, refused

CID = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"
HASHED_CID = "0x" + keccak(text=CID).hex()


def test_groups_are_numbered_per_account_from_one_and_never_again(running: Running, account: str) -> None:
    assert [running.group(account) for _ in range(3)] == [1, 2, 3]
    assert running.group(running.account()) == 1
    running.done("remove_group", account, group_id="3")
    assert running.group(account) == 4
    assert [group["id"] for group in running.read("list_groups", account)] == [1, 2, 4]


def test_the_largest_write_that_is_allowed_fits_a_block(running: Running, account: str) -> None:
    label = "\U0001f600" * 1024
    hashes = [f"0x{number:064x}" for number in range(1, 101)]
    labels = {"group_name": label, "group_description": label}
    group = running.done("add_group", account, **labels, cid_hashes_permitted=hashes)["group_id"]
    assert running.read("list_groups", account) == [{"id": group, "name": label, "description": label}]
    listed = running.read("list_actions", account, group_id=group, page_size=100)
    assert [action["hashed_cid"] for action in listed] == hashes
    too_many = [*hashes, "0x" + "ff" * 32]
    refused(running.post("add_group", account, **labels, cid_hashes_permitted=too_many), 422, "request-invalid")


def test_account_exists_for_an_account_key_alone(running: Running, account: str) -> None:
    assert running.read("account_exists", account) is True
    assert running.read("account_exists", running.usage_key(account)) is False


ADDRESS = "0x" + "ab" * 20
TO_HASH = f"this is a raw CID: write its hash, the hashed_cid of list_actions, here {HASHED_CID}"
TO_CID = "this is a hashed CID: write the raw CID that it is the hash of (Qm…, bafy…, bafk…)"
TO_PKP_ID = (
    "this is a wallet's address: write its PKP id, the id of list_wallets, here 0x"
    + keccak(bytes.fromhex(ADDRESS[2:])).hex()
)


@pytest.mark.parametrize(
    ("operation", "member", "value", "more", "said"),
    [
        ("delete_action", "hashed_cid", CID, {}, TO_HASH),
        ("update_action_metadata", "hashed_cid", CID, LABELS, TO_HASH),
        ("remove_action_from_group", "hashed_cid", CID, {"group_id": 1}, TO_HASH),
        ("add_group", "cid_hashes_permitted.0", [CID], NEW_GROUP, TO_HASH),
        ("update_group", "cid_hashes_permitted.0", [CID], {"group_id": 1, **LABELS}, TO_HASH),
        ("add_action", "action_ipfs_cid", HASHED_CID, LABELS, TO_CID),
        ("add_action_to_group", "action_ipfs_cid", HASHED_CID, {"group_id": 1}, TO_CID),
        ("groups/1/actions", "remove.0", [HASHED_CID], {}, TO_CID),
        ("add_pkp_to_group", "pkp_id", ADDRESS, {"group_id": 1}, TO_PKP_ID),
        ("remove_pkp_from_group", "pkp_id", ADDRESS, {"group_id": 1}, TO_PKP_ID),
        ("groups/1/pkps", "add.0", [ADDRESS], {}, TO_PKP_ID),
    ],
)
def test_other_name_of_an_action_or_wallet_is_told_apart(
    running: Running, account: str, operation: str, member: str, value: object, more: dict[str, object], said: str
) -> None:
    answer = running.post(operation, account, **more, **{member.partition(".")[0]: value})
    assert refused(answer, 422, "request-invalid")["detail"] == f"body.{member}: {said}"
