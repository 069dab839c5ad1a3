"""Usage keys of AccountConfig (specification, "Resources / Usage API key" and "States / Usage key")."""

from __future__ import annotations

import pytest
from world import (
    ACCOUNT,
    CID,
    KEY,
    NEW_KEY,
    NONE,
    OTHER_ACCOUNT,
    OTHER_KEY,
    PKP,
    START,
    UNKNOWN,
    World,
    permissions,
    pkp_id,
)

ALL = permissions(
    create_groups=True, delete_groups=True, create_pkps=True, manage=[1], add=[2], remove=[0], execute=[1, 2]
)


def usage_key(world: World, key: int = KEY) -> object:
    return world.config.call("getUsageApiKey", ACCOUNT, key)


def test_attached_key_has_every_value(world: World) -> None:
    world.write("setUsageApiKey", ACCOUNT, NEW_KEY, START + 60, 7, "new", "key", *ALL)
    assert usage_key(world, NEW_KEY) == (NEW_KEY, START + 60, 7, "new", "key", *ALL)
    assert world.config.rows("listUsageApiKeys", ACCOUNT, 0, 10)[1] == usage_key(world, NEW_KEY)


@pytest.mark.parametrize("index", range(3))
def test_each_bool_stands_for_itself(world: World, index: int) -> None:
    flags = tuple(position == index for position in range(3))
    world.write("setUsageApiKey", ACCOUNT, KEY, 0, 0, "", "", *flags, [], [], [], [])
    assert usage_key(world) == (KEY, 0, 0, "", "", *flags, (), (), (), ())


def test_setting_an_existing_key_replaces_all_values(world: World) -> None:
    world.write("setUsageApiKey", ACCOUNT, KEY, START + 60, 7, "first", "values", *ALL)
    other = permissions(manage=[2], execute=[1])
    world.write("setUsageApiKey", ACCOUNT, KEY, START + 70, 8, "second", "set", *other)
    assert usage_key(world) == (KEY, START + 70, 8, "second", "set", *other)
    assert len(world.config.rows("listUsageApiKeys", ACCOUNT, 0, 10)) == 1


def test_update_replaces_all_but_expiration_and_balance(world: World) -> None:
    world.write("setUsageApiKey", ACCOUNT, KEY, START + 60, 7, "first", "values", *ALL)
    other = permissions(add=[1], remove=[2])
    world.write("updateUsageApiKey", ACCOUNT, KEY, "second", "set", *other)
    assert usage_key(world) == (KEY, START + 60, 7, "second", "set", *other)


def test_metadata_update_replaces_labels_alone(world: World) -> None:
    world.write("setUsageApiKey", ACCOUNT, KEY, START + 60, 7, "first", "values", *ALL)
    world.write("updateUsageApiKeyMetadata", ACCOUNT, KEY, "second", "labels")
    assert usage_key(world) == (KEY, START + 60, 7, "second", "labels", *ALL)


def test_group_ids_are_listed_once_and_ascending(world: World) -> None:
    world.grant(permissions(execute=[2, 1, 2, 0, 1, 0]))
    assert usage_key(world) == (KEY, 0, 0, "key", "of the account", *permissions(execute=[0, 1, 2]))


@pytest.mark.parametrize("field", ["manage", "add", "remove", "execute"])
@pytest.mark.parametrize("group_id", [3, 2**64 - 1])
@pytest.mark.parametrize("function", ["setUsageApiKey", "updateUsageApiKey"])
def test_array_naming_an_unknown_group_is_refused(world: World, field: str, group_id: int, function: str) -> None:
    granted = permissions(**{field: [1, group_id]})  # type: ignore[arg-type] # one of the array fields
    values = (0, 0, "", "") if function == "setUsageApiKey" else ("", "")
    assert world.refusal(function, ACCOUNT, KEY, *values, *granted) == ("GroupUnknown", ACCOUNT, group_id)


def test_array_naming_another_accounts_group_is_refused(world: World) -> None:
    refusal = world.refusal("setUsageApiKey", OTHER_ACCOUNT, NEW_KEY, 0, 0, "", "", *permissions(execute=[2]))
    assert refusal == ("GroupUnknown", OTHER_ACCOUNT, 2)


