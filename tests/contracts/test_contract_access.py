"""Who may write: the wallet that sends, and the key that acts (specification, "Authentication" and "Scopes")."""

from __future__ import annotations

import pytest
from deployed import Wallet
from world import (
    ACCOUNT,
    ADMIN_PAYER,
    KEY,
    NEW_OWNER,
    NONE,
    OTHER_ACCOUNT,
    OTHER_KEY,
    OTHER_OWNER,
    OWNER,
    OWNER_ONLY,
    PAYER,
    PER_GROUP,
    SCOPED,
    SECOND_PAYER,
    START,
    STRANGER,
    UNKNOWN,
    WRITES,
    World,
    Write,
    granting,
    key_hash,
    permissions,
    snapshot,
)

every_write = pytest.mark.parametrize("write", WRITES, ids=lambda write: write.function)
owner_only = pytest.mark.parametrize("write", OWNER_ONLY, ids=lambda write: write.function)
scoped = pytest.mark.parametrize("write", SCOPED, ids=lambda write: write.function)
per_group = pytest.mark.parametrize("write", PER_GROUP, ids=lambda write: write.function)


def wallets(*named: Wallet) -> pytest.MarkDecorator:
    names = {ADMIN_PAYER: "admin payer", PAYER: "payer", SECOND_PAYER: "second payer", OWNER: "owner"}
    names |= {NEW_OWNER: "new owner", OTHER_OWNER: "other owner", STRANGER: "stranger"}
    return pytest.mark.parametrize("sender", named, ids=lambda wallet: names[wallet])


def test_table_names_every_administrative_write(world: World) -> None:
    others = {
        "newAccount",
        "newChainSecuredAccount",
        "convertToChainSecuredAccount",
        "setApiPayers",
        "setAdminApiPayer",
    }
    assert {write.function for write in WRITES} == world.config.interface.writes - others


@every_write
@wallets(PAYER, SECOND_PAYER, ADMIN_PAYER)
def test_write_by_payer_emits_its_event(world: World, write: Write, sender: Wallet) -> None:
    assert world.write(write.function, ACCOUNT, *write.arguments, sender=sender) == [write.event]


@every_write
@wallets(STRANGER, OWNER, OTHER_OWNER)
def test_managed_account_refuses_other_senders(world: World, write: Write, sender: Wallet) -> None:
    refusal = world.refusal(write.function, ACCOUNT, *write.arguments, sender=sender)
    assert refusal == ("SenderNotPermitted", ACCOUNT, sender.address)


@every_write
def test_unmanaged_account_is_written_by_its_admin_wallet(world: World, write: Write) -> None:
    world.write("convertToChainSecuredAccount", ACCOUNT, NEW_OWNER.address)
    assert world.write(write.function, ACCOUNT, *write.arguments, sender=NEW_OWNER) == [write.event]


@every_write
@wallets(PAYER, ADMIN_PAYER, OWNER, OTHER_OWNER, STRANGER)
def test_unmanaged_account_refuses_other_senders(world: World, write: Write, sender: Wallet) -> None:
    world.write("convertToChainSecuredAccount", ACCOUNT, NEW_OWNER.address)
    refusal = world.refusal(write.function, ACCOUNT, *write.arguments, sender=sender)
    assert refusal == ("SenderNotPermitted", ACCOUNT, sender.address)


@scoped
def test_unmanaged_account_refuses_a_payer_acting_for_a_scoped_key(world: World, write: Write) -> None:
    world.grant(granting(write.scope or "", write.group_id))
    world.write("convertToChainSecuredAccount", ACCOUNT, NEW_OWNER.address)
    refusal = world.refusal(write.function, KEY, *write.arguments)
    assert refusal == ("SenderNotPermitted", ACCOUNT, PAYER.address)


def test_removed_payer_is_refused(world: World) -> None:
    world.write("setApiPayers", [SECOND_PAYER.address], sender=ADMIN_PAYER)
    refusal = world.refusal("addGroup", ACCOUNT, "", "", [], [], sender=PAYER)
    assert refusal == ("SenderNotPermitted", ACCOUNT, PAYER.address)
    world.write("addGroup", ACCOUNT, "", "", [], [], sender=SECOND_PAYER)


@owner_only
def test_unknown_account_is_refused(world: World, write: Write) -> None:
    assert world.refusal(write.function, UNKNOWN, *write.arguments) == ("AccountUnknown", UNKNOWN)


@scoped
def test_unknown_key_is_refused(world: World, write: Write) -> None:
    assert world.refusal(write.function, UNKNOWN, *write.arguments) == ("KeyUnknown", UNKNOWN)


@scoped
def test_removed_key_is_unknown(world: World, write: Write) -> None:
    world.grant(granting(write.scope or "", write.group_id))
    world.write("removeUsageApiKey", ACCOUNT, KEY)
    assert world.refusal(write.function, KEY, *write.arguments) == ("KeyUnknown", KEY)


@owner_only
def test_owner_only_write_refuses_an_all_powerful_usage_key(world: World, write: Write) -> None:
    every = permissions(
        create_groups=True, delete_groups=True, create_pkps=True, manage=[0], add=[0], remove=[0], execute=[0]
    )
    world.grant(every)
    assert world.refusal(write.function, KEY, *write.arguments) == ("OwnerOnly", KEY)


@owner_only
def test_owner_only_write_refuses_an_expired_usage_key(world: World, write: Write) -> None:
    world.grant(NONE, expiration=START + 10)
    world.now = START + 10
    assert world.refusal(write.function, KEY, *write.arguments) == ("KeyExpired", KEY, START + 10)


