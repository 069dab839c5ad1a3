"""Specification: "Wallets and actions"; the run of an action is in `runs`."""

from __future__ import annotations

from typing import Annotated

from eth_utils.address import to_checksum_address
from fastapi import APIRouter, Body, Response
from pydantic import Field

from reference_node.api.access import CallerOf, NodeOf, WriteOf
from reference_node.api.answers import ActionItem, CreatedWallet, Success, WalletItem
from reference_node.api.openapi import BODY, key_read, key_write, problems
from reference_node.api.requests import (
    ActionLabels,
    NamedAction,
    NewAction,
    PageOfActionsQuery,
    PageOfGroupQuery,
    PageQuery,
)
from reference_node.api.route import StrictRoute, answer, success
from reference_node.chain.account_config import Wallet
from reference_node.fields import hash_bytes, hash_text
from reference_node.permission.cid import cid_hash, cid_of
from reference_node.permission.keys import address_of, new_derivation_path
from reference_node.strict_json import Json

router = APIRouter(route_class=StrictRoute, tags=["Wallets and actions"])


@router.post("/create_wallet", response_model=CreatedWallet, responses=key_write(body=False))
def create_wallet(write: WriteOf) -> Response:
    """Derive a new wallet (PKP) and register it to the account. Takes no body."""
    derivation_path = new_derivation_path()
    wallet = address_of(write.node.keys.wallet_key(derivation_path))
    with write.charged() as accounts:
        accounts.create_wallet(write.acting_key, wallet, derivation_path, "", "")
    return answer({"wallet_address": to_checksum_address(wallet)})


@router.get("/list_wallets", response_model=list[WalletItem], responses=key_read())
def list_wallets(page: PageQuery, caller: CallerOf, node: NodeOf) -> Response:
    """The account's wallets in creation order."""
    wallets = node.accounts.wallets(caller.account_hash, page.page_number, page.page_size)
    return answer([_wallet_item(wallet) for wallet in wallets])


@router.get("/list_wallets_in_group", response_model=list[WalletItem], responses=key_read(404))
def list_wallets_in_group(page: PageOfGroupQuery, caller: CallerOf, node: NodeOf) -> Response:
    """A group's wallets in the order they were added. The wildcard is an all-zero entry."""
    wallets = node.accounts.wallets_in_group(caller.account_hash, page.group_id, page.page_number, page.page_size)
    return answer([_wallet_item(wallet) for wallet in wallets])


@router.get("/list_actions", response_model=list[ActionItem], responses=key_read(404))
def list_actions(page: PageOfActionsQuery, caller: CallerOf, node: NodeOf) -> Response:
    """The actions of the group `group_id`; without it, the actions registered to the account."""
    window = (page.page_number, page.page_size)
    if page.group_id is None:
        actions = node.accounts.actions(caller.account_hash, *window)
    else:
        actions = node.accounts.actions_in_group(caller.account_hash, page.group_id, *window)
    return answer(
        [
            {"hashed_cid": hash_text(action.cid_hash), "name": action.name, "description": action.description}
            for action in actions
        ]
    )


@router.post("/add_action", response_model=Success, responses=key_write(409))
def add_action(body: NewAction, write: WriteOf) -> Response:
    """Register a name and description for an action, named by its raw CID."""
    with write.charged() as accounts:
        accounts.add_action(write.acting_key, cid_hash(body.action_ipfs_cid), body.name, body.description)
    return success()


@router.post("/delete_action", response_model=Success, responses=key_write(404))
def delete_action(body: NamedAction, write: WriteOf) -> Response:
    """Delete an action, named by its hashed CID, from the account and all its groups."""
    with write.charged() as accounts:
        accounts.delete_action(write.acting_key, hash_bytes(body.hashed_cid))
    return success()


@router.post("/update_action_metadata", response_model=Success, responses=key_write(404))
def update_action_metadata(body: ActionLabels, write: WriteOf) -> Response:
    """Replace the name and description of a registered action."""
    with write.charged() as accounts:
        accounts.update_action_metadata(write.acting_key, hash_bytes(body.hashed_cid), body.name, body.description)
    return success()


def branded_router(slug: str) -> APIRouter:
    """The endpoint whose path holds the brand word."""
    branded = APIRouter(route_class=StrictRoute, tags=["Wallets and actions"])

    @branded.post(
        f"/get_{slug}_action_ipfs_id",
        name="get_action_ipfs_id",
        response_model=str,
        responses=problems(*BODY, 422),
    )
    def get_action_ipfs_id(code: Annotated[str, Body(), Field(strict=True)]) -> Response:
        """The CID that `ipfs add` computes for a file with this code. The body is a JSON string. Needs no key."""
        return answer(cid_of(code.encode()))

    return branded


def _wallet_item(wallet: Wallet) -> Json:
    return {
        "id": hash_text(wallet.id),
        "name": wallet.name,
        "description": wallet.description,
        "wallet_address": to_checksum_address(wallet.address),
    }
