"""Specification: "Groups", including the operations whose paths it does not show."""

from __future__ import annotations

from fastapi import APIRouter, Response

from reference_node.api.access import CallerOf, NodeOf, WriteOf
from reference_node.api.answers import CreatedGroup, GroupItem, Success
from reference_node.api.openapi import key_read, key_write
from reference_node.api.requests import (
    ActionOfGroup,
    GroupUpdate,
    NamedGroup,
    NewActionOfGroup,
    NewGroup,
    PageQuery,
    PermittedLists,
    WalletOfGroup,
)
from reference_node.api.route import StrictRoute, answer, success
from reference_node.chain.account_config import Group
from reference_node.fields import hash_bytes, permitted_cid_bytes
from reference_node.permission.cid import cid_hash

router = APIRouter(route_class=StrictRoute, tags=["Groups"])


@router.post("/add_group", response_model=CreatedGroup, responses=key_write(404))
def add_group(body: NewGroup, write: WriteOf) -> Response:
    """Create a group. A usage key that fills the lists needs the wildcard in the matching permission array."""
    with write.charged() as accounts:
        group_id = accounts.add_group(write.acting_key, body.group_name, body.group_description, *_lists(body))
    return answer({"success": True, "group_id": group_id})


@router.post("/update_group", response_model=Success, responses=key_write(404))
def update_group(body: GroupUpdate, write: WriteOf) -> Response:
    """Replace a group's name, description and both lists; a list left out is emptied. Needs the account key."""
    with write.charged() as accounts:
        accounts.update_group(write.acting_key, Group(body.group_id, body.name, body.description), *_lists(body))
    return success()


@router.post("/remove_group", response_model=Success, responses=key_write(404))
def remove_group(body: NamedGroup, write: WriteOf) -> Response:
    """Remove a group. Its id is removed from all usage keys and is never reused."""
    with write.charged() as accounts:
        accounts.remove_group(write.acting_key, int(body.group_id))
    return success()


@router.get("/list_groups", response_model=list[GroupItem], responses=key_read())
def list_groups(page: PageQuery, caller: CallerOf, node: NodeOf) -> Response:
    """The account's groups in creation order, the newest last."""
    groups = node.accounts.groups(caller.account_hash, page.page_number, page.page_size)
    return answer([{"id": group.id, "name": group.name, "description": group.description} for group in groups])


@router.post("/add_action_to_group", response_model=Success, responses=key_write(404, 409))
def add_action_to_group(body: NewActionOfGroup, write: WriteOf) -> Response:
    """Add an action, named by its raw CID, to a group."""
    with write.charged() as accounts:
        accounts.add_action_to_group(write.acting_key, body.group_id, cid_hash(body.action_ipfs_cid))
    return success()


@router.post("/remove_action_from_group", response_model=Success, responses=key_write(404))
def remove_action_from_group(body: ActionOfGroup, write: WriteOf) -> Response:
    """Remove an action, named by its hashed CID, from a group; all zeros name the wildcard."""
    with write.charged() as accounts:
        accounts.remove_action_from_group(write.acting_key, body.group_id, hash_bytes(body.hashed_cid))
    return success()


@router.post("/add_pkp_to_group", response_model=Success, responses=key_write(404, 409))
def add_pkp_to_group(body: WalletOfGroup, write: WriteOf) -> Response:
    """Add a wallet of the account to a group."""
    with write.charged() as accounts:
        accounts.add_pkp_to_group(write.acting_key, body.group_id, hash_bytes(body.pkp_id))
    return success()


@router.post("/remove_pkp_from_group", response_model=Success, responses=key_write(404))
def remove_pkp_from_group(body: WalletOfGroup, write: WriteOf) -> Response:
    """Remove a wallet from a group."""
    with write.charged() as accounts:
        accounts.remove_pkp_from_group(write.acting_key, body.group_id, hash_bytes(body.pkp_id))
    return success()


def _lists(body: PermittedLists) -> tuple[list[bytes], list[bytes]]:
    """A group's two lists in the contract's form."""
    pkp_ids = [hash_bytes(pkp_id) for pkp_id in body.pkp_ids_permitted]
    return pkp_ids, [permitted_cid_bytes(entry) for entry in body.cid_hashes_permitted]
