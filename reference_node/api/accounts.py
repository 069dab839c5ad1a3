"""Specification: "Account and key management"."""

from __future__ import annotations

import base64

from eth_utils.address import to_checksum_address
from fastapi import APIRouter, Response

from reference_node.api.access import CallerOf, NodeOf, PresentedSecret, WriteOf
from reference_node.api.answers import CreatedAccount, CreatedUsageKey, Success, UsageKeyItem
from reference_node.api.openapi import BODY, key_read, key_write, problems
from reference_node.api.requests import (
    NamedUsageKey,
    NewAccount,
    NewUsageKey,
    PageQuery,
    UsageKeyLabels,
    UsageKeyUpdate,
)
from reference_node.api.route import StrictRoute, answer, success
from reference_node.chain.account_config import UsageKey
from reference_node.fields import hash_text
from reference_node.permission.keys import address_of, key_hash, key_text, new_secret
from reference_node.strict_json import Json

router = APIRouter(route_class=StrictRoute, tags=["Account and key management"])


@router.post("/new_account", response_model=CreatedAccount, responses=problems(*BODY, 422, 503))
def new_account(body: NewAccount, node: NodeOf) -> Response:
    """Create an account in API mode. It is free, since there is no account to charge yet."""
    secret = new_secret()
    wallet = address_of(secret)
    node.accounts.new_account(key_hash(secret), wallet, body.account_name, body.account_description)
    node.billing.open_record(wallet)
    if body.email and node.payments:
        node.payments.forward_email(wallet, body.email)
    return answer({"api_key": key_text(secret), "wallet_address": to_checksum_address(wallet)})


@router.get("/account_exists", response_model=bool, responses=problems(401, 422, 503))
def account_exists(secret: PresentedSecret, node: NodeOf) -> Response:
    """Whether the presented key is an account key. A ChainSecured account has no account key."""
    info = node.accounts.key_info(key_hash(secret))
    return answer(info.is_account_key and info.managed)


@router.post("/add_usage_api_key", response_model=CreatedUsageKey, responses=key_write(404))
def add_usage_api_key(body: NewUsageKey, write: WriteOf) -> Response:
    """Create a usage key."""
    secret = new_secret()
    key = UsageKey(key_hash(secret), 0, 0, body.name, body.description, body.permissions())
    with write.charged() as accounts:
        accounts.set_usage_key(write.acting_key, key)
    return answer({"success": True, "usage_api_key": key_text(secret)})


@router.post("/remove_usage_api_key", response_model=Success, responses=key_write(404))
def remove_usage_api_key(body: NamedUsageKey, write: WriteOf) -> Response:
    """Remove a usage key."""
    with write.charged() as accounts:
        accounts.remove_usage_key(write.acting_key, _hash_of(body))
    return success()


@router.post("/update_usage_api_key", response_model=Success, responses=key_write(404))
def update_usage_api_key(body: UsageKeyUpdate, write: WriteOf) -> Response:
    """Replace all nine values of a usage key; a permission left out is revoked."""
    with write.charged() as accounts:
        accounts.update_usage_key(write.acting_key, _hash_of(body), body.name, body.description, body.permissions())
    return success()


@router.post("/update_usage_api_key_metadata", response_model=Success, responses=key_write(404))
def update_usage_api_key_metadata(body: UsageKeyLabels, write: WriteOf) -> Response:
    """Replace a usage key's name and description."""
    with write.charged() as accounts:
        accounts.update_usage_key_metadata(write.acting_key, _hash_of(body), body.name, body.description)
    return success()


@router.get("/list_api_keys", response_model=list[UsageKeyItem], responses=key_read())
def list_api_keys(page: PageQuery, caller: CallerOf, node: NodeOf) -> Response:
    """The account's usage keys, oldest first, without the keys themselves."""
    keys = node.accounts.usage_keys(caller.account_hash, page.page_number, page.page_size)
    return answer([_item(key) for key in keys])


def _hash_of(body: NamedUsageKey | UsageKeyUpdate) -> int:
    return key_hash(base64.b64decode(body.usage_api_key))


def _item(key: UsageKey) -> Json:
    permissions = key.permissions
    return {
        "api_key_hash": hash_text(key.key_hash.to_bytes(32)),
        "name": key.name,
        "description": key.description,
        "expiration": key.expiration,
        "balance": key.balance,
        "can_create_groups": permissions.can_create_groups,
        "can_delete_groups": permissions.can_delete_groups,
        "can_create_pkps": permissions.can_create_pkps,
        "manage_ipfs_ids_in_groups": list(permissions.manage_ipfs_ids_in_groups),
        "add_pkp_to_groups": list(permissions.add_pkp_to_groups),
        "remove_pkp_from_groups": list(permissions.remove_pkp_from_groups),
        "execute_in_groups": list(permissions.execute_in_groups),
    }
