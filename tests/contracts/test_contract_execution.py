"""The execution rule in AccountConfig (specification, "Endpoints / Execution rule")."""

from __future__ import annotations

from itertools import product

import pytest
from world import (
    ACCOUNT,
    CID,
    KEY,
    NEW_CID,
    NEW_PKP,
    OTHER_PKP,
    PKP,
    SECOND_CID,
    SECOND_PKP,
    WILDCARD,
    World,
    permissions,
    pkp_id,
)

LISTED = {"listed": True, "wildcard": True, "wildcard and another": True, "another": False, "empty": False}
ARRAYS = {"group": [1], "wildcard": [0], "both": [2, 0], "other group": [2], "empty": []}


def allowed(world: World, key: int, cid: bytes = CID, pkp: bytes = pkp_id(PKP)) -> tuple[object, object]:
    """What canExecute and canRun say."""
    return world.config.call("canExecute", key, cid, pkp), world.config.call("canRun", key, cid)


@pytest.mark.parametrize(("cids", "pkps", "array"), [*product(LISTED, LISTED, ["account key", *ARRAYS])])
def test_rule_for_every_kind_of_list_and_array(world: World, cids: str, pkps: str, array: str) -> None:
    def entries(kind: str, listed: bytes, another: bytes) -> list[bytes]:
        return {
            "listed": [another, listed],
            "wildcard": [WILDCARD],
            "wildcard and another": [another, WILDCARD],
            "another": [another],
            "empty": [],
        }[kind]

    pkp_entries = entries(pkps, pkp_id(PKP), pkp_id(SECOND_PKP))
    world.write("updateGroup", ACCOUNT, 1, "", "", pkp_entries, entries(cids, CID, SECOND_CID))
    world.grant(permissions(execute=ARRAYS.get(array, [])))
    key = ACCOUNT if array == "account key" else KEY
    in_group = array in {"account key", "group", "wildcard", "both"}
    runs = in_group and LISTED[cids]
    assert allowed(world, key) == (runs and LISTED[pkps], runs)


@pytest.mark.parametrize("array", [[3, 4], [0], None], ids=["both groups", "wildcard", "account key"])
def test_groups_do_not_combine(world: World, array: list[int] | None) -> None:
    world.write("updateGroup", ACCOUNT, 1, "", "", [], [])
    world.write("addGroup", ACCOUNT, "", "", [pkp_id(SECOND_PKP)], [WILDCARD, CID])
    world.write("addGroup", ACCOUNT, "", "", [pkp_id(PKP), WILDCARD], [SECOND_CID])
    world.grant(permissions(execute=array or []))
    assert allowed(world, ACCOUNT if array is None else KEY) == (False, True)


def test_wildcard_group_holds_for_any_action_and_any_wallet_of_the_account(world: World) -> None:
    world.write("updateGroup", ACCOUNT, 1, "", "", [WILDCARD], [WILDCARD])
    world.grant(permissions(execute=[1]))
    assert allowed(world, KEY, NEW_CID, pkp_id(SECOND_PKP)) == (True, True)
    assert allowed(world, KEY, NEW_CID, pkp_id(NEW_PKP)) == (False, True)
    world.write("createWallet", ACCOUNT, NEW_PKP.address, 14, "", "")
    assert allowed(world, KEY, NEW_CID, pkp_id(NEW_PKP)) == (True, True)


@pytest.mark.parametrize("pkp", [pkp_id(OTHER_PKP), pkp_id(NEW_PKP), WILDCARD], ids=["other's", "unknown", "zero"])
@pytest.mark.parametrize("key", [ACCOUNT, KEY], ids=["account key", "usage key"])
def test_wallet_has_to_be_the_accounts(world: World, pkp: bytes, key: int) -> None:
    world.write("updateGroup", ACCOUNT, 1, "", "", [WILDCARD], [WILDCARD])
    world.grant(permissions(execute=[0]))
    assert allowed(world, key, CID, pkp) == (False, True)


def test_hash_one_above_the_wildcard_is_an_ordinary_action(world: World) -> None:
    near = (1).to_bytes(32, "big")
    world.write("updateGroup", ACCOUNT, 1, "", "", [WILDCARD], [near])
    assert allowed(world, ACCOUNT, CID) == (False, False)
    assert allowed(world, ACCOUNT, near) == (True, True)


@pytest.mark.parametrize("key", [ACCOUNT, KEY], ids=["account key", "wildcard key"])
def test_rule_costs_the_same_with_many_other_groups(world: World, key: int) -> None:
    world.grant(permissions(execute=[0]))
    few = world.config.call_gas("canExecute", key, CID, pkp_id(PKP))
    for _ in range(30):
        world.write("addGroup", ACCOUNT, "", "", [pkp_id(PKP)], [SECOND_CID])
    assert world.config.call_gas("canExecute", key, CID, pkp_id(PKP)) == few
