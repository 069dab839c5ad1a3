"""Groups, wallets and actions of AccountConfig (specification, "Resources" and "States / Group")."""

from __future__ import annotations

import pytest
from deployed import Named
from world import (
    ACCOUNT,
    CID,
    NEW_CID,
    NEW_PKP,
    OTHER_ACCOUNT,
    PKP,
    SECOND_CID,
    SECOND_PKP,
    World,
    pkp_id,
)


def actions(world: World, group_id: int) -> list[object]:
    return [row[0] for row in world.config.rows("listActionsInGroup", ACCOUNT, group_id, 0, 100)]


def pkps(world: World, group_id: int) -> list[object]:
    return [row[0] for row in world.config.rows("listWalletsInGroup", ACCOUNT, group_id, 0, 100)]


def test_pkp_id_one_above_the_wildcard_is_no_wildcard(world: World) -> None:
    near = (1).to_bytes(32, "big")
    assert world.refusal("addPkpToGroup", ACCOUNT, 1, near) == ("WalletUnknown", ACCOUNT, near)


@pytest.mark.parametrize("group_id", [0, 3, 2**64 - 1])
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("updateGroup", ("", "", [], [])),
        ("removeGroup", ()),
        ("addActionToGroup", (CID,)),
        ("removeActionFromGroup", (CID,)),
        ("addPkpToGroup", (pkp_id(PKP),)),
        ("removePkpFromGroup", (pkp_id(PKP),)),
        ("changeActionsOfGroup", ([CID], [])),
        ("addPkpsToGroup", ([pkp_id(PKP)],)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_write_to_an_unknown_group_is_refused(
    world: World, function: str, arguments: tuple[object, ...], group_id: int
) -> None:
    assert world.refusal(function, ACCOUNT, group_id, *arguments) == ("GroupUnknown", ACCOUNT, group_id)


@pytest.mark.parametrize("view", ["listWalletsInGroup", "listActionsInGroup"])
@pytest.mark.parametrize("group_id", [0, 3])
def test_view_of_an_unknown_group_is_refused(world: World, view: str, group_id: int) -> None:
    assert world.config.call_refusal(view, ACCOUNT, group_id, 0, 10) == ("GroupUnknown", ACCOUNT, group_id)


def test_some_actions_are_taken_out_and_others_added_at_once(world: World) -> None:
    world.write("changeActionsOfGroup", ACCOUNT, 1, [SECOND_CID, NEW_CID], [])
    assert actions(world, 1) == [CID, SECOND_CID, NEW_CID]
    world.write("changeActionsOfGroup", ACCOUNT, 1, [CID], [CID, SECOND_CID])
    assert sorted(actions(world, 1)) == sorted([NEW_CID, CID])


@pytest.mark.parametrize(
    ("function", "lists", "refusal"),
    [
        ("changeActionsOfGroup", ([NEW_CID, CID], []), ("AlreadyInGroup", 1, CID)),
        ("changeActionsOfGroup", ([NEW_CID], [SECOND_CID]), ("NotInGroup", 1, SECOND_CID)),
        ("addPkpsToGroup", ([pkp_id(SECOND_PKP), pkp_id(PKP)],), ("AlreadyInGroup", 1, pkp_id(PKP))),
    ],
)
def test_change_of_several_items_is_made_whole_or_not_at_all(
    world: World, function: str, lists: tuple[object, ...], refusal: Named
) -> None:
    assert world.refusal(function, ACCOUNT, 1, *lists) == refusal
    assert (actions(world, 1), pkps(world, 1)) == ([CID], [pkp_id(PKP)])


def test_derivation_path_belongs_to_who_registered_it_first(world: World) -> None:
    assert world.config.call("derivationOwner", 14) == 0
    world.write("registerWalletDerivation", OTHER_ACCOUNT, NEW_PKP.address, 14, "", "")
    world.write("registerWalletDerivation", ACCOUNT, NEW_PKP.address, 14, "", "")
    assert world.config.call("derivationOwner", 14) == OTHER_ACCOUNT
    assert world.config.call("derivationOwner", 11) == ACCOUNT
