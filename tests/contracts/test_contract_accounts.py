"""Accounts and payers of AccountConfig (specification, "Resources / Account" and "States / Account mode")."""

from __future__ import annotations

import pytest
from deployed import Deployed, Refused, Wallet
from world import (
    ACCOUNT,
    ADMIN_PAYER,
    CID,
    OWNER,
    PAYER,
    PKP,
    SECOND_PAYER,
    STRANGER,
    World,
    own_hash,
    permissions,
    pkp_id,
    snapshot,
)

ZERO = "0x" + bytes(20).hex()


def test_usage_key_of_somebody_else_does_not_keep_a_wallet_from_its_account(world: World) -> None:
    account = attached_before_creation(world)
    assert world.config.call("keyInfo", account) == (account, True, False, 0)
    world.write("addGroup", account, "mine", "", [], [], sender=STRANGER)
    assert len(world.config.call("listGroups", account, 0, 10)) == 1


def test_hash_of_an_account_no_longer_acts_for_who_attached_it_before(world: World) -> None:
    before = snapshot(world, ACCOUNT)
    account = attached_before_creation(world)
    for write in (("createWallet", account, PKP.address, 1, "", ""), ("addGroup", account, "", "", [], [])):
        assert world.refusal(*write) == ("SenderNotPermitted", account, PAYER.address)
    assert world.config.call("canExecute", account, CID, pkp_id(PKP)) is False
    world.write("removeUsageApiKey", ACCOUNT, account)
    assert snapshot(world, ACCOUNT) == before
    assert world.config.call("keyInfo", account) == (account, True, False, 0)
    refusal = world.refusal("setUsageApiKey", ACCOUNT, account, 0, 0, "", "", *permissions())
    assert refusal == ("KeyHashInUse", account)


def attached_before_creation(world: World) -> int:
    """The hash of a wallet's account, which another account had attached with permissions, already expired."""
    account = own_hash(STRANGER)
    granted = permissions(create_groups=True, create_pkps=True, execute=[0])
    world.write("setUsageApiKey", ACCOUNT, account, 1, 0, "", "", *granted)
    world.write("newChainSecuredAccount", "", "", sender=STRANGER)
    return account


def test_deployment_sets_the_payers(world: World) -> None:
    assert world.config.call("adminApiPayer") == ADMIN_PAYER.address
    assert world.config.call("apiPayers") == (PAYER.address, SECOND_PAYER.address)
    interface, logs = world.config.interface, world.config.deployment.logs
    assert [interface.event(log) for log in logs] == [
        ("AdminApiPayerSet", ZERO, ADMIN_PAYER.address),
        ("ApiPayersSet", (PAYER.address, SECOND_PAYER.address)),
    ]


@pytest.mark.parametrize("arguments", [(ZERO, []), (OWNER.address, [ZERO])], ids=["admin payer", "payer"])
def test_deployment_refuses_the_zero_address(world: World, arguments: tuple[object, ...]) -> None:
    with pytest.raises(Refused) as refused:
        Deployed(world.config.chain, "AccountConfig", arguments, STRANGER)
    assert refused.value.refusal == ("ZeroAddress",)


def test_admin_payer_replaces_the_payers(world: World) -> None:
    payers = [STRANGER.address, OWNER.address, STRANGER.address]
    events = world.write("setApiPayers", payers, sender=ADMIN_PAYER)
    assert events == [("ApiPayersSet", tuple(payers))]
    assert world.config.call("apiPayers") == (STRANGER.address, OWNER.address)
    world.write("addGroup", ACCOUNT, "", "", [], [], sender=STRANGER)


def test_admin_payer_hands_its_office_on(world: World) -> None:
    events = world.write("setAdminApiPayer", STRANGER.address, sender=ADMIN_PAYER)
    assert events == [("AdminApiPayerSet", ADMIN_PAYER.address, STRANGER.address)]
    assert world.config.call("adminApiPayer") == STRANGER.address
    world.write("setApiPayers", [], sender=STRANGER)
    refusal = world.refusal("setApiPayers", [], sender=ADMIN_PAYER)
    assert refusal == ("AdminPayerOnly", ADMIN_PAYER.address)
    refusal = world.refusal("addGroup", ACCOUNT, "", "", [], [], sender=ADMIN_PAYER)
    assert refusal == ("SenderNotPermitted", ACCOUNT, ADMIN_PAYER.address)


@pytest.mark.parametrize("sender", [PAYER, OWNER, STRANGER], ids=["payer", "owner", "stranger"])
@pytest.mark.parametrize(
    "write", [("setApiPayers", []), ("setAdminApiPayer", STRANGER.address)], ids=lambda write: write[0]
)
def test_payers_are_set_by_the_admin_payer_alone(world: World, write: tuple[str, object], sender: Wallet) -> None:
    assert world.refusal(*write, sender=sender) == ("AdminPayerOnly", sender.address)


@pytest.mark.parametrize(
    "write", [("setApiPayers", [OWNER.address, ZERO]), ("setAdminApiPayer", ZERO)], ids=lambda write: write[0]
)
def test_zero_address_is_no_payer(world: World, write: tuple[str, object]) -> None:
    assert world.refusal(*write, sender=ADMIN_PAYER) == ("ZeroAddress",)
