"""Defines variants, and what several of them need."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce

from pydantic import JsonValue

from conformance.selftest.tools.alter import Received
from reference_node.node import Node

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
PAID_FOR = ("billing/balance", "billing/create_payment_intent", "billing/confirm_payment")
"""The endpoints of billing that take a key."""
EVERYTHING = (*LISTS, *WRITES, "account_exists", "convert_to_chain_secured_account")

Members = dict[str, JsonValue]


@dataclass(frozen=True)
class Choices:
    """What a correct node does unlike the reference node."""

    profile: Members
    """What such a node says of itself, beside what the reference node says."""
    alter: Callable[[Node], None]


def choices(profile: Members) -> Callable[[Callable[[Node], None]], Choices]:
    """Make the decorated function, which alters a freshly built node, a variant with this profile."""
    return partial(Choices, profile)


def together(*parts: Choices) -> Choices:
    """Combine variants in one node."""

    def alter(node: Node) -> None:
        for part in parts:
            part.alter(node)

    return Choices(reduce(merged, (part.profile for part in parts)), alter)


def merged(one: Members, other: Members) -> Members:
    """Merge two objects, and objects inside them; of other members that both have, keep the second's."""
    both = dict(one)
    for name, value in other.items():
        before = both.get(name)
        both[name] = merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return both


def each(change: Callable[[Members], Members]) -> Callable[[list[JsonValue]], JsonValue]:
    """Make a change of each item one of the list."""
    return lambda items: [change(item) if isinstance(item, dict) else item for item in items]


def members_of(change: Callable[[Members], JsonValue]) -> Callable[[JsonValue], JsonValue]:
    """Make a change of an object one of any value; other values stay as they are."""
    return lambda value: change(value) if isinstance(value, dict) else value


def presented(request: Received) -> bytes | None:
    """Return the secret bytes of the key in either header; None where it is no base64."""
    headers = dict(request.headers)
    text = headers.get(b"x-api-key") or headers.get(b"authorization", b"").removeprefix(b"Bearer ")
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None


def newest_first(view: Callable[..., list[object]], *arguments: int) -> list[object]:
    """Answer a page of one of the gateway's lists in the opposite order."""
    *whose, page, size = arguments
    items: list[object] = []
    while len(items) % 100 == 0:
        more = view(*whose, len(items) // 100, 100)
        items += more
        if not more:
            break
    items.reverse()
    return items[page * size : (page + 1) * size]
