"""Specification: "Design-level flow paths", alternative paths for management operations.

Each request is one transaction and one management write, and needs the permissions of the operations it combines.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from reference_node.api import wallets
from reference_node.api.access import WriteOf
from reference_node.api.answers import CreatedWallet, Success
from reference_node.api.openapi import key_write
from reference_node.api.requests import ActionsOfGroupChange, NewWalletsOfGroup
from reference_node.api.route import StrictRoute, success
from reference_node.fields import U64Query, hash_bytes
from reference_node.permission.cid import cid_hash

router = APIRouter(route_class=StrictRoute, tags=["Design-level flow paths"])

GroupId = Annotated[U64Query, Path(description="The group's id.")]


@router.post("/groups/{group_id}/actions", response_model=Success, responses=key_write(404, 409))
def change_actions_of_group(group_id: GroupId, body: ActionsOfGroupChange, write: WriteOf) -> Response:
    """Add actions to a group and remove others, all or nothing. Actions are named by their raw CIDs."""
    added, removed = ([cid_hash(cid) for cid in cids] for cids in (body.add, body.remove))
    with write.charged() as accounts:
        accounts.change_actions_of_group(write.acting_key, group_id, added, removed)
    return success()


@router.post("/groups/{group_id}/pkps", response_model=Success, responses=key_write(404, 409))
def add_pkps_to_group(group_id: GroupId, body: NewWalletsOfGroup, write: WriteOf) -> Response:
    """Add wallets of the account to a group, all or nothing."""
    with write.charged() as accounts:
        accounts.add_pkps_to_group(write.acting_key, group_id, [hash_bytes(pkp_id) for pkp_id in body.add])
    return success()


@router.post("/pkps/create", response_model=CreatedWallet, responses=key_write(body=False))
def create_pkp(write: WriteOf) -> Response:
    """Derive a new wallet (PKP) and register it to the account. Takes no body."""
    return wallets.create_wallet(write)
