"""Who may write: the wallet that sends, and the key that acts (specification, "Authentication" and "Scopes")."""

from __future__ import annotations

import pytest
from deployed import Wallet
from world import (
    ACCOUNT,
    ADMIN_PAYER,
    KEY,
    NEW_OWNER,
    OTHER_OWNER,
    OWNER,
    OWNER_ONLY,
    PAYER,
    PER_GROUP,
    SCOPED,
    SECOND_PAYER,
    STRANGER,
    WRITES,
    World,
    Write,
    granting,
    permissions,
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
@wallets(PAYER, ADMIN_PAYER, OWNER, OTHER_OWNER, STRANGER)
def test_unmanaged_account_refuses_other_senders(world: World, write: Write, sender: Wallet) -> None:
    world.write("convertToChainSecuredAccount", ACCOUNT, NEW_OWNER.address)
    refusal = world.refusal(write.function, ACCOUNT, *write.arguments, sender=sender)
    assert refusal == ("SenderNotPermitted", ACCOUNT, sender.address)


def test_removed_payer_is_refused(world: World) -> None:
    world.write("setApiPayers", [SECOND_PAYER.address], sender=ADMIN_PAYER)
    refusal = world.refusal("addGroup", ACCOUNT, "", "", [], [], sender=PAYER)
    assert refusal == ("SenderNotPermitted", ACCOUNT, PAYER.address)
    world.write("addGroup", ACCOUNT, "", "", [], [], sender=SECOND_PAYER)


@owner_only
def test_owner_only_write_refuses_an_all_powerful_usage_key(world: World, write: Write) -> None:
    every = permissions(
        create_groups=True, delete_groups=True, create_pkps=True, manage=[0], add=[0], remove=[0], execute=[0]
    )
    world.grant(every)
    assert world.refusal(write.function, KEY, *write.arguments) == ("OwnerOnly", KEY)


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


@per_group
@pytest.mark.parametrize("group_id", [0, 3, 2**64 - 1])
@pytest.mark.parametrize("acting", [ACCOUNT, KEY], ids=["owner", "wildcard key"])
def test_wildcard_never_matches_a_group_that_does_not_exist(
    world: World, write: Write, group_id: int, acting: int
) -> None:
    world.grant(granting(write.scope or "", 0))
    refusal = world.refusal(write.function, acting, group_id, *write.arguments[1:])
    assert refusal == ("GroupUnknown", ACCOUNT, group_id)
