"""Faults that show in accounts which hold much: ids of several digits, long lists, records that begin alike."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl

from pydantic import JsonValue

from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.selftest.tools.accounts import Hashes, View, Write, account_of, lists_of, whole
from conformance.selftest.tools.alter import Answered, Forward, Received, change_body, intercept, members, wrap
from conformance.selftest.tools.alter_runs import Lists, all_groups, decide, own_groups
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Action, Group, Permissions, UsageKey
from reference_node.node import Node

MOST = 50
BYTE = 256
ADDS, UPDATES = "add_usage_api_key", "update_usage_api_key"


@mutant("LIST-010", "LIST-020")
def groups_are_sorted_by_the_text_of_their_ids(node: Node) -> None:
    """List group 10 before group 2."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        return sorted(whole(view, account), key=lambda group: str(group.id))[page * size : (page + 1) * size]

    wrap(node.accounts, "groups", groups)


@mutant(
    "LIST-050",
    each=[
        row("list_groups", also="LIST-020"),
        "list_api_keys",
        row("list_wallets", also="EP-230"),
        row("list_wallets_in_group", also="EP-240 GRPLIFE-040"),
    ],
    also="LIST-170",
)
def lists_end_after_fifty_items(node: Node, operation: str) -> None:
    """List no more than the first 50 items of `{operation}`, on pages of at most 50."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        query = dict(parse_qsl(request.query))
        if not given.accepted:
            return given
        page, size = int(query.get("page_number", "0")), int(query.get("page_size", "20"))
        return replace(given, body=b"[]") if size <= MOST <= page * size else given

    intercept(node, operation, handler)


@mutant(
    "LIST-050",
    each=[
        row("10-actions", "list_actions", 10),
        row("16-wallets", "list_wallets", 16, also="EP-230"),
        row("32-keys", "list_api_keys", 32),
        row("50-groups", "list_groups", 50),
    ],
    also="LIST-020 LIST-170",
)
def pages_of_one_size_lack_an_item(node: Node, operation: str, size: int) -> None:
    """Leave out the last item of a full page of `{operation}` with {size} items."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        query = dict(parse_qsl(request.query))
        if not given.accepted or query.get("page_size") != str(size):
            return given
        items = json.loads(given.body)
        return replace(given, body=json.dumps(items[: size - 1]).encode())

    intercept(node, operation, handler)


@mutant("LIST-050", also="EP-230 LIST-170")
def large_pages_of_wallets_are_cut(node: Node) -> None:
    """Show no more than 50 wallets on a page of `list_wallets`, and go on behind those that were asked for."""
    wrap(node.accounts, "wallets", lambda view, account, *page: view(account, *page)[:MOST])


@mutant(
    each=[
        row("10-to-manage", ADDS, "manage_ipfs_ids_in_groups", 10, breaks="UKEY-290", also="UKEY-010"),
        row("64-to-execute", ADDS, "execute_in_groups", 64, breaks="UKEY-290", also="EXEC-350 UKEY-010"),
        row("100-to-add", UPDATES, "add_pkp_to_groups", 100, breaks="KEYLIFE-020"),
        row("255-to-remove", UPDATES, "remove_pkp_from_groups", 255, breaks="KEYLIFE-020"),
    ],
)
def arrays_of_keys_are_cut(node: Node, operation: str, array: str, most: int) -> None:
    """Keep the first {most} groups of `{array}` in `{operation}`, and drop the others with success."""
    change_body(node, operation, lambda value: _changed(value, array, lambda named: named[:most]))


@mutant(
    each=[
        row("eleventh-wallet", "pkp_ids_permitted", 10, breaks="GRP-040"),
        row("tenth-action", "cid_hashes_permitted", 9, breaks="GRP-050"),
    ]
)
def new_groups_lose_one_entry(node: Node, array: str, place: int) -> None:
    """Drop one entry of a longer `{array}` in `add_group` with success; the label says which."""
    change_body(
        node, "add_group", lambda value: _changed(value, array, lambda named: [*named[:place], *named[place + 1 :]])
    )


def _changed(value: JsonValue, array: str, change: Callable[[list[JsonValue]], list[JsonValue]]) -> JsonValue:
    named = members(value).get(array)
    return {**members(value), array: change(named)} if isinstance(named, list) else value


@mutant("EXEC-010", also="GRP-040 GRP-060")
def wallets_are_in_64_groups_at_most(node: Node) -> None:
    """Drop from a new group, with success, the wallets that stand in 64 groups of the account already."""
    groups: Counter[tuple[int, bytes]] = Counter()

    def add(write: Callable[..., int], key: int, name: str, description: str, pkps: Hashes, cids: Hashes) -> int:
        account = account_of(node, key)
        kept = [pkp for pkp in pkps if groups[account, pkp] < 64]
        groups.update((account, pkp) for pkp in kept)
        return write(key, name, description, kept, cids)

    wrap(node.accounts, "add_group", add)


