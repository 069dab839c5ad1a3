"""Groups, and the operations on them whose paths are not shown (specification, "Endpoints")."""

from __future__ import annotations

import re
from typing import Any

import pytest
from eth_utils.crypto import keccak
from nodes import ZERO_HASH, Running, refused

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
HASHED_CID = "0x" + keccak(text=CID).hex()


def hashes_in(running: Running, account: str, group: int) -> list[str]:
    return [action["hashed_cid"] for action in running.read("list_actions", account, group_id=group)]


def wallets_in(running: Running, account: str, group: int) -> list[str]:
    return [wallet["id"] for wallet in running.read("list_wallets_in_group", account, group_id=group)]


def test_groups_are_numbered_per_account_from_one_and_never_again(running: Running, account: str) -> None:
    assert [running.group(account) for _ in range(3)] == [1, 2, 3]
    assert running.group(running.account()) == 1
    running.done("remove_group", account, group_id="3")
    assert running.group(account) == 4
    assert [group["id"] for group in running.read("list_groups", account)] == [1, 2, 4]


def test_group_items_hold_what_was_given_and_nothing_more(running: Running, account: str) -> None:
    running.done("add_group", account, group_name="näme", group_description="")
    assert running.read("list_groups", account) == [{"id": 1, "name": "näme", "description": ""}]


def test_group_begins_with_its_lists_each_entry_once(running: Running, account: str) -> None:
    wallet = running.wallet(account)
    group = running.group(
        account, pkp_ids_permitted=[wallet, "0x" + wallet[2:].upper()], cid_hashes_permitted=[HASHED_CID, HASHED_CID]
    )
    assert wallets_in(running, account, group) == [wallet]
    assert hashes_in(running, account, group) == [HASHED_CID]


@pytest.mark.parametrize("wildcard", [0, "0", "0x0", ZERO_HASH])
def test_action_wildcard_is_taken_in_every_form(running: Running, account: str, wildcard: int | str) -> None:
    group = running.group(account, cid_hashes_permitted=[wildcard], pkp_ids_permitted=[ZERO_HASH])
    assert hashes_in(running, account, group) == [ZERO_HASH]
    assert wallets_in(running, account, group) == [ZERO_HASH]


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


def test_group_update_replaces_labels_and_both_lists(running: Running, account: str) -> None:
    wallet = running.wallet(account)
    group = running.group(account, cid_hashes_permitted=[0])
    running.group(account)
    running.done("update_group", account, group_id=group, name="x", description="y", pkp_ids_permitted=[wallet])
    assert running.read("list_groups", account)[0] == {"id": group, "name": "x", "description": "y"}
    assert hashes_in(running, account, group) == []
    assert wallets_in(running, account, group) == [wallet]


def test_action_joins_a_group_by_raw_cid_and_leaves_by_hash(running: Running, account: str) -> None:
    group = running.group(account)
    running.done("add_action_to_group", account, group_id=group, action_ipfs_cid=CID)
    listed = running.read("list_actions", account, group_id=group)
    assert listed == [{"hashed_cid": HASHED_CID, "name": "", "description": ""}]
    refused(running.post("add_action_to_group", account, group_id=group, action_ipfs_cid=CID), 409, "already-in-group")
    running.done("remove_action_from_group", account, group_id=group, hashed_cid=HASHED_CID.upper().replace("X", "x"))
    assert hashes_in(running, account, group) == []
    refused(
        running.post("remove_action_from_group", account, group_id=group, hashed_cid=HASHED_CID), 404, "not-in-group"
    )


def test_wallet_joins_and_leaves_a_group(running: Running, account: str) -> None:
    group = running.group(account)
    for entry in (running.wallet(account), ZERO_HASH):
        running.done("add_pkp_to_group", account, group_id=group, pkp_id=entry)
        assert wallets_in(running, account, group) == [entry]
        refused(running.post("add_pkp_to_group", account, group_id=group, pkp_id=entry), 409, "already-in-group")
        running.done("remove_pkp_from_group", account, group_id=group, pkp_id=entry)
        refused(running.post("remove_pkp_from_group", account, group_id=group, pkp_id=entry), 404, "not-in-group")
    assert wallets_in(running, account, group) == []


def test_wallets_of_other_accounts_are_unknown(running: Running, account: str) -> None:
    foreign = running.wallet(running.account())
    group = running.group(account)
    labels = {"name": "n", "description": "d"}
    refused(running.post("add_pkp_to_group", account, group_id=group, pkp_id=foreign), 404, "unknown-wallet")
    refused(
        running.post("update_group", account, group_id=group, pkp_ids_permitted=[foreign], **labels),
        404,
        "unknown-wallet",
    )
    refused(
        running.post("add_group", account, group_name="n", group_description="d", pkp_ids_permitted=[foreign]),
        404,
        "unknown-wallet",
    )
    assert running.everything(account)["in groups"] == [[[], []]]


