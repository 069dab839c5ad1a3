"""Faults about usage keys that are made, updated, renamed and removed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import count

from pydantic import JsonValue

from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSIONS
from conformance.selftest.tools.accounts import NOTHING, Write, account_of, change_list, permissions_of, whole
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    body_of,
    change_body,
    intercept,
    members,
    wrap,
)
from conformance.selftest.tools.alter_permissions import change_permissions
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import Permissions, UsageKey
from reference_node.node import Node
from reference_node.permission.keys import key_hash, new_secret, parse_key


@mutant(
    "KEYLIFE-010",
    also="AUTH-150 AUTH-160 EP-110 EXEC-010 EXEC-240 SCOPE-010 SCOPE-020 SCOPE-030 SCOPE-040 SCOPE-050 SCOPE-060 "
    "SCOPE-070 SCOPE-080 UKEY-010 UKEY-040 UKEY-060 UKEY-080 UKEY-100 UKEY-120 UKEY-140 UKEY-160 UKEY-180 UKEY-200 "
    "UKEY-220 UKEY-240 UKEY-260 UKEY-280 UKEY-290 UKEY-310 UKEY-460",
)
def new_usage_keys_hold_nothing(node: Node) -> None:
    """Create usage keys without permissions; only an update gives them."""
    change_permissions(node, lambda *_: NOTHING)


@mutant("KEYLIFE-010", also="ACC-100 LIST-170 UKEY-010")
def new_usage_keys_are_not_listed(node: Node) -> None:
    """Show a usage key in `list_api_keys` only after its first update."""
    updated: set[int] = set()

    def update(write: Write, acting_key: int, key: int, *arguments: object) -> None:
        write(acting_key, key, *arguments)
        updated.add(key)

    wrap(node.accounts, "update_usage_key", update)
    wrap(node.accounts, "update_usage_key_metadata", update)
    change_list(node, "usage_keys", lambda _, found: [key for key in found if key.key_hash in updated])


@mutant("KEYLIFE-030")
def left_out_permissions_survive_an_update(node: Node) -> None:
    """Accept an update without permission fields, and keep the permissions."""

    def filled(value: JsonValue) -> JsonValue:
        body = members(value)
        secret = parse_key(str(body.get("usage_api_key")))
        kept = permissions_of(node, key_hash(secret)) if secret else None
        if kept is None or body.keys() & asdict(kept).keys():
            return value
        return {**body, **json.loads(json.dumps(asdict(kept)))}

    change_body(node, "update_usage_api_key", filled)


def _look_alike(one: Sequence[int], other: Sequence[int]) -> bool:
    return len(one) == len(other) and max(one, default=0) == max(other, default=0)


@mutant("KEYLIFE-020", also="KEYLIFE-030 EP-130 EXEC-230 KEYLIFE-150 LIST-170 UKEY-270 UKEY-300")
def arrays_of_the_same_length_and_highest_id_are_kept(node: Node) -> None:
    """Keep a permission array in an update where the new one has as many ids and the same highest id."""

    def update(write: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> None:
        before = permissions_of(node, key) or NOTHING
        arrays = {array: (getattr(before, array), getattr(sent, array)) for array in PERMISSION_ARRAYS}
        kept = {array: old for array, (old, new) in arrays.items() if _look_alike(old, new)}
        write(acting_key, key, name, description, replace(sent, **kept))

    wrap(node.accounts, "update_usage_key", update)


@mutant("KEYLIFE-030", "EXEC-230", also="EP-130 KEYLIFE-150 LIST-170 UKEY-270 UKEY-290")
def shorter_arrays_keep_the_end_of_the_former(node: Node) -> None:
    """Write `execute_in_groups` of an update over the former array place by place; an empty one empties it."""

    def update(write: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> None:
        former, groups = (permissions_of(node, key) or NOTHING).execute_in_groups, sent.execute_in_groups
        kept = [*groups, *former[len(groups) :]] if groups else []
        write(acting_key, key, name, description, replace(sent, execute_in_groups=kept))

    wrap(node.accounts, "update_usage_key", update)


@mutant("KEYLIFE-040", also="EP-130 EXEC-230 KEYLIFE-020")
def update_makes_another_key(node: Node) -> None:
    """Remove the key in an update, and create one with a fresh secret that nobody gets."""

    def update(_: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> None:
        node.accounts.remove_usage_key(acting_key, key)
        fresh = UsageKey(key_hash(new_secret()), 0, 0, name, description, sent)
        node.accounts.set_usage_key(acting_key, fresh)

    wrap(node.accounts, "update_usage_key", update)


def _of_the_same_name(node: Node, account: int, key: int) -> list[int]:
    name = node.accounts.usage_key(account, key).name
    return [other.key_hash for other in whole(node.accounts.usage_keys, account) if other.name == name]


@mutant("KEYLIFE-050")
def update_finds_keys_by_name(node: Node) -> None:
    """Update every key of the account with the same name."""

    def update(write: Write, acting_key: int, key: int, *arguments: object) -> None:
        for named in _of_the_same_name(node, acting_key, key):
            write(acting_key, named, *arguments)

    wrap(node.accounts, "update_usage_key", update)


@mutant("KEYLIFE-050", "KEYLIFE-090", "EP-120")
def removal_takes_all_keys(node: Node) -> None:
    """Remove every key of the account with a removed one."""

    def remove(write: Write, acting_key: int, key: int) -> None:
        write(acting_key, key)
        for other in whole(node.accounts.usage_keys, acting_key):
            write(acting_key, other.key_hash)

    wrap(node.accounts, "remove_usage_key", remove)


@mutant("KEYLIFE-060", "EP-140", also="LIST-170")
def metadata_update_keeps_the_description(node: Node) -> None:
    """Replace only the name in a metadata update."""

    def rename(write: Write, acting_key: int, key: int, name: str, _: str) -> None:
        write(acting_key, key, name, node.accounts.usage_key(account_of(node, acting_key), key).description)

    wrap(node.accounts, "update_usage_key_metadata", rename)


@mutant("KEYLIFE-070")
def metadata_update_names_each_group_once(node: Node) -> None:
    """Take the groups of `execute_in_groups` out of `add_pkp_to_groups` in a metadata update."""

    def rename(_: Write, acting_key: int, key: int, name: str, description: str) -> None:
        before = permissions_of(node, key) or NOTHING
        left = [group for group in before.add_pkp_to_groups if group not in before.execute_in_groups]
        node.accounts.update_usage_key(acting_key, key, name, description, replace(before, add_pkp_to_groups=left))

    wrap(node.accounts, "update_usage_key_metadata", rename)


@mutant("KEYLIFE-080", "KEYLIFE-090", "CHAIN-050", also="ACC-140 EP-120 EXEC-260")
def removal_only_hides_the_key(node: Node) -> None:
    """Hide a removed key from the list of the HTTP API, and let it work on; the contract lists it still."""
    hidden: set[int] = set()

    def remove(write: Write, acting_key: int, key: int) -> None:
        if permissions_of(node, acting_key):
            write(acting_key, key)
        node.accounts.usage_key(acting_key, key)  # refused where it is no key of the account
        hidden.add(key)

    wrap(node.accounts, "remove_usage_key", remove)
    wrap(node.accounts, "usage_keys", lambda view, *page: [key for key in view(*page) if key.key_hash not in hidden])


@mutant("KEYLIFE-090")
def removed_keys_stay_on_small_pages(node: Node) -> None:
    """Keep removed keys on pages of one item."""
    everything: dict[int, dict[int, UsageKey]] = {}

    def read(view: Callable[..., list[UsageKey]], account: int, page: int, size: int) -> list[UsageKey]:
        if size > 1:
            return view(account, page, size)
        ever = everything.setdefault(account, {})
        for number in count():
            keys = view(account, number, 100)
            ever.update({key.key_hash: key for key in keys})
            if len(keys) < 100:
                break
        return [*ever.values()][page : page + 1]

    def remove(write: Write, acting_key: int, key: int) -> None:
        node.accounts.usage_keys(account_of(node, acting_key), 0, 1)
        write(acting_key, key)

    wrap(node.accounts, "usage_keys", read)
    wrap(node.accounts, "remove_usage_key", remove)


@mutant("KEYLIFE-070", also="AUTH-120 EP-140")
def metadata_update_takes_permissions_as_well(node: Node) -> None:
    """Replace the permissions that come with the labels of a metadata update, as in an update."""

    async def rename(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        given = {name: body.pop(name) for name in PERMISSIONS if name in body}
        answered = await forward(request.having(body)) if given else await forward(request)
        secret = parse_key(str(body.get("usage_api_key")))
        kept = permissions_of(node, key_hash(secret)) if secret and given and answered.accepted else None
        if secret and kept:
            key = key_hash(secret)
            changed = replace(kept, **given)  # type: ignore[arg-type]  # the members are those of the request
            node.accounts.update_usage_key(
                account_of(node, key), key, str(body["name"]), str(body["description"]), changed
            )
        return answered

    intercept(node, "update_usage_api_key_metadata", rename)
