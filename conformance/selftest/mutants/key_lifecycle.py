"""Faults about usage keys that are made, updated, renamed and removed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace

from pydantic import JsonValue

from conformance.selftest.tools.accounts import NOTHING, Write, account_of, permissions_of
from conformance.selftest.tools.alter import change_body, members, wrap
from conformance.selftest.tools.alter_permissions import change_permissions, updated_to
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Permissions, UsageKey
from reference_node.node import Node
from reference_node.permission.keys import key_hash, new_secret, parse_key


def _both(one: Permissions, other: Permissions) -> Permissions:
    return Permissions(
        one.can_create_groups or other.can_create_groups,
        one.can_delete_groups or other.can_delete_groups,
        one.can_create_pkps or other.can_create_pkps,
        [*one.manage_ipfs_ids_in_groups, *other.manage_ipfs_ids_in_groups],
        [*one.add_pkp_to_groups, *other.add_pkp_to_groups],
        [*one.remove_pkp_from_groups, *other.remove_pkp_from_groups],
        [*one.execute_in_groups, *other.execute_in_groups],
    )


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

    def usage_keys(view: Callable[..., list[UsageKey]], account: int, page: int, size: int) -> list[UsageKey]:
        shown = [key for key in view(account, 0, 100) if key.key_hash in updated]
        return shown[page * size : (page + 1) * size]

    wrap(node.accounts, "usage_keys", usage_keys)


@mutant("KEYLIFE-030", also="EP-130 EXEC-230 KEYLIFE-200 LIST-170")
def update_adds_permissions(node: Node) -> None:
    """Add the permissions of an update to those that the key has."""
    updated_to(node, _both)


@mutant("KEYLIFE-030", also="EP-130 EXEC-230 KEYLIFE-200 LIST-170")
def update_keeps_group_ids(node: Node) -> None:
    """Replace the bools in an update, and add to the arrays."""

    def change(before: Permissions, sent: Permissions) -> Permissions:
        return replace(
            _both(before, sent),
            can_create_groups=sent.can_create_groups,
            can_delete_groups=sent.can_delete_groups,
            can_create_pkps=sent.can_create_pkps,
        )

    updated_to(node, change)


@mutant("KEYLIFE-030", also="EP-130 KEYLIFE-200 LIST-170")
def false_in_an_update_counts_as_left_out(node: Node) -> None:
    """Keep a bool that an update sends as false."""

    def change(before: Permissions, sent: Permissions) -> Permissions:
        return replace(
            sent,
            can_create_groups=sent.can_create_groups or before.can_create_groups,
            can_delete_groups=sent.can_delete_groups or before.can_delete_groups,
            can_create_pkps=sent.can_create_pkps or before.can_create_pkps,
        )

    updated_to(node, change)


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


@mutant("KEYLIFE-020", also="EP-130 EXEC-230 KEYLIFE-200 LIST-170")
def update_only_takes_away(node: Node) -> None:
    """Withdraw permissions in an update, and grant none."""

    def change(before: Permissions, sent: Permissions) -> Permissions:
        return replace(
            NOTHING,
            can_create_groups=sent.can_create_groups and before.can_create_groups,
            can_delete_groups=sent.can_delete_groups and before.can_delete_groups,
            can_create_pkps=sent.can_create_pkps and before.can_create_pkps,
            manage_ipfs_ids_in_groups=_common(sent.manage_ipfs_ids_in_groups, before.manage_ipfs_ids_in_groups),
            add_pkp_to_groups=_common(sent.add_pkp_to_groups, before.add_pkp_to_groups),
            remove_pkp_from_groups=_common(sent.remove_pkp_from_groups, before.remove_pkp_from_groups),
        )

    updated_to(node, change)


def _common(one: object, other: object) -> list[int]:
    return [group for group in one if group in other] if isinstance(one, list) and isinstance(other, list) else []


@mutant("KEYLIFE-020", also="EP-130 KEYLIFE-200 LIST-170")
def update_forgets_the_remove_permission(node: Node) -> None:
    """Drop `remove_pkp_from_groups` from an update."""
    updated_to(node, lambda _, sent: replace(sent, remove_pkp_from_groups=[]))


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
    return [other.key_hash for other in node.accounts.usage_keys(account, 0, 100) if other.name == name]


@mutant("KEYLIFE-050")
def update_finds_keys_by_name(node: Node) -> None:
    """Update every key of the account with the same name."""

    def update(write: Write, acting_key: int, key: int, *arguments: object) -> None:
        for named in _of_the_same_name(node, acting_key, key):
            write(acting_key, named, *arguments)

    wrap(node.accounts, "update_usage_key", update)


@mutant("KEYLIFE-050")
def removal_finds_keys_by_name(node: Node) -> None:
    """Remove every key of the account with the same name."""

    def remove(write: Write, acting_key: int, key: int) -> None:
        for named in _of_the_same_name(node, acting_key, key):
            write(acting_key, named)

    wrap(node.accounts, "remove_usage_key", remove)


@mutant("KEYLIFE-050", "KEYLIFE-090", "EP-120")
def removal_takes_all_keys(node: Node) -> None:
    """Remove every key of the account with a removed one."""

    def remove(write: Write, acting_key: int, key: int) -> None:
        write(acting_key, key)
        for other in node.accounts.usage_keys(acting_key, 0, 100):
            write(acting_key, other.key_hash)

    wrap(node.accounts, "remove_usage_key", remove)


@mutant("KEYLIFE-060", "EP-140", also="LIST-170")
def metadata_update_keeps_the_description(node: Node) -> None:
    """Replace only the name in a metadata update."""

    def rename(write: Write, acting_key: int, key: int, name: str, _: str) -> None:
        write(acting_key, key, name, node.accounts.usage_key(acting_key, key).description)

    wrap(node.accounts, "update_usage_key_metadata", rename)


@mutant(
    "KEYLIFE-060",
    each=[
        row("the-name-that-it-had", lambda former, _: former),
        row("the-key", lambda _, key: key, also="UKEY-360 UKEY-370"),
    ],
    also="EP-140 LIST-170",
)
def empty_name_becomes_another(node: Node, name_of: Callable[[JsonValue, JsonValue], JsonValue]) -> None:
    """Write another name in a metadata update whose name is empty; the label says which."""
    names: dict[JsonValue, JsonValue] = {}

    def named(body: JsonValue) -> JsonValue:
        given = members(body)
        key = given.get("usage_api_key")
        name = name_of(names.get(key, "unnamed"), key) if given.get("name") == "" else given.get("name")
        names[key] = name
        return {**given, "name": name} if given.get("name") == "" else body

    change_body(node, "update_usage_api_key_metadata", named)


@mutant("KEYLIFE-060")
def metadata_update_renames_all_keys(node: Node) -> None:
    """Rename every key of the account in a metadata update."""

    def rename(write: Write, acting_key: int, named: int, *labels: str) -> None:
        write(acting_key, named, *labels)
        for key in node.accounts.usage_keys(acting_key, 0, 100):
            write(acting_key, key.key_hash, *labels)

    wrap(node.accounts, "update_usage_key_metadata", rename)


@mutant("KEYLIFE-070")
def metadata_update_resets_permissions(node: Node) -> None:
    """Clear the key's permissions in a metadata update."""

    def rename(_: Write, acting_key: int, key: int, name: str, description: str) -> None:
        node.accounts.update_usage_key(acting_key, key, name, description, NOTHING)

    wrap(node.accounts, "update_usage_key_metadata", rename)


