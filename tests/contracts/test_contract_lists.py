"""Pages and order of AccountConfig's lists, and what removals leave in its storage."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from deployed import Wallet
from world import (
    ACCOUNT,
    ADMIN_PAYER,
    CID,
    KEY,
    NEW_CID,
    NEW_KEY,
    PAYER,
    PKP,
    SECOND_CID,
    SECOND_PKP,
    World,
    hash_of,
    key_hash,
    permissions,
    pkp_id,
)

LISTS = ("listUsageApiKeys", "listGroups", "listWallets", "listActions")
GROUP_LISTS = ("listWalletsInGroup", "listActionsInGroup")
EVERY_LIST = [*((name, (ACCOUNT,)) for name in LISTS), *((name, (ACCOUNT, 1)) for name in GROUP_LISTS)]
every_list = pytest.mark.parametrize(("view", "leading"), EVERY_LIST, ids=str)


def add_keys(world: World, count: int) -> list[object]:
    for number in range(count):
        world.write("setUsageApiKey", ACCOUNT, key_hash(f"key {number}"), 0, 0, "", "", *permissions())
    return [KEY, *(key_hash(f"key {number}") for number in range(count))]


def add_groups(world: World, count: int) -> list[object]:
    for _ in range(count):
        world.write("addGroup", ACCOUNT, "", "", [], [])
    return list(range(1, count + 3))


def add_wallets(world: World, count: int) -> list[object]:
    wallets = [Wallet.numbered(3000 + number) for number in range(count)]
    for wallet in wallets:
        world.write("createWallet", ACCOUNT, wallet.address, 1, "", "")
    return [pkp_id(PKP), pkp_id(SECOND_PKP), *map(pkp_id, wallets)]


def add_actions(world: World, count: int) -> list[object]:
    for number in range(count):
        world.write("addAction", ACCOUNT, hash_of(f"action {number}"), "", "")
    return [CID, SECOND_CID, *(hash_of(f"action {number}") for number in range(count))]


def add_wallets_to_group(world: World, count: int) -> list[object]:
    items = add_wallets(world, count)
    for item in items[1:]:
        world.write("addPkpToGroup", ACCOUNT, 1, item)
    return items


def add_actions_to_group(world: World, count: int) -> list[object]:
    for number in range(count):
        world.write("addActionToGroup", ACCOUNT, 1, hash_of(f"action {number}"))
    return [CID, *(hash_of(f"action {number}") for number in range(count))]


@pytest.mark.parametrize(
    ("view", "fill", "leading"),
    [
        ("listUsageApiKeys", add_keys, (ACCOUNT,)),
        ("listGroups", add_groups, (ACCOUNT,)),
        ("listWallets", add_wallets, (ACCOUNT,)),
        ("listActions", add_actions, (ACCOUNT,)),
        ("listWalletsInGroup", add_wallets_to_group, (ACCOUNT, 1)),
        ("listActionsInGroup", add_actions_to_group, (ACCOUNT, 1)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_pages_cover_the_list_in_order(
    world: World, view: str, fill: Callable[[World, int], list[object]], leading: tuple[int, ...]
) -> None:
    expected = fill(world, 5)
    size = len(expected)
    for page_size in (1, 2, 3, size - 1, size, size + 1, 100):
        for page_number in range(size // page_size + 2):
            page = [row[0] for row in world.config.rows(view, *leading, page_number, page_size)]
            assert page == expected[page_number * page_size : (page_number + 1) * page_size], (page_number, page_size)


@every_list
@pytest.mark.parametrize("page_number", [1, 2, 2**255, 2**256 - 1])
def test_page_past_the_end_is_empty(world: World, view: str, leading: tuple[int, ...], page_number: int) -> None:
    assert world.config.rows(view, *leading, page_number, 100) == ()


@every_list
@pytest.mark.parametrize("page_size", [0, 101, 2**256 - 1])
def test_page_size_out_of_range_is_refused(world: World, view: str, leading: tuple[int, ...], page_size: int) -> None:
    assert world.config.call_refusal(view, *leading, 0, page_size) == ("PageSizeOutOfRange", page_size)


@pytest.mark.parametrize("removed", [[0], [2], [4], [0, 1, 2], [1, 3], [4, 0], [3, 2, 1, 0, 4]], ids=str)
def test_order_stays_after_removals(world: World, removed: list[int]) -> None:
    world.write("removeUsageApiKey", ACCOUNT, KEY)
    keys = [key_hash(f"ordered {number}") for number in range(5)]
    for key in keys:
        world.write("setUsageApiKey", ACCOUNT, key, 0, 0, "", "", *permissions())
    for index in removed:
        world.write("removeUsageApiKey", ACCOUNT, keys[index])
    last = keys[removed[0]]
    world.write("setUsageApiKey", ACCOUNT, last, 0, 0, "", "", *permissions())
    expected = [key for index, key in enumerate(keys) if index not in removed] + [last]
    assert [row[0] for row in world.config.rows("listUsageApiKeys", ACCOUNT, 0, 100)] == expected
    pages = [world.config.rows("listUsageApiKeys", ACCOUNT, number, 1) for number in range(len(expected))]
    assert [page[0][0] for page in pages] == expected


def test_replacing_a_key_keeps_its_place(world: World) -> None:
    world.write("setUsageApiKey", ACCOUNT, NEW_KEY, 0, 0, "", "", *permissions())
    world.grant(permissions(execute=[1]))
    assert [row[0] for row in world.config.rows("listUsageApiKeys", ACCOUNT, 0, 100)] == [KEY, NEW_KEY]


def test_long_list_keeps_its_order_before_and_after_removals(world: World) -> None:
    """Positions reach a third word of the set's bitmap, 256 to a word: the second one is full first, empty later."""
    items = [hash_of(f"item {number}") for number in range(600)]
    world.write("addGroup", ACCOUNT, "", "", [], items[:400])
    for item in items[400:]:
        world.write("addActionToGroup", ACCOUNT, 3, item)
    assert pages_of_actions(world, 3, 100) == items
    assert world.config.rows("listActionsInGroup", ACCOUNT, 3, 80, 7) == tuple(
        (item, "", "") for item in items[560:567]
    )
    gone = set(items[250:515]) | set(items[530::7])
    for item in gone:
        world.write("removeActionFromGroup", ACCOUNT, 3, item)
    left = [item for item in items if item not in gone]
    assert pages_of_actions(world, 3, 100) == left
    assert pages_of_actions(world, 3, 7) == left


