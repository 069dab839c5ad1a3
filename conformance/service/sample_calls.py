"""An accepted request of each management write and each read of the catalogue, about the objects of one account.

Specification: "Endpoints".
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.endpoints.requests import OutgoingRequest
from conformance.service.accounts import Account
from conformance.service.actions import ActionCode
from conformance.service.derivations import hashed_cid
from conformance.service.lists import one_item_page
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.ids import Cid, GroupId


@dataclass(frozen=True)
class SampleObjects:
    """The objects of an account that the requests name."""

    alice: Account
    action: ActionCode
    """An action in the group."""
    listed: Cid
    """An action that is in the group, too, and has metadata."""
    group: GroupId
    spare: GroupId
    """A group to be removed."""
    member: Pkp
    """A wallet in the group."""
    pkp: Pkp
    """A wallet in no group."""
    usage_key: str
    """A usage key with every permission."""
    removable: str
    """A usage key to be removed."""


def sample_objects(node: Node, alice: Account) -> SampleObjects:
    """Create the objects in an account."""
    key, action, listed = alice.key, node.actions.prepared("hello"), node.actions.sample_cid(f"listed by {alice.key}")
    member_pkp, pkp = node.pkps.create_several(key, 2)
    group = node.groups.add(key, pkp_ids=[member_pkp.id], cid_hashes=[action.hash, hashed_cid(listed)])
    node.actions.add(key, listed)
    powerful, removable = (node.usage_keys.add(key, held).key for held in (ALL_PERMISSIONS, Permissions()))
    return SampleObjects(alice, action, listed, group.id, node.groups.add(key).id, member_pkp, pkp, powerful, removable)


def sample_writes(node: Node, objects: SampleObjects) -> dict[str, OutgoingRequest]:
    """A request of each management write, to be accepted in this order."""
    other, listed = node.actions.sample_cid(f"other of {objects.alice.key}"), hashed_cid(objects.listed)
    labels: dict[str, object] = {"name": node.label, "description": "d"}
    lists: dict[str, object] = {"pkp_ids_permitted": [objects.pkp.id], "cid_hashes_permitted": [objects.action.hash]}
    nothing = Permissions().members
    members: dict[str, dict[str, object]] = {
        "add_usage_api_key": {**labels, **nothing},
        "update_usage_api_key": {"usage_api_key": objects.removable, **labels, **nothing},
        "update_usage_api_key_metadata": {"usage_api_key": objects.removable, **labels},
        "remove_usage_api_key": {"usage_api_key": objects.removable},
        "add_group": {"group_name": node.label, "group_description": "d", **lists},
        "add_action_to_group": {"group_id": objects.group, "action_ipfs_cid": other},
        "remove_action_from_group": {"group_id": objects.group, "hashed_cid": listed},
        "add_pkp_to_group": {"group_id": objects.group, "pkp_id": objects.pkp.id},
        "remove_pkp_from_group": {"group_id": objects.group, "pkp_id": objects.member.id},
        "update_group": {"group_id": objects.spare, **labels, **lists},
        "remove_group": {"group_id": objects.spare},
        "add_action": {"action_ipfs_cid": other, **labels},
        "update_action_metadata": {"hashed_cid": listed, **labels},
        "delete_action": {"hashed_cid": listed},
    }
    key = objects.alice.key
    made = {name: node.session.request(name, key, **arguments) for name, arguments in members.items()}
    return {"create_wallet": node.pkps.creation(key), **made}


def sample_reads(node: Node, objects: SampleObjects) -> dict[str, OutgoingRequest]:
    """A request of each read of the catalogue, with the account key, whether it needs one or not."""
    session, key = node.session, objects.alice.key
    page: dict[str, object] = one_item_page(session)
    members: dict[str, dict[str, object]] = {
        "list_api_keys": page,
        "list_groups": page,
        "list_wallets": page,
        "list_wallets_in_group": {"group_id": objects.group, **page},
        "list_actions": page,
        "account_exists": {},
        "balance": {},
        "get_action_ipfs_id": {"code": objects.action.code + "/" * 5_000},
        "get_node_chain_config": {},
        "get_api_payers": {},
        "get_admin_api_payer": {},
    }
    return {name: session.request(name, key, **arguments) for name, arguments in members.items()}
