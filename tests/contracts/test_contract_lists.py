"""Pages and order of AccountConfig's lists, and what removals leave in its storage."""

from __future__ import annotations

import pytest
from world import ACCOUNT, ADMIN_PAYER, CID, KEY, NEW_CID, NEW_KEY, PAYER, PKP, SECOND_CID, World, hash_of, permissions

LISTS = ("listUsageApiKeys", "listGroups", "listWallets", "listActions")
GROUP_LISTS = ("listWalletsInGroup", "listActionsInGroup")
EVERY_LIST = [*((name, (ACCOUNT,)) for name in LISTS), *((name, (ACCOUNT, 1)) for name in GROUP_LISTS)]
every_list = pytest.mark.parametrize(("view", "leading"), EVERY_LIST, ids=str)


@every_list
@pytest.mark.parametrize("page_size", [0, 101, 2**256 - 1])
def test_page_size_out_of_range_is_refused(world: World, view: str, leading: tuple[int, ...], page_size: int) -> None:
    assert world.config.call_refusal(view, *leading, 0, page_size) == ("PageSizeOutOfRange", page_size)


def test_long_list_keeps_its_order_before_and_after_removals(world: World) -> None:
    """Positions reach a third word of the set's bitmap, 256 to a word: the second one is full first, empty later."""
    items = [hash_of(f"item {number}") for number in range(600)]
    world.write("addGroup", ACCOUNT, "", "", [], items[:400])
    for start in (400, 500):
        world.write("changeActionsOfGroup", ACCOUNT, 3, items[start : start + 100], [])
    assert pages_of_actions(world, 3, 100) == items
    assert world.config.rows("listActionsInGroup", ACCOUNT, 3, 80, 7) == tuple(
        (item, "", "") for item in items[560:567]
    )
    gone = [*items[250:515], *items[530::7]]
    for item in gone[::20]:
        world.write("removeActionFromGroup", ACCOUNT, 3, item)
    at_once = [item for item in gone if item not in gone[::20]]
    for start in range(0, len(at_once), 100):
        world.write("changeActionsOfGroup", ACCOUNT, 3, [], at_once[start : start + 100])
    left = [item for item in items if item not in gone]
    assert pages_of_actions(world, 3, 100) == left
    assert pages_of_actions(world, 3, 7) == left


def pages_of_actions(world: World, group_id: int, page_size: int) -> list[object]:
    pages = [world.config.rows("listActionsInGroup", ACCOUNT, group_id, page, page_size) for page in range(50)]
    return [row[0] for page in pages for row in page]


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
