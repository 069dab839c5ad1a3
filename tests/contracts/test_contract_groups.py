"""Groups, wallets and actions of AccountConfig (specification, "Resources" and "States / Group")."""

from __future__ import annotations

import pytest
from deployed import Named, Wallet
from world import (
    ACCOUNT,
    CID,
    KEY,
    NEW_CID,
    NEW_PKP,
    OTHER_ACCOUNT,
    OTHER_PKP,
    PKP,
    SECOND_CID,
    SECOND_PKP,
    UNKNOWN,
    WILDCARD,
    World,
    pkp_id,
)

ZERO = "0x" + bytes(20).hex()
NO_WALLET = (WILDCARD, ZERO, 0, "", "")
FIRST = (pkp_id(PKP), PKP.address, 11, "pkp", "first")
SECOND = (pkp_id(SECOND_PKP), SECOND_PKP.address, 12, "second pkp", "second")


def actions(world: World, group_id: int) -> list[object]:
    return [row[0] for row in world.config.rows("listActionsInGroup", ACCOUNT, group_id, 0, 100)]


def pkps(world: World, group_id: int) -> list[object]:
    return [row[0] for row in world.config.rows("listWalletsInGroup", ACCOUNT, group_id, 0, 100)]


def test_group_ids_count_from_one_in_each_account(world: World) -> None:
    world.write("newAccount", UNKNOWN, PKP.address, "", "")
    for expected in (1, 2, 3):
        assert world.write("addGroup", UNKNOWN, "", "", [], [])[0][2] == expected
    assert world.config.call("addGroup", ACCOUNT, "", "", [], [], sender=Wallet.numbered(1002)) == 3


@pytest.mark.parametrize("removed", [1, 2])
def test_group_id_is_never_used_again(world: World, removed: int) -> None:
    world.write("removeGroup", ACCOUNT, removed)
    assert world.write("addGroup", ACCOUNT, "", "", [], [])[0][2] == 3
    assert [row[0] for row in world.config.rows("listGroups", ACCOUNT, 0, 10)] == [3 - removed, 3]


def test_group_is_created_with_labels_and_lists(world: World) -> None:
    pkp_ids, cids = [pkp_id(SECOND_PKP), WILDCARD, pkp_id(PKP)], [NEW_CID, CID, WILDCARD]
    world.write("addGroup", ACCOUNT, "third", "group", pkp_ids, cids)
    assert world.config.rows("listGroups", ACCOUNT, 2, 1) == ((3, "third", "group"),)
    assert world.config.rows("listWalletsInGroup", ACCOUNT, 3, 0, 10) == (SECOND, NO_WALLET, FIRST)
    registered = (CID, "action", "first")
    listed = world.config.rows("listActionsInGroup", ACCOUNT, 3, 0, 10)
    assert listed == ((NEW_CID, "", ""), registered, (WILDCARD, "", ""))


def test_duplicates_in_lists_count_once(world: World) -> None:
    world.write("addGroup", ACCOUNT, "", "", [pkp_id(PKP), WILDCARD] * 2, [CID, WILDCARD] * 2)
    assert pkps(world, 3) == [pkp_id(PKP), WILDCARD]
    assert actions(world, 3) == [CID, WILDCARD]
    world.write("removePkpFromGroup", ACCOUNT, 3, pkp_id(PKP))
    world.write("removeActionFromGroup", ACCOUNT, 3, CID)
    assert (pkps(world, 3), actions(world, 3)) == ([WILDCARD], [WILDCARD])


def test_update_replaces_labels_and_both_lists(world: World) -> None:
    world.write("updateGroup", ACCOUNT, 1, "changed", "group", [pkp_id(SECOND_PKP)], [SECOND_CID, SECOND_CID])
    assert world.config.rows("listGroups", ACCOUNT, 0, 1) == ((1, "changed", "group"),)
    assert pkps(world, 1) == [pkp_id(SECOND_PKP)]
    assert actions(world, 1) == [SECOND_CID]
    world.write("updateGroup", ACCOUNT, 1, "", "", [], [])
    assert (pkps(world, 1), actions(world, 1)) == ([], [])


