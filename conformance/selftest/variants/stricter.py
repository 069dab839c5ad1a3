"""A correct node that refuses more than the reference node does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, count, takewhile

from eth_utils.address import is_address, to_canonical_address

from conformance.selftest.tools.accounts import Hashes, Write, account_of
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Handler,
    Received,
    body_of,
    intercept,
    lasting,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_contract import Change, Sent, change_contract
from conformance.selftest.tools.minted import follow_mints
from conformance.selftest.variants.variant import choices, presented
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import key_hash
from reference_node.problems import NotFound

DESCRIPTION = ("openapi.json", "swagger-ui")
STRANGER = Address(bytes(19) + b"\x01")
WILDCARD = bytes(32)
AT_MOST = 100


@choices(
    {
        "auth": {"openapi_public": False},
        "chain": {"attach_order": "registration_first"},
        "semantics": {
            "delete_action_group_membership": "kept",
            "pkp_wildcard_by_add_remove": {"add": "not_found", "remove": "not_found"},
            "unknown_pkp_id_in_group": {"listed": "accepted", "added": "accepted"},
        },
        "mode": {"admin_address_reuse": "refused"},
    }
)
def stricter(node: Node) -> None:
    """Refuse more than the reference node does.

    The OpenAPI description needs a key. A minted key can be attached only after its wallet was registered. A wallet is
    the admin of one account at most. An array of a usage key names 100 groups at most. The wildcard for wallets is no
    entry to add or remove, only part of a whole list. Unlike the reference node, a group takes ids of unknown wallets,
    and keeps an action that was deleted.
    """
    intercept(node, DESCRIPTION, _for_keys(node))
    change_contract(node, _wallet_first(node), {"set_usage_api_key"})
    intercept(node, "convert_to_chain_secured_account", _one_account_each(node))
    intercept(node, ("add_usage_api_key", "update_usage_api_key"), _short_arrays)
    for method in ("add_pkp_to_group", "remove_pkp_from_group"):
        wrap(node.accounts, method, _no_wildcard)
    for method in ("add_group", "update_group", "add_pkp_to_group"):
        wrap(node.accounts, method, _known_wallets(node))
    wrap(node.accounts, "delete_action", _keeps_members(node))


def _for_keys(node: Node) -> Handler:
    async def handler(request: Received, forward: Forward) -> Answered:
        secret = presented(request)
        known = secret is not None and node.accounts.key_info(key_hash(secret)).account_hash
        return await forward(request) if known else refusal(401)

    return handler


async def _short_arrays(request: Received, forward: Forward) -> Answered:
    lengths = [len(value) for value in body_of(request).values() if isinstance(value, list)]
    return refusal(422) if max(lengths, default=0) > AT_MOST else await forward(request)


def _wallet_first(node: Node) -> Change:
    minted = follow_mints(node)

    def change(sent: Sent) -> Sent:
        path = minted.keys.get(sent.arguments[1])
        early = path is not None and not node.accounts.derivation_owner(path)
        return replace(sent, sender=STRANGER) if early else sent

    return change


def _one_account_each(node: Node) -> Handler:
    admins: set[Address] = lasting(node, "admins", set())

    async def handler(request: Received, forward: Forward) -> Answered:
        wanted = str(body_of(request).get("new_admin_wallet_address"))
        if is_address(wanted) and to_canonical_address(wanted) in admins:
            return refusal(409)
        given = await forward(request)
        if given.accepted:
            admins.add(Address(to_canonical_address(wanted)))
        return given

    return handler


def _no_wildcard(write: Write, acting_key: int, group_id: int, pkp_id: bytes) -> object:
    if pkp_id == WILDCARD:
        raise NotFound("wallet-unknown", "the wildcard is given with the whole group")
    return write(acting_key, group_id, pkp_id)


def _known_wallets(node: Node) -> Callable[..., object]:
    def known(acting_key: int, pkp_id: bytes) -> bool:
        try:
            node.accounts.wallet(account_of(node, acting_key), pkp_id)
        except ContractRefusal:
            return pkp_id == WILDCARD
        return True

    def write_known(write: Write, acting_key: int, *arguments: object) -> object:
        match arguments:
            case (int(group_id), bytes(pkp_id)):
                return write(acting_key, group_id, pkp_id) if known(acting_key, pkp_id) else None
            case (*group, list(pkp_ids), cid_hashes):
                return write(acting_key, *group, [one for one in pkp_ids if known(acting_key, one)], cid_hashes)
            case _:
                return write(acting_key, *arguments)

    return write_known


def _keeps_members(node: Node) -> Callable[..., None]:
    def delete(write: Write, acting_key: int, cid_hash: bytes) -> None:
        listing = [group for group, hashes in _in_groups(node, account_of(node, acting_key)) if cid_hash in hashes]
        write(acting_key, cid_hash)
        for group in listing:
            node.accounts.add_action_to_group(acting_key, group, cid_hash)

    return delete


def _in_groups(node: Node, account: int) -> list[tuple[int, Hashes]]:
    """Return the groups of an account, each with the hashes of the actions that it lists."""
    pages = takewhile(bool, (node.accounts.groups(account, page, AT_MOST) for page in count()))
    return [
        (group.id, [action.cid_hash for action in node.accounts.actions_in_group(account, group.id, 0, AT_MOST)])
        for group in chain.from_iterable(pages)
    ]