@mutant("KEYLIFE-070")
def metadata_update_grants_creation(node: Node) -> None:
    """Turn the three bools on in a metadata update."""

    def rename(_: Write, acting_key: int, key: int, name: str, description: str) -> None:
        before = permissions_of(node, key) or NOTHING
        given = replace(before, can_create_groups=True, can_delete_groups=True, can_create_pkps=True)
        node.accounts.update_usage_key(acting_key, key, name, description, given)

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


@mutant("KEYLIFE-090", also="KEYLIFE-100 KEYLIFE-120")
def removal_only_empties_the_key(node: Node) -> None:
    """Clear a removed key's permissions, and keep it in the list."""

    def remove(_: Write, acting_key: int, key: int) -> None:
        node.accounts.update_usage_key(acting_key, key, "removed", "", NOTHING)

    wrap(node.accounts, "remove_usage_key", remove)


@mutant("KEYLIFE-090")
def removed_keys_stay_on_small_pages(node: Node) -> None:
    """Keep removed keys on pages of one item."""
    everything: dict[int, dict[int, UsageKey]] = {}

    def read(view: Callable[..., list[UsageKey]], account: int, page: int, size: int) -> list[UsageKey]:
        if size > 1:
            return view(account, page, size)
        ever = everything.setdefault(account, {})
        ever.update({key.key_hash: key for key in view(account, 0, 100)})
        return [*ever.values()][page : page + 1]

    def remove(write: Write, acting_key: int, key: int) -> None:
        node.accounts.usage_keys(account_of(node, acting_key), 0, 1)
        write(acting_key, key)

    wrap(node.accounts, "usage_keys", read)
    wrap(node.accounts, "remove_usage_key", remove)
