"""What is large costs no more than what is small to remove or to ask about, and nothing removed is seen again."""

from __future__ import annotations

import pytest
from world import (
    ACCOUNT,
    CID,
    KEY,
    OTHER_ACCOUNT,
    PKP,
    SECOND_CID,
    World,
    hash_of,
    key_hash,
    permissions,
    pkp_id,
)

LISTED = [hash_of(f"action {number}") for number in range(200)]

SLACK = 6_000
"""Gas by which a removal may differ: words of bitmaps that become zero or do not."""

GROUPS = 300
"""More than the lists that a deletion clears one by one."""


def listed(world: World, group_id: int, page: int = 0, size: int = 100) -> list[object]:
    """The actions that a page of a group's list shows."""
    return [row[0] for row in world.config.rows("listActionsInGroup", ACCOUNT, group_id, page, size)]


def add_group(world: World, cid_hashes: list[bytes]) -> int:
    """The id of a new group with these actions, and the first wallet."""
    (event,) = world.write("addGroup", ACCOUNT, "name", "description", [pkp_id(PKP)], cid_hashes)
    return int(str(event[2]))


def test_group_of_many_actions_and_keys_costs_no_more_to_remove(world: World) -> None:
    small, large = add_group(world, LISTED[:1]), add_group(world, LISTED[:100])
    world.write("changeActionsOfGroup", ACCOUNT, large, LISTED[100:], [])
    for number in range(30):
        named = permissions(manage=[large], add=[large], remove=[large], execute=[large])
        world.write("setUsageApiKey", ACCOUNT, key_hash(f"key {number}"), 0, 0, "", "", *named)
    assert abs(world.gas("removeGroup", ACCOUNT, large) - world.gas("removeGroup", ACCOUNT, small)) <= SLACK
    assert world.config.call("canRun", ACCOUNT, LISTED[0]) is False
    assert world.config.call("canRun", key_hash("key 3"), LISTED[0]) is False
    assert world.config.call_refusal("listActionsInGroup", ACCOUNT, large, 0, 1) == ("GroupUnknown", ACCOUNT, large)
    keys = world.config.rows("listUsageApiKeys", ACCOUNT, 0, 100)
    assert [key[5:] for key in keys[1:]] == [permissions()] * 30


def test_group_of_many_actions_costs_no_more_to_update(world: World) -> None:
    small, large = add_group(world, LISTED[:1]), add_group(world, LISTED[:100])
    world.write("changeActionsOfGroup", ACCOUNT, large, LISTED[100:], [])
    emptied = ("name", "description", [], [])
    of_large, of_small = (world.gas("updateGroup", ACCOUNT, group_id, *emptied) for group_id in (large, small))
    assert abs(of_large - of_small) <= SLACK
    world.write("updateGroup", ACCOUNT, large, "name", "description", [], [SECOND_CID])
    assert listed(world, large) == [SECOND_CID]
    assert world.config.call("canRun", ACCOUNT, LISTED[0]) is False
    world.write("addActionToGroup", ACCOUNT, large, LISTED[0])
    assert listed(world, large) == [SECOND_CID, LISTED[0]]
    assert world.config.call("canRun", ACCOUNT, LISTED[0]) is True


def test_action_of_many_groups_is_deleted_from_all(world: World) -> None:
    everywhere = [add_group(world, [LISTED[0], CID, LISTED[1]]) for _ in range(GROUPS)]
    others = world.config.rows("listActionsInGroup", OTHER_ACCOUNT, 1, 0, 10)
    assert world.gas("deleteAction", ACCOUNT, CID) < 5_000_000
    assert world.config.call("canRun", ACCOUNT, CID) is False
    for group_id in (everywhere[0], everywhere[-2], everywhere[-1]):
        assert listed(world, group_id) == LISTED[:2]
        assert [listed(world, group_id, page, 1) for page in range(4)] == [[LISTED[0]], [LISTED[1]], [], []]
        assert listed(world, group_id, 2**255, 100) == []
        refusal = world.refusal("removeActionFromGroup", ACCOUNT, group_id, CID)
        assert refusal == ("NotInGroup", group_id, CID)
    assert world.config.rows("listActionsInGroup", OTHER_ACCOUNT, 1, 0, 10) == others
    # It may be listed again, in one of them alone.
    last = everywhere[-1]
    world.write("addActionToGroup", ACCOUNT, last, CID)
    assert world.config.call("canExecute", ACCOUNT, CID, pkp_id(PKP)) is True
    assert listed(world, last) == [*LISTED[:2], CID]
    assert listed(world, everywhere[-2]) == LISTED[:2]
    assert world.refusal("addActionToGroup", ACCOUNT, last, CID) == ("AlreadyInGroup", last, CID)
    world.write("removeActionFromGroup", ACCOUNT, last, CID)
    assert world.config.call("canRun", ACCOUNT, CID) is False
    assert listed(world, last) == LISTED[:2]


@pytest.mark.parametrize("key", [ACCOUNT, KEY], ids=["account key", "wildcard key"])
def test_rule_costs_the_same_with_many_other_groups(world: World, key: int) -> None:
    world.grant(permissions(execute=[0]))
    few = world.config.call_gas("canExecute", key, CID, pkp_id(PKP))
    for _ in range(30):
        world.write("addGroup", ACCOUNT, "", "", [pkp_id(PKP)], [SECOND_CID])
    assert world.config.call_gas("canExecute", key, CID, pkp_id(PKP)) == few