def test_removed_group_leaves_the_keys_that_named_it(running: Running, account: str) -> None:
    first, second = running.group(account), running.group(account)
    running.usage_key(account, execute_in_groups=[first, second], manage_ipfs_ids_in_groups=[first])
    running.done("remove_group", account, group_id=first)
    (key,) = running.read("list_api_keys", account)
    assert (key["execute_in_groups"], key["manage_ipfs_ids_in_groups"]) == ([second], [])


GROUP_WRITES: list[tuple[str, dict[str, Any]]] = [
    ("update_group", {"name": "n", "description": "d"}),
    ("add_action_to_group", {"action_ipfs_cid": CID}),
    ("remove_action_from_group", {"hashed_cid": HASHED_CID}),
    ("add_pkp_to_group", {"pkp_id": ZERO_HASH}),
    ("remove_pkp_from_group", {"pkp_id": ZERO_HASH}),
    ("remove_group", {}),
]


@pytest.mark.parametrize(("operation", "body"), GROUP_WRITES)
def test_groups_that_are_not_the_accounts_are_unknown(
    running: Running, account: str, operation: str, body: dict[str, Any]
) -> None:
    running.group(account)
    other = running.account()
    for _ in range(2):
        running.group(other, cid_hashes_permitted=[HASHED_CID], pkp_ids_permitted=[ZERO_HASH])
    before = running.everything(other)
    for group in (2, 0, 2**64 - 1):
        refused(running.post(operation, account, group_id=group, **body), 404, "unknown-group")
    for listing in ("list_wallets_in_group", "list_actions"):
        refused(running.get(listing, account, group_id=2), 404, "unknown-group")
    assert running.everything(other) == before


SCOPES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("add_group", {"group_name": "n", "group_description": "d"}, {"can_create_groups": True}),
    ("create_wallet", {}, {"can_create_pkps": True}),
    ("add_action_to_group", {"group_id": 1, "action_ipfs_cid": CID}, {"manage_ipfs_ids_in_groups": [1]}),
    ("remove_action_from_group", {"group_id": 1, "hashed_cid": ZERO_HASH}, {"manage_ipfs_ids_in_groups": [0]}),
    ("add_pkp_to_group", {"group_id": 1, "pkp_id": "fresh"}, {"add_pkp_to_groups": [1]}),
    ("remove_pkp_from_group", {"group_id": 1, "pkp_id": ZERO_HASH}, {"remove_pkp_from_groups": [1]}),
    ("remove_group", {"group_id": "1"}, {"can_delete_groups": True}),
]
"""Operation, body, and the one permission that opens it."""


@pytest.mark.parametrize(("operation", "body", "permission"), SCOPES)
def test_one_permission_opens_its_operation_and_all_others_do_not(
    running: Running, account: str, operation: str, body: dict[str, Any], permission: dict[str, Any]
) -> None:
    running.group(account, pkp_ids_permitted=[ZERO_HASH], cid_hashes_permitted=[0])
    body = {name: running.wallet(account) if value == "fresh" else value for name, value in body.items()}
    everything_else = {name: value for _, _, other in SCOPES for name, value in other.items()}
    lacking = running.usage_key(account, **{n: v for n, v in everything_else.items() if n not in permission})
    holding = running.usage_key(account, **permission)
    before = running.everything(account)
    problem = refused(running.post(operation, lacking, **body), 403, "scope-missing")
    assert next(iter(permission)) in problem["detail"]
    assert running.everything(account) == before
    running.done(operation, holding, **body)
    assert running.everything(account) != before


def test_permission_for_one_group_does_not_reach_another(running: Running, account: str) -> None:
    first, second = running.group(account), running.group(account)
    key = running.usage_key(account, manage_ipfs_ids_in_groups=[first])
    refused(running.post("add_action_to_group", key, group_id=second, action_ipfs_cid=CID), 403, "scope-missing")
    assert hashes_in(running, account, second) == []
    running.done("add_action_to_group", key, group_id=first, action_ipfs_cid=CID)


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("update_group", {"group_id": 1, "name": "n", "description": "d"}),
        ("add_action", {"action_ipfs_cid": CID, "name": "n", "description": "d"}),
        ("delete_action", {"hashed_cid": HASHED_CID}),
        ("update_action_metadata", {"hashed_cid": HASHED_CID, "name": "n", "description": "d"}),
    ],
)
def test_what_no_permission_covers_is_the_owners_alone(
    running: Running, account: str, operation: str, body: dict[str, Any]
) -> None:
    running.group(account)
    key = running.usage_key(account, **{name: value for *_, granted in SCOPES for name, value in granted.items()})
    before = running.everything(account)
    refused(running.post(operation, key, **body), 403, "owner-only")
    assert running.everything(account) == before


def test_place_of_a_fault_names_the_member_and_no_type(running: Running, account: str) -> None:
    answer = running.post("add_group", account, group_name="a", group_description="", cid_hashes_permitted=["x"])
    detail = refused(answer, 422, "request-invalid")["detail"]
    assert "body.cid_hashes_permitted.0: " in detail
    assert not re.search(r"permitted\.0\.", detail)
