"""What a variant is, and what several of them need."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from conformance.selftest.alter import Received
from reference_node.node import Node

ARRAYS = ("manage_ipfs_ids_in_groups", "add_pkp_to_groups", "remove_pkp_from_groups", "execute_in_groups")
PERMISSIONS = ("can_create_groups", "can_delete_groups", "can_create_pkps", *ARRAYS)
GROUP_LISTS = ("pkp_ids_permitted", "cid_hashes_permitted")
LISTS = ("list_groups", "list_api_keys", "list_wallets", "list_wallets_in_group", "list_actions")
ON_GROUPS = ("add_action_to_group", "remove_action_from_group", "add_pkp_to_group", "remove_pkp_from_group")
SILENT_WRITES = (
    *ON_GROUPS,
    "remove_usage_api_key",
    "update_usage_api_key",
    "update_usage_api_key_metadata",
    "add_group",
    "update_group",
    "remove_group",
    "add_action",
    "delete_action",
    "update_action_metadata",
)
"""The writes for whose answers the specification shows nothing."""
WRITES = (*SILENT_WRITES, "new_account", "add_usage_api_key", "create_wallet")
EVERYTHING = (*LISTS, *WRITES, "account_exists", "convert_to_chain_secured_account")

Members = dict[str, JsonValue]


@dataclass(frozen=True)
class Variant:
    """A correct node unlike the reference node."""

    name: str
    choices: str
    """What it does otherwise, the function's docstring."""
    profile: Members
    """What it says of itself, beside what the reference node says."""
    alter: Callable[[Node], None]


VARIANTS: dict[str, Variant] = {}


def variant(profile: Members) -> Callable[[Callable[[Node], None]], Variant]:
    """Enter the decorated function, which turns a freshly built node into one that chose otherwise."""

    def enter(alter: Callable[[Node], None]) -> Variant:
        name = alter.__name__.replace("_", "-")
        VARIANTS[name] = Variant(name, " ".join((alter.__doc__ or "").split()), profile, alter)
        return VARIANTS[name]

    return enter


def each(change: Callable[[Members], Members]) -> Callable[[list[JsonValue]], JsonValue]:
    """A change of every item of a list."""
    return lambda items: [change(item) if isinstance(item, dict) else item for item in items]


def members_of(change: Callable[[Members], JsonValue]) -> Callable[[JsonValue], JsonValue]:
    """A change of an object; other values stay as they are."""
    return lambda value: change(value) if isinstance(value, dict) else value


def presented(request: Received) -> bytes | None:
    """The secret bytes of the key in either header."""
    headers = dict(request.headers)
    text = headers.get(b"x-api-key") or headers.get(b"authorization", b"").removeprefix(b"Bearer ")
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None