def pages_of_actions(world: World, group_id: int, page_size: int) -> list[object]:
    pages = [world.config.rows("listActionsInGroup", ACCOUNT, group_id, page, page_size) for page in range(50)]
    return [row[0] for page in pages for row in page]


def test_group_ids_beyond_one_word_are_named_and_found(world: World) -> None:
    """Ids are kept 256 to a slot; each write here is to a group beside the edge of one."""
    add_groups(world, 256)
    edge = [255, 256, 257]
    for group_id in (255, 256, 257):
        world.write("updateGroup", ACCOUNT, group_id, "", "", [pkp_id(PKP)], [NEW_CID])
        named = permissions(manage=edge, execute=[group_id])
        world.grant(named)
        assert world.config.rows("listUsageApiKeys", ACCOUNT, 0, 1)[0][5:] == named
        for key in (ACCOUNT, KEY):
            assert world.config.call("canExecute", key, NEW_CID, pkp_id(PKP)) is True
        world.write("removeActionFromGroup", KEY, group_id, NEW_CID)
        assert world.config.call("canExecute", ACCOUNT, NEW_CID, pkp_id(PKP)) is False
        world.write("removeGroup", ACCOUNT, group_id)
        edge.remove(group_id)
        assert world.config.rows("listUsageApiKeys", ACCOUNT, 0, 1)[0][5:] == permissions(manage=edge)


def test_removed_keys_and_actions_leave_no_slot_behind(world: World) -> None:
    world.write("removeUsageApiKey", ACCOUNT, KEY)
    for group in (1, 2):
        world.write("removeGroup", ACCOUNT, group)
    for cid in (CID, SECOND_CID):
        world.write("deleteAction", ACCOUNT, cid)
    before = world.config.storage()
    long = "a label longer than the thirty-one bytes that fit into one slot"
    every = permissions(create_groups=True, manage=[0], add=[0], remove=[0], execute=[0])
    world.write("addAction", ACCOUNT, NEW_CID, long, long)
    world.write("updateActionMetadata", ACCOUNT, NEW_CID, "", long)
    for key in (KEY, NEW_KEY):
        world.write("setUsageApiKey", ACCOUNT, key, 2**255, 5, long, long, *every)
    world.write("updateUsageApiKey", ACCOUNT, KEY, "short", "", *permissions(execute=[0]))
    world.write("updateUsageApiKeyMetadata", ACCOUNT, NEW_KEY, "", long)
    world.write("deleteAction", ACCOUNT, NEW_CID)
    for key in (KEY, NEW_KEY):
        world.write("removeUsageApiKey", ACCOUNT, key)
    assert world.config.storage() == before


def test_removed_group_leaves_no_label_behind(world: World) -> None:
    world.write("updateGroup", ACCOUNT, 1, "a short label", "a label longer than what fits into one slot", [], [CID])
    world.write("removeGroup", ACCOUNT, 1)
    assert not any(b"label" in value.to_bytes(32) for value in world.config.storage().values())


def test_payers_leave_no_slot_behind(world: World) -> None:
    world.write("setApiPayers", [], sender=ADMIN_PAYER)
    before = world.config.storage()
    world.write("setApiPayers", [PAYER.address, PKP.address], sender=ADMIN_PAYER)
    world.write("setApiPayers", [], sender=ADMIN_PAYER)
    assert world.config.storage() == before