LISTED = 32


@mutant(
    each=[
        row("wallets", lambda pkps, cids: (pkps[:LISTED], cids), breaks="GRPLIFE-040"),
        row("actions", lambda pkps, cids: (pkps, cids[:LISTED]), breaks="GRPLIFE-050"),
    ]
)
def updates_keep_32_entries(node: Node, kept: Callable[..., Sequence[object]]) -> None:
    """Keep the first 32 entries of a list in `update_group`, and drop the others with success; the label says which."""
    wrap(node.accounts, "update_group", lambda write, key, group, *lists: write(key, group, *kept(*lists)))


@mutant(
    each=[
        row("wallets", lambda lists: (lists[0], []), breaks="GRPLIFE-040"),
        row("actions", lambda lists: ([], lists[1]), breaks="GRPLIFE-050"),
    ]
)
def updates_take_away_20_entries(node: Node, of: Callable[..., Sequence[Sequence[bytes]]]) -> None:
    """Leave in a group what stood behind its first 20 entries before `update_group`; the label says of which list."""

    def update(write: Write, acting_key: int, group: Group, *given: Sequence[bytes]) -> None:
        pkps, cids = lists_of(node, acting_key, group.id)
        left = of((pkps[20:], cids[20:]))
        both = [[*new, *(one for one in old if one not in new)] for new, old in zip(given, left, strict=True)]
        write(acting_key, group, *both)

    wrap(node.accounts, "update_group", update)


@mutant("LIST-050", also="LIST-170")
def usage_keys_end_at_200(node: Node) -> None:
    """List the first 200 usage keys of an account and no more."""
    wrap(
        node.accounts,
        "usage_keys",
        lambda view, account, page, size: view(account, page, size)[: max(0, 200 - page * size)],
    )


@mutant("MODE-080", also="LIST-050 LIST-170")
def conversion_keeps_20_usage_keys(node: Node) -> None:
    """List the first 20 usage keys of a converted account and no more."""

    def usage_keys(view: Callable[..., list[UsageKey]], account: int, page: int, size: int) -> list[UsageKey]:
        found = view(account, page, size)
        return found if node.accounts.account(account).managed else found[: max(0, 20 - page * size)]

    wrap(node.accounts, "usage_keys", usage_keys)


@mutant("MODE-080", also="MODE-090")
def conversion_forgets_what_later_keys_may(node: Node) -> None:
    """Let the usage keys behind the first 128 of a converted account run nothing."""

    def reach(node: Node, key: int) -> list[Lists]:
        account = account_of(node, key)
        if node.accounts.account(account).managed:
            return own_groups(node, key)
        later = whole(node.accounts.usage_keys, account)[128:]
        return [] if key in {one.key_hash for one in later} else own_groups(node, key)

    decide(node, reach=reach)


@mutant("GRPLIFE-110", also="GRPLIFE-120 UKEY-270")
def removal_clears_ten_keys(node: Node) -> None:
    """Let usage keys behind the first ten, whose arrays named a removed group, run in the account's newest group."""
    stale: set[int] = set()

    def remove(write: Write, key: int, group_id: int) -> None:
        keys = whole(node.accounts.usage_keys, account_of(node, key))[10:]
        stale.update(one.key_hash for one in keys if group_id in one.permissions.execute_in_groups)
        write(key, group_id)

    def reach(node: Node, key: int) -> list[Lists]:
        return [*own_groups(node, key), *(all_groups(node, key)[-1:] if key in stale else [])]

    wrap(node.accounts, "remove_group", remove)
    decide(node, reach=reach)


@mutant("ACT-200")
def deletion_leaves_the_groups_11_to_100(node: Node) -> None:
    """Leave a deleted action in the eleventh to the hundredth group that list it."""

    def delete(write: Write, acting_key: int, cid_hash: bytes) -> None:
        listing = _listing(node, account_of(node, acting_key), cid_hash)
        write(acting_key, cid_hash)
        for group in listing[10:100]:
            node.accounts.add_action_to_group(acting_key, group, cid_hash)

    wrap(node.accounts, "delete_action", delete)


