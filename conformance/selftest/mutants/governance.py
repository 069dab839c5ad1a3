"""Faults about whose word counts in a ChainSecured account: its owner, keys with scopes, and what is no key to it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable

from eth_utils.crypto import keccak

from conformance.selftest.tools.accounts import account_of, permissions_of
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    body_of,
    change_answer,
    intercept,
    members,
    wrap,
)
from conformance.selftest.tools.alter_contract import let_in, payers_of
from conformance.selftest.tools.alter_runs import Lists, change_verdicts, decide, own_groups
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import KeyInfo, Permissions
from reference_node.chain.interface import Address
from reference_node.node import Node

GATEWAY_WRITES = (
    "add_group",
    "remove_group",
    "add_action_to_group",
    "remove_action_from_group",
    "add_pkp_to_group",
    "remove_pkp_from_group",
    "create_wallet",
    "set_usage_key",
    "update_usage_key",
    "remove_usage_key",
)
CONVERSION = "convert_to_chain_secured_account"
ADDRESS_BYTES = 20


def _payers_are_heard(node: Node) -> None:
    """Let the contract take writes for ChainSecured accounts from payers, too."""
    payers = payers_of(node)
    let_in(node, lambda sender, _: sender in payers)


def _taken_for_managed(node: Node, which: Callable[[KeyInfo], bool]) -> None:
    """Treat such keys of ChainSecured accounts as keys of managed accounts, and write for them."""

    def info(view: Callable[[int], KeyInfo], key: int) -> KeyInfo:
        found = view(key)
        return found._replace(managed=True) if found.account_hash and which(found) else found

    wrap(node.accounts, "key_info", info)
    _payers_are_heard(node)


def _write_as_the_owner(node: Node, methods: Iterable[str], when: Callable[[Permissions], bool]) -> None:
    """Do these writes of usage keys of ChainSecured accounts with such permissions as if the owner asked."""

    def write_for(write: Callable[..., object], acting_key: int, *arguments: object) -> object:
        account, permissions = account_of(node, acting_key), permissions_of(node, acting_key)
        if permissions is None or node.accounts.account(account).managed or not when(permissions):
            return write(acting_key, *arguments)
        return write(account, *arguments)

    for method in methods:
        wrap(node.accounts, method, write_for)
    _taken_for_managed(node, lambda found: not found.is_account_key)


# --------------------------------------------------------------------------------------------------------- the owner


@mutant(
    "AUTH-170",
    "AUTH-160",
    also=(
        "BILL-320 CHAIN-050 EXEC-010 EXEC-090 EXEC-250 MINT-120 MINT-150 MODE-090 MODE-330 MODE-360 SCOPE-020 UKEY-260"
    ),
)
def keys_of_wallets_do_not_run(node: Node) -> None:
    """Refuse runs of usage keys of ChainSecured accounts."""
    change_verdicts(node, lambda verdict, asked: verdict and node.accounts.account(account_of(node, asked[0])).managed)


# ------------------------------------------------------------------------------------------------------------- scopes


@mutant(
    "AUTH-170",
    "AUTH-160",
    "AUTH-220",
    also=(
        "ACC-150 AUTH-080 AUTH-100 AUTH-110 AUTH-120 AUTH-210 AUTH-230 CHAIN-100 MINT-060 MINT-150 "
        "MINT-160 SCOPE-090 UKEY-050 UKEY-070 UKEY-090 UKEY-110 UKEY-150 UKEY-190 UKEY-230"
    ),
)
def keys_of_wallets_write_as_the_owner(node: Node) -> None:
    """Let usage keys of ChainSecured accounts write everything over HTTP, whatever their scopes."""
    _write_as_the_owner(node, GATEWAY_WRITES, lambda _: True)


@mutant("AUTH-220", also="ACC-150 CHAIN-100 MINT-060 MINT-140 MINT-160")
def payers_relay_for_scoped_keys(node: Node) -> None:
    """Let usage keys of ChainSecured accounts write over HTTP what they hold the scope for."""
    _taken_for_managed(node, lambda found: not found.is_account_key)


@mutant("AUTH-160", also="EXEC-350 LIM-040 UKEY-280 UKEY-310 UKEY-320")
def broad_keys_run_in_one_group(node: Node) -> None:
    """Let a key for all groups run only in the first group."""

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        groups = own_groups(node, key)
        return groups[:1] if permissions is not None and 0 in permissions.execute_in_groups else groups

    decide(node, reach=reach)


# ---------------------------------------------------------------------------------------------------- what is no key


@mutant("ACC-160", also="VER-050")
def conversions_hand_out_a_key(node: Node) -> None:
    """Answer a new account key from the conversion."""
    fresh = base64.b64encode(bytes(32)).decode()
    change_answer(node, CONVERSION, lambda value: {**members(value), "api_key": fresh})


@mutant("AUTH-180", also="ACC-160 AUTH-050")
def addresses_of_admins_are_keys(node: Node) -> None:
    """Accept the bytes of an admin's address, whose hash is the account's, as a key in `list_groups`."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        try:
            secret = base64.b64decode(presented(request), validate=True)
        except ValueError:
            return given
        is_address = not given.accepted and len(secret) == ADDRESS_BYTES
        known = is_address and node.accounts.account_exists(int.from_bytes(keccak(secret)))
        return answer(200, []) if known else given

    intercept(node, "list_groups", handler)


@mutant("AUTH-180", "AUTH-230", also="ACC-150 ACC-160 CHAIN-100 ERR-080 MINT-060 MINT-160 MODE-110 MODE-280 MODE-290")
def old_master_keys_go_on_writing(node: Node) -> None:
    """Let the master key of a converted account write as before, through the payers."""
    _taken_for_managed(node, lambda found: found.is_account_key)


@mutant("AUTH-230", also="ACC-150 AUTH-040 BILL-140 BILL-290 CHAIN-100 LIM-050 MINT-060 MINT-160")
def proofs_for_billing_open_writes(node: Node) -> None:
    """Let a proof in `X-Wallet-Auth` of the admin create groups over HTTP."""
    accounts: dict[str, int] = {}

    def convert(write: Callable[[int, Address], None], account: int, admin: Address) -> None:
        write(account, admin)
        accounts[admin.hex()] = account

    wrap(node.accounts, "convert_to_chain_secured", convert)
    _payers_are_heard(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        proof = dict(request.headers).get(b"x-wallet-auth", b"")
        if presented(request) or not proof:
            return await forward(request)
        try:
            envelope = members(json.loads(base64.b64decode(proof))).get("typed_data")
            admin = str(members(members(envelope).get("message")).get("address"))
            account = accounts[admin.removeprefix("0x").lower()]
        except (KeyError, ValueError):
            return await forward(request)
        name = str(body_of(request).get("group_name"))
        return answer(200, {"success": True, "group_id": node.accounts.add_group(account, name, "", [], [])})

    intercept(node, "add_group", handler)


@mutant("AUTH-230", also="ACC-120 CHAIN-100 KEYLIFE-180 KEYLIFE-190 MINT-060 MINT-160")
def any_account_removes_keys_of_chain_secured_accounts(node: Node) -> None:
    """Let any account's key remove usage keys of ChainSecured accounts."""

    def remove(write: Callable[[int, int], None], acting: int, key: int) -> None:
        owner = account_of(node, key)
        write(owner if owner and not node.accounts.account(owner).managed else acting, key)

    wrap(node.accounts, "remove_usage_key", remove)
    _payers_are_heard(node)