@scoped
def test_scope_opens_the_write_to_a_usage_key(world: World, write: Write) -> None:
    world.grant(granting(write.scope or "", write.group_id))
    assert world.write(write.function, KEY, *write.arguments) == [write.event]


@scoped
def test_every_other_scope_does_not(world: World, write: Write) -> None:
    all_but_one = permissions(
        create_groups=write.scope != "group:create",
        delete_groups=write.scope != "group:delete",
        create_pkps=write.scope != "pkp:create",
        manage=[] if write.scope == "group:manageActions" else [0, 1],
        add=[] if write.scope == "group:addPkp" else [0, 1],
        remove=[] if write.scope == "group:removePkp" else [0, 1],
        execute=[0, 1],
    )
    world.grant(all_but_one)
    refusal = world.refusal(write.function, KEY, *write.arguments)
    assert refusal == ("ScopeMissing", KEY, write.scope, write.group_id)


@scoped
def test_withdrawn_scope_no_longer_opens_it(world: World, write: Write) -> None:
    world.grant(granting(write.scope or "", write.group_id))
    world.write("updateUsageApiKey", ACCOUNT, KEY, "", "", *NONE)
    refusal = world.refusal(write.function, KEY, *write.arguments)
    assert refusal == ("ScopeMissing", KEY, write.scope, write.group_id)


@scoped
def test_key_of_another_account_writes_there_not_here(world: World, write: Write) -> None:
    granted = granting(write.scope or "", 0)
    world.write("setUsageApiKey", OTHER_ACCOUNT, OTHER_KEY, 0, 0, "", "", *granted)
    before = snapshot(world, ACCOUNT)
    receipt = world.config.receipt(write.function, OTHER_KEY, *write.arguments, sender=PAYER)
    assert snapshot(world, ACCOUNT) == before
    for log in receipt.logs:
        assert world.config.interface.event(log)[1] == OTHER_ACCOUNT


@scoped
def test_key_expires_at_its_second(world: World, write: Write) -> None:
    world.grant(granting(write.scope or "", write.group_id), expiration=START + 10)
    world.now = START + 10
    assert world.refusal(write.function, KEY, *write.arguments) == ("KeyExpired", KEY, START + 10)


@scoped
def test_key_works_until_the_second_before(world: World, write: Write) -> None:
    world.grant(granting(write.scope or "", write.group_id), expiration=START + 10)
    world.now = START + 9
    assert world.write(write.function, KEY, *write.arguments) == [write.event]


@per_group
@pytest.mark.parametrize("named", [[0], [0, 2], [2, 1]], ids=str)
def test_array_with_the_group_or_the_wildcard_opens_it(world: World, write: Write, named: list[int]) -> None:
    field = {"group:manageActions": "manage", "group:addPkp": "add", "group:removePkp": "remove"}[write.scope or ""]
    world.grant(permissions(**{field: named}))  # type: ignore[arg-type] # one of the array fields
    assert world.write(write.function, KEY, *write.arguments) == [write.event]


@per_group
def test_scope_for_another_group_does_not(world: World, write: Write) -> None:
    world.grant(granting(write.scope or "", 2))
    assert world.refusal(write.function, KEY, *write.arguments) == ("ScopeMissing", KEY, write.scope, 1)


@per_group
def test_wildcard_covers_a_later_group(world: World, write: Write) -> None:
    world.grant(granting(write.scope or "", 0))
    item, more = write.event[-1], write.arguments[1:]
    listed = {"removeActionFromGroup": ([], [item]), "removePkpFromGroup": ([item], [])}.get(write.function, ([], []))
    world.write("addGroup", ACCOUNT, "", "", *listed)
    event = (write.event[0], ACCOUNT, 3, item)
    assert world.write(write.function, KEY, 3, *more) == [event]


@per_group
@pytest.mark.parametrize("group_id", [0, 3, 2**64 - 1])
@pytest.mark.parametrize("acting", [ACCOUNT, KEY], ids=["owner", "wildcard key"])
def test_wildcard_never_matches_a_group_that_does_not_exist(
    world: World, write: Write, group_id: int, acting: int
) -> None:
    world.grant(granting(write.scope or "", 0))
    refusal = world.refusal(write.function, acting, group_id, *write.arguments[1:])
    assert refusal == ("GroupUnknown", ACCOUNT, group_id)


@pytest.mark.parametrize(
    ("entries", "held", "lacking"),
    [
        (([key_hash("").to_bytes(32, "big")], []), {"manage": [0], "add": [1, 2]}, "group:addPkp"),
        (([], [bytes(32)]), {"add": [0], "manage": [1, 2]}, "group:manageActions"),
    ],
    ids=["wallets", "actions"],
)
def test_group_prefilled_by_a_usage_key_needs_the_wildcard(
    world: World, entries: tuple[object, ...], held: dict[str, list[int]], lacking: str
) -> None:
    world.grant(permissions(create_groups=True, **held))  # type: ignore[arg-type] # array fields only
    assert world.refusal("addGroup", KEY, "", "", *entries) == ("ScopeMissing", KEY, lacking, 0)


def test_group_prefilled_by_a_usage_key_with_the_wildcards_is_created(world: World) -> None:
    world.grant(permissions(create_groups=True, add=[0], manage=[0]))
    event = world.write("addGroup", KEY, "", "", [bytes(32)], [bytes(32)])
    assert event == [("GroupAdded", ACCOUNT, 3, "", "", (bytes(32),), (bytes(32),))]