@mutant("LIST-060", also="LIST-020 LIST-050")
def size_above_the_total_begins_anew(node: Node) -> None:
    """Answer the first page where a page behind the end could hold the whole list."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        return view(account, page, size) or (view(account, 0, size) if len(whole(view, account)) < size else [])

    wrap(node.accounts, "groups", groups)


@mutant(
    each=[
        row("manage_ipfs_ids_in_groups", breaks="UKEY-110", also="UKEY-150"),
        row("add_pkp_to_groups", breaks="UKEY-190"),
        row("remove_pkp_from_groups", breaks="UKEY-230"),
        row("execute_in_groups", breaks="UKEY-270", also="ERR-100 EXEC-030 EXEC-070 EXEC-090"),
    ],
    also="AUTH-080 KEYLIFE-030 LIST-170 UKEY-010 UKEY-290",
)
def low_byte_of_a_named_group_counts_too(node: Node, array: str) -> None:
    """Read group 257 in `{array}` as 257 and 1, and group 256 as 256 and the wildcard."""

    def with_low(named: list[JsonValue]) -> list[JsonValue]:
        return [*named, *(n - BYTE for n in named if isinstance(n, int) and BYTE <= n < 2 * BYTE)]

    writes = ("add_usage_api_key", "update_usage_api_key")
    change_body(node, writes, lambda value: _changed(value, array, with_low))


@mutant("EP-250", also="EP-360 UKEY-100")
def group_ids_are_read_into_a_byte(node: Node) -> None:
    """Add an action to group 1 in place of group 257, and so on up to 511."""

    def changed(value: JsonValue) -> JsonValue:
        body = members(value)
        number = body.get("group_id")
        return {**body, "group_id": number - BYTE} if isinstance(number, int) and BYTE < number < 2 * BYTE else value

    change_body(node, "add_action_to_group", changed)


@mutant("LIST-050")
def last_of_256_groups_waits_for_the_next(node: Node) -> None:
    """List 255 of an account's groups where it has 256."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        count = len(whole(view, account))
        return view(account, page, size)[: max(0, BYTE - 1 - page * size) if count == BYTE else size]

    wrap(node.accounts, "groups", groups)


@mutant("EP-250", also="EP-280 EP-360 LIST-170")
def actions_hide_behind_a_deleted_one(node: Node) -> None:
    """Show none of a group's actions once one that more than 255 groups listed was deleted."""
    emptied: set[int] = set()

    def delete(write: Callable[..., object], acting_key: int, cid_hash: bytes) -> None:
        groups = whole(node.accounts.groups, acting_key)
        listing = [one for one in groups if node.accounts.actions_in_group(acting_key, one.id, 0, 1)]
        write(acting_key, cid_hash)
        if len(listing) >= BYTE:
            emptied.add(acting_key)

    wrap(
        node.accounts,
        "actions_in_group",
        lambda view, account, *which: [] if account in emptied else view(account, *which),
    )
    wrap(node.accounts, "delete_action", delete)


def _listed(node: Node, account: int, group: int) -> list[bytes]:
    return [one.cid_hash for one in whole(node.accounts.actions_in_group, account, group)]


def _listing(node: Node, account: int, cid_hash: bytes) -> list[int]:
    """The ids of the account's groups that list an action."""
    groups = whole(node.accounts.groups, account)
    return [one.id for one in groups if cid_hash in _listed(node, account, one.id)]


@mutant("LIST-060", also="LIST-050")
def page_behind_the_end_is_the_last_after_a_deletion(node: Node) -> None:
    """Answer the last page for any behind it, in groups of an account that deleted what 256 groups listed."""
    thinned: set[int] = set()

    def delete(write: Callable[..., object], acting_key: int, cid_hash: bytes) -> None:
        if len(_listing(node, acting_key, cid_hash)) >= BYTE:
            thinned.add(acting_key)
        write(acting_key, cid_hash)

    def actions(view: Callable[..., list[Action]], account: int, group: int, page: int, size: int) -> list[Action]:
        last = max(0, len(whole(view, account, group)) - 1) // size
        return view(account, group, min(page, last) if account in thinned else page, size)

    wrap(node.accounts, "delete_action", delete)
    wrap(node.accounts, "actions_in_group", actions)


@mutant("EP-290", server_fault=True, also="ERR-140")
def deletion_of_what_256_groups_list_fails(node: Node) -> None:
    """Fall over the deletion of an action that 256 groups list."""

    def delete(write: Callable[..., object], acting_key: int, cid_hash: bytes) -> None:
        if len(_listing(node, acting_key, cid_hash)) >= BYTE:
            raise OverflowError("more groups than a byte counts")
        write(acting_key, cid_hash)

    wrap(node.accounts, "delete_action", delete)


@mutant("GRPLIFE-130", also="GRPLIFE-170")
def removal_takes_ids_that_begin_alike(node: Node) -> None:
    """Take from the usage keys, when group 1 is removed, the ids 10 and 11 as well."""

    def remove(write: Write, key: int, group_id: int) -> None:
        write(key, group_id)
        account = account_of(node, key)
        for one in whole(node.accounts.usage_keys, account):
            given = one.permissions
            kept = [
                [number for number in getattr(given, name) if not str(number).startswith(str(group_id))]
                for name in PERMISSION_ARRAYS
            ]
            given = Permissions(given.can_create_groups, given.can_delete_groups, given.can_create_pkps, *kept)
            node.accounts.update_usage_key(account, one.key_hash, one.name, one.description, given)

    wrap(node.accounts, "remove_group", remove)