@pytest.mark.parametrize("foreign", [OTHER_PKP, NEW_PKP], ids=["another account's", "unregistered"])
@pytest.mark.parametrize(
    ("function", "before", "after"),
    [("addGroup", ("", ""), ([],)), ("updateGroup", (1, "", ""), ([],)), ("addPkpToGroup", (1,), ())],
    ids=["addGroup", "updateGroup", "addPkpToGroup"],
)
def test_wallet_that_is_not_the_accounts_is_refused(
    world: World, function: str, before: tuple[object, ...], after: tuple[object, ...], foreign: Wallet
) -> None:
    named = pkp_id(foreign) if function == "addPkpToGroup" else [pkp_id(PKP), pkp_id(foreign)]
    refusal = world.refusal(function, ACCOUNT, *before, named, *after)
    assert refusal == ("WalletUnknown", ACCOUNT, pkp_id(foreign))


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


def test_removed_group_is_unknown(world: World) -> None:
    world.write("removeGroup", ACCOUNT, 1)
    assert world.refusal("removeGroup", ACCOUNT, 1) == ("GroupUnknown", ACCOUNT, 1)
    assert world.config.call_refusal("listActionsInGroup", ACCOUNT, 1, 0, 10) == ("GroupUnknown", ACCOUNT, 1)


@pytest.mark.parametrize(
    ("function", "item", "refusal"),
    [
        ("addActionToGroup", CID, ("AlreadyInGroup", 1, CID)),
        ("addPkpToGroup", pkp_id(PKP), ("AlreadyInGroup", 1, pkp_id(PKP))),
        ("removeActionFromGroup", SECOND_CID, ("NotInGroup", 1, SECOND_CID)),
        ("removePkpFromGroup", pkp_id(SECOND_PKP), ("NotInGroup", 1, pkp_id(SECOND_PKP))),
        ("removeActionFromGroup", WILDCARD, ("NotInGroup", 1, WILDCARD)),
        ("removePkpFromGroup", WILDCARD, ("NotInGroup", 1, WILDCARD)),
    ],
)
def test_item_present_or_absent_is_refused(world: World, function: str, item: bytes, refusal: Named) -> None:
    assert world.refusal(function, ACCOUNT, 1, item) == refusal


@pytest.mark.parametrize("item", [SECOND_CID, NEW_CID, WILDCARD], ids=["registered", "unregistered", "wildcard"])
def test_action_joins_and_leaves_a_group(world: World, item: bytes) -> None:
    world.write("addActionToGroup", ACCOUNT, 1, item)
    assert actions(world, 1) == [CID, item]
    world.write("removeActionFromGroup", ACCOUNT, 1, CID)
    assert actions(world, 1) == [item]
    world.write("removeActionFromGroup", ACCOUNT, 1, item)
    assert actions(world, 1) == []


@pytest.mark.parametrize("item", [pkp_id(SECOND_PKP), WILDCARD], ids=["wallet", "wildcard"])
def test_wallet_joins_and_leaves_a_group(world: World, item: bytes) -> None:
    world.write("addPkpToGroup", ACCOUNT, 1, item)
    assert pkps(world, 1) == [pkp_id(PKP), item]
    world.write("removePkpFromGroup", ACCOUNT, 1, pkp_id(PKP))
    assert pkps(world, 1) == [item]
    world.write("removePkpFromGroup", ACCOUNT, 1, item)
    assert pkps(world, 1) == []


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


def test_item_may_be_in_several_groups(world: World) -> None:
    world.write("addActionToGroup", ACCOUNT, 2, CID)
    world.write("addPkpToGroup", ACCOUNT, 2, pkp_id(PKP))
    world.write("removeGroup", ACCOUNT, 1)
    assert (actions(world, 2), pkps(world, 2)) == ([CID], [pkp_id(PKP)])


@pytest.mark.parametrize("function", ["registerWalletDerivation", "createWallet"])
def test_wallet_is_registered_with_every_value(world: World, function: str) -> None:
    world.write(function, ACCOUNT, NEW_PKP.address, 2**256 - 1, "new", "pkp")
    expected = (pkp_id(NEW_PKP), NEW_PKP.address, 2**256 - 1, "new", "pkp")
    assert world.config.call("getWallet", ACCOUNT, pkp_id(NEW_PKP)) == expected
    assert world.config.rows("listWallets", ACCOUNT, 0, 10) == (FIRST, SECOND, expected)


