"""Wallets and actions (specification, "Endpoints")."""

from __future__ import annotations

import base64

import pytest
from eth_utils.crypto import keccak
from nodes import Running, refused

from reference_node.permission.keys import address_of

CIDS = [
    "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH",
    "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
    "zdj7Wf8ymVYbMpjcFwpEr8oCd3ipPmKBEVdtuPHbUnnVUUVDF",
]


def hashed(cid: str) -> str:
    return "0x" + keccak(text=cid).hex()


def test_created_wallets_are_distinct_and_listed_by_the_hash_of_their_address(running: Running, account: str) -> None:
    addresses = [running.done("create_wallet", account)["wallet_address"] for _ in range(3)]
    assert len(set(addresses)) == 3
    assert running.read("list_wallets", account) == [
        {
            "id": "0x" + keccak(bytes.fromhex(address[2:])).hex(),
            "name": "",
            "description": "",
            "wallet_address": address,
        }
        for address in addresses
    ]


def test_a_wallets_key_is_derived_again_from_the_path_on_chain(running: Running, account: str) -> None:
    pkp_id = bytes.fromhex(running.wallet(account)[2:])
    account_hash = int.from_bytes(keccak(base64.b64decode(account)))
    wallet = running.node.accounts.wallet(account_hash, pkp_id)
    assert address_of(running.node.keys.wallet_key(wallet.derivation_path)) == wallet.address


def test_wallet_of_the_account_itself_is_not_listed(running: Running, account: str) -> None:
    assert running.read("list_wallets", account) == []


@pytest.mark.parametrize("cid", CIDS)
def test_registered_action_is_listed_under_the_hash_of_its_raw_cid(running: Running, account: str, cid: str) -> None:
    running.done("add_action", account, action_ipfs_cid=cid, name="n", description="d")
    listed = [{"hashed_cid": hashed(cid), "name": "n", "description": "d"}]
    assert running.read("list_actions", account) == listed
    refused(running.post("add_action", account, action_ipfs_cid=cid, name="", description=""), 409, "action-exists")
    assert running.read("list_actions", account) == listed


def test_registering_an_action_puts_it_in_no_group(running: Running, account: str) -> None:
    group = running.group(account)
    running.done("add_action", account, action_ipfs_cid=CIDS[0], name="n", description="d")
    assert running.read("list_actions", account, group_id=group) == []


def test_action_in_a_group_alone_is_not_registered(running: Running, account: str) -> None:
    group = running.group(account)
    running.done("add_action_to_group", account, group_id=group, action_ipfs_cid=CIDS[0])
    assert running.read("list_actions", account) == []
    refused(running.post("delete_action", account, hashed_cid=hashed(CIDS[0])), 404, "unknown-action")
    assert len(running.read("list_actions", account, group_id=group)) == 1


def test_deleted_action_leaves_every_group(running: Running, account: str) -> None:
    groups = [running.group(account, cid_hashes_permitted=[hashed(CIDS[0]), hashed(CIDS[1])]) for _ in range(2)]
    running.done("add_action", account, action_ipfs_cid=CIDS[0], name="n", description="d")
    running.done("delete_action", account, hashed_cid=hashed(CIDS[0]))
    assert running.read("list_actions", account) == []
    for group in groups:
        left = running.read("list_actions", account, group_id=group)
        assert [action["hashed_cid"] for action in left] == [hashed(CIDS[1])]


def test_action_metadata_is_each_accounts_own(running: Running, account: str) -> None:
    other = running.account()
    for owner in (account, other):
        running.done("add_action", owner, action_ipfs_cid=CIDS[0], name="n", description="d")
    labels = {"name": "x", "description": "y"}
    running.done("update_action_metadata", account, hashed_cid=hashed(CIDS[0]), **labels)
    assert running.read("list_actions", account) == [{"hashed_cid": hashed(CIDS[0]), **labels}]
    running.done("delete_action", account, hashed_cid=hashed(CIDS[0]))
    assert running.read("list_actions", other) == [{"hashed_cid": hashed(CIDS[0]), "name": "n", "description": "d"}]
    refused(running.post("update_action_metadata", account, hashed_cid=hashed(CIDS[0]), **labels), 404)
    assert running.read("list_actions", account) == []