@pytest.mark.parametrize(
    ("taken", "named"),
    [(OTHER_KEY, "another account's key"), (OTHER_ACCOUNT, "another account"), (ACCOUNT, "the account itself")],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hash_in_use_is_refused(world: World, taken: int, named: str) -> None:
    refusal = world.refusal("setUsageApiKey", ACCOUNT, taken, 0, 0, "", "", *NONE)
    assert refusal == ("KeyHashInUse", taken), named


def test_zero_hash_is_refused(world: World) -> None:
    assert world.refusal("setUsageApiKey", ACCOUNT, 0, 0, 0, "", "", *NONE) == ("ZeroHash",)


@pytest.mark.parametrize("absent", [UNKNOWN, OTHER_KEY, ACCOUNT, 0], ids=["unknown", "other's", "account", "zero"])
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("updateUsageApiKey", ("", "", *NONE)),
        ("updateUsageApiKeyMetadata", ("", "")),
        ("removeUsageApiKey", ()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_key_that_the_account_does_not_have_is_unknown(
    world: World, function: str, arguments: tuple[object, ...], absent: int
) -> None:
    assert world.refusal(function, ACCOUNT, absent, *arguments) == ("UsageKeyUnknown", ACCOUNT, absent)


@pytest.mark.parametrize("absent", [UNKNOWN, OTHER_KEY, ACCOUNT], ids=["unknown", "other's", "account"])
def test_view_of_a_key_that_the_account_does_not_have_is_refused(world: World, absent: int) -> None:
    refusal = world.config.call_refusal("getUsageApiKey", ACCOUNT, absent)
    assert refusal == ("UsageKeyUnknown", ACCOUNT, absent)


def test_removed_key_is_gone_and_may_be_attached_again(world: World) -> None:
    world.grant(ALL)
    world.write("removeUsageApiKey", ACCOUNT, KEY)
    assert world.config.call("listUsageApiKeys", ACCOUNT, 0, 10) == ()
    assert world.config.call("keyInfo", KEY) == (0, False, False, 0)
    assert world.config.call("canExecute", KEY, CID, pkp_id(PKP)) is False
    world.write("setUsageApiKey", ACCOUNT, KEY, 0, 0, "again", "", *NONE)
    assert usage_key(world) == (KEY, 0, 0, "again", "", *NONE)


def test_removed_key_may_be_attached_to_another_account(world: World) -> None:
    world.grant(ALL)
    world.write("removeUsageApiKey", ACCOUNT, KEY)
    world.write("setUsageApiKey", OTHER_ACCOUNT, KEY, 0, 0, "", "", *NONE)
    assert world.config.call("keyInfo", KEY) == (OTHER_ACCOUNT, False, True, 0)


def test_removed_key_hash_may_become_an_account(world: World) -> None:
    world.write("removeUsageApiKey", ACCOUNT, KEY)
    world.write("newAccount", KEY, "0x" + "11" * 20, "", "")
    assert world.config.call("keyInfo", KEY) == (KEY, True, True, 0)


@pytest.mark.parametrize("fields", [["manage"], ["add", "remove"], ["execute"], ["manage", "add", "remove", "execute"]])
def test_removed_group_leaves_every_array_of_every_key(world: World, fields: list[str]) -> None:
    for key in (KEY, NEW_KEY):
        granted = permissions(**{field: [2, 1, 0] for field in fields})  # type: ignore[arg-type] # array fields only
        world.write("setUsageApiKey", ACCOUNT, key, 0, 0, "", "", *granted)
    world.write("removeGroup", ACCOUNT, 1)
    left = permissions(**{field: [0, 2] for field in fields})  # type: ignore[arg-type] # array fields only
    for key in (KEY, NEW_KEY):
        assert usage_key(world, key) == (key, 0, 0, "", "", *left)


def test_group_id_dropped_by_an_update_is_forgotten(world: World) -> None:
    world.grant(permissions(execute=[1], manage=[1]))
    world.grant(permissions(execute=[2]))
    world.write("removeGroup", ACCOUNT, 1)
    assert usage_key(world) == (KEY, 0, 0, "key", "of the account", *permissions(execute=[2]))


def test_new_group_inherits_no_access_of_a_removed_one(world: World) -> None:
    world.write("addGroup", ACCOUNT, "third", "", [pkp_id(PKP)], [CID])
    world.grant(permissions(delete_groups=True, execute=[3], manage=[3]))
    assert world.config.call("canExecute", KEY, CID, pkp_id(PKP)) is True
    world.write("removeGroup", KEY, 3)
    world.write("addGroup", ACCOUNT, "fourth", "", [pkp_id(PKP)], [CID])
    assert [row[0] for row in world.config.rows("listGroups", ACCOUNT, 0, 10)] == [1, 2, 4]
    assert world.config.call("canExecute", KEY, CID, pkp_id(PKP)) is False
    assert world.refusal("removeActionFromGroup", KEY, 4, CID) == ("ScopeMissing", KEY, "group:manageActions", 4)