@pytest.mark.parametrize("function", ["registerWalletDerivation", "createWallet"])
def test_wallet_is_registered_once_in_an_account(world: World, function: str) -> None:
    refusal = world.refusal(function, ACCOUNT, PKP.address, 99, "", "")
    assert refusal == ("WalletExists", ACCOUNT, pkp_id(PKP))


@pytest.mark.parametrize("function", ["registerWalletDerivation", "createWallet"])
def test_zero_address_is_no_wallet(world: World, function: str) -> None:
    assert world.refusal(function, ACCOUNT, ZERO, 99, "", "") == ("ZeroAddress",)


@pytest.mark.parametrize("absent", [pkp_id(OTHER_PKP), pkp_id(NEW_PKP), WILDCARD])
def test_wallet_that_the_account_does_not_have_is_unknown(world: World, absent: bytes) -> None:
    assert world.config.call_refusal("getWallet", ACCOUNT, absent) == ("WalletUnknown", ACCOUNT, absent)


def test_derivation_path_belongs_to_who_registered_it_first(world: World) -> None:
    assert world.config.call("derivationOwner", 14) == 0
    world.write("registerWalletDerivation", OTHER_ACCOUNT, NEW_PKP.address, 14, "", "")
    world.write("registerWalletDerivation", ACCOUNT, NEW_PKP.address, 14, "", "")
    assert world.config.call("derivationOwner", 14) == OTHER_ACCOUNT
    assert world.config.call("derivationOwner", 11) == ACCOUNT


def test_action_is_registered_and_relabelled(world: World) -> None:
    world.write("addAction", ACCOUNT, NEW_CID, "new", "action")
    world.write("updateActionMetadata", ACCOUNT, CID, "changed", "labels")
    expected = ((CID, "changed", "labels"), (SECOND_CID, "second action", "second"), (NEW_CID, "new", "action"))
    assert world.config.rows("listActions", ACCOUNT, 0, 10) == expected
    assert world.config.rows("listActionsInGroup", ACCOUNT, 1, 0, 10) == ((CID, "changed", "labels"),)


@pytest.mark.parametrize(
    ("function", "arguments", "refusal"),
    [
        ("addAction", (CID, "", ""), ("ActionExists", ACCOUNT, CID)),
        ("addAction", (WILDCARD, "", ""), ("ZeroHash",)),
        ("updateActionMetadata", (NEW_CID, "", ""), ("ActionUnknown", ACCOUNT, NEW_CID)),
        ("deleteAction", (NEW_CID,), ("ActionUnknown", ACCOUNT, NEW_CID)),
        ("deleteAction", (WILDCARD,), ("ActionUnknown", ACCOUNT, WILDCARD)),
    ],
)
def test_action_write_refuses(world: World, function: str, arguments: tuple[object, ...], refusal: Named) -> None:
    world.write("addActionToGroup", ACCOUNT, 1, NEW_CID)
    world.write("addActionToGroup", ACCOUNT, 1, WILDCARD)
    assert world.refusal(function, ACCOUNT, *arguments) == refusal


def test_deleted_action_leaves_every_group_of_the_account_alone(world: World) -> None:
    world.write("updateGroup", ACCOUNT, 2, "", "", [pkp_id(PKP)], [SECOND_CID, CID, WILDCARD])
    world.write("deleteAction", ACCOUNT, CID)
    assert (actions(world, 1), actions(world, 2)) == ([], [SECOND_CID, WILDCARD])
    assert world.config.rows("listActions", ACCOUNT, 0, 10) == ((SECOND_CID, "second action", "second"),)
    assert world.config.rows("listActionsInGroup", OTHER_ACCOUNT, 1, 0, 10) == ((CID, "", ""),)
    world.write("addActionToGroup", ACCOUNT, 1, CID)
    assert world.config.rows("listActionsInGroup", ACCOUNT, 1, 0, 10) == ((CID, "", ""),)


def test_deleted_action_may_be_registered_again(world: World) -> None:
    world.write("deleteAction", ACCOUNT, CID)
    world.write("addAction", ACCOUNT, CID, "again", "")
    assert [row[0] for row in world.config.rows("listActions", ACCOUNT, 0, 10)] == [SECOND_CID, CID]
    assert actions(world, 1) == []
    assert world.config.call("canRun", KEY, CID) is False