def test_hashes_and_cids_are_not_taken_for_one_another(running: Running, account: str) -> None:
    running.done("add_action", account, action_ipfs_cid=CIDS[0], name="n", description="d")
    before = running.everything(account)
    refused(running.post("delete_action", account, hashed_cid=CIDS[0]), 422)
    refused(running.post("add_action", account, action_ipfs_cid=hashed(CIDS[1]), name="n", description="d"), 422)
    assert running.everything(account) == before


@pytest.mark.parametrize(
    ("code", "cid"),
    [
        ("", "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"),
        ("hello world\n", "QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o"),
    ],
)
def test_cid_of_code_is_that_of_ipfs_add(running: Running, code: str, cid: str) -> None:
    answer = running.http.post("/core/v1/get_service_action_ipfs_id", json=code)
    assert (answer.status_code, answer.json()) == (200, cid)


def test_cid_of_code_does_not_depend_on_how_json_writes_it(running: Running) -> None:
    path = "/core/v1/get_service_action_ipfs_id"
    answers = {
        running.http.post(path, content=body, headers={"Content-Type": "application/json"}).text
        for body in ('"é\\n😀"', '"\\u00e9\\u000a\\ud83d\\ude00"', '  "\\u00E9\\n\\uD83D\\uDE00"\n')
    }
    assert len(answers) == 1


@pytest.mark.parametrize("listing", ["list_groups", "list_wallets", "list_actions", "list_api_keys"])
def test_pages_are_disjoint_and_complete_in_creation_order(running: Running, account: str, listing: str) -> None:
    for number in range(5):
        running.group(account)
        running.done("create_wallet", account)
        running.usage_key(account)
        cid = running.http.post("/core/v1/get_service_action_ipfs_id", json=str(number)).json()
        running.done("add_action", account, action_ipfs_cid=cid, name=str(number), description="")
    whole = running.read(listing, account)
    assert len(whole) == 5
    pages = [running.read(listing, account, page_number=number, page_size=2) for number in range(4)]
    assert [len(page) for page in pages] == [2, 2, 1, 0]
    assert [item for page in pages for item in page] == whole
    assert running.read(listing, account, page_number=2**64 - 1, page_size=100) == []


def test_usage_key_lists_its_account_and_no_other(running: Running, account: str) -> None:
    running.group(account)
    running.group(running.account())
    key = running.usage_key(account)
    for listing in ("list_groups", "list_wallets", "list_actions", "list_api_keys"):
        assert running.read(listing, key) == running.read(listing, account)


LABELS = {"name": "n", "description": "d"}
GROUP = {"group_name": "n", "group_description": "d"}
ADDRESS = "0x" + "ab" * 20
TO_HASH = f"this is a raw CID: write its hash, the hashed_cid of list_actions, here {hashed(CIDS[1])}"
TO_CID = "this is a hashed CID: write the raw CID that it is the hash of (Qm…, bafy…, bafk…)"
TO_PKP_ID = (
    "this is a wallet's address: write its PKP id, the id of list_wallets, here 0x"
    + keccak(bytes.fromhex(ADDRESS[2:])).hex()
)


@pytest.mark.parametrize(
    ("operation", "member", "value", "more", "said"),
    [
        ("delete_action", "hashed_cid", CIDS[1], {}, TO_HASH),
        ("update_action_metadata", "hashed_cid", CIDS[1], LABELS, TO_HASH),
        ("remove_action_from_group", "hashed_cid", CIDS[1], {"group_id": 1}, TO_HASH),
        ("add_group", "cid_hashes_permitted.0", [CIDS[1]], GROUP, TO_HASH),
        ("update_group", "cid_hashes_permitted.0", [CIDS[1]], {"group_id": 1, **LABELS}, TO_HASH),
        ("add_action", "action_ipfs_cid", hashed(CIDS[1]), LABELS, TO_CID),
        ("add_action_to_group", "action_ipfs_cid", hashed(CIDS[1]), {"group_id": 1}, TO_CID),
        ("groups/1/actions", "remove.0", [hashed(CIDS[1])], {}, TO_CID),
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
