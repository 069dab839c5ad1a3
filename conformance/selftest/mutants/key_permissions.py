"""Faults about what a usage key may do beyond its permissions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from conformance.selftest.tools.accounts import Write, account_of, group_of, permissions_of, whole
from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, refusal, text_member, wrap
from conformance.selftest.tools.alter_runs import Lists, all_groups, decide, own_groups
from conformance.selftest.tools.api_keys import key_book, live, presented, promote, under
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import WRITES
from reference_node.chain.account_config import Permissions, UsageKey
from reference_node.node import Node


def _named_key(request: Received) -> str:
    """Return the key that a request is about; `None` or empty where it names none."""
    return text_member(request, "usage_api_key")


@mutant(
    "AUTH-080",
    "AUTH-100",
    "AUTH-110",
    "AUTH-120",
    "AUTH-160",
    "AUTH-210",
    also="AUTH-090 SCOPE-090 UKEY-050 UKEY-070 UKEY-090 UKEY-110 UKEY-150 UKEY-190 UKEY-230 UKEY-290 UKEY-300",
)
def usage_keys_have_every_right(node: Node) -> None:
    """Treat a usage key as the account key of its account."""
    promote(node, WRITES, live)


@mutant("AUTH-080", also="AUTH-090 ERR-150 LIST-170 SCOPE-090 UKEY-070 UKEY-440")
def refused_removal_is_done(node: Node) -> None:
    """Refuse `remove_group` to a key without the permission, and remove the group."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status == 403:
            await forward(under(request, book.account_of(presented(request))))
        return given

    intercept(node, "remove_group", handler)


@mutant(
    each=[
        row("update_group", breaks="AUTH-080", also="AUTH-090 SCOPE-140 UKEY-110 UKEY-150 UKEY-190 UKEY-230"),
        row("delete_action", breaks="AUTH-080", also="AUTH-090 SCOPE-150"),
        row("add_usage_api_key", breaks="AUTH-100 AUTH-160", also="AUTH-210"),
    ]
)
def usage_key_does_what_only_the_owner_may(node: Node, operation: str) -> None:
    """Let every usage key do `{operation}`."""
    promote(node, operation, live)


@mutant(
    each=[
        row("remove-itself", "remove_usage_api_key", operator.eq, breaks="AUTH-110 AUTH-160 AUTH-210"),
        row("remove-another", "remove_usage_api_key", operator.ne, breaks="AUTH-110 AUTH-160"),
        row("update-itself", "update_usage_api_key", operator.eq, breaks="AUTH-120 AUTH-160", also="AUTH-080 AUTH-210"),
    ]
)
def usage_key_writes_about_keys(node: Node, operation: str, which: Callable[[str, str], bool]) -> None:
    """Let a usage key do `{operation}` of itself, or of any other key of its account; the label says which."""
    promote(node, operation, lambda book, got: live(book, got) and which(_named_key(got), presented(got)))


@mutant("AUTH-120", also="AUTH-080 AUTH-090 AUTH-210 ERR-150 UKEY-070")
def widening_is_refused_and_done(node: Node) -> None:
    """Refuse a usage key's update of its own permissions, and let it remove groups from then on."""
    book = key_book(node)
    widened: set[str] = set()

    async def widen(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status == 403 and _named_key(request) == presented(request):
            widened.add(presented(request))
        return given

    async def remove_group(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        return await forward(under(request, book.account_of(key)) if key in widened else request)

    intercept(node, "update_usage_api_key", widen)
    intercept(node, "remove_group", remove_group)


@mutant("AUTH-160", also="AUTH-150 SCOPE-080 UKEY-220 UKEY-240 UKEY-290 UKEY-310")
def wildcard_does_not_empty_groups(node: Node) -> None:
    """Refuse `remove_pkp_from_group` to usage keys, whatever they hold."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        by_usage_key = presented(request) in book.owners and live(book, request)
        return refusal(403) if by_usage_key else await forward(request)

    intercept(node, "remove_pkp_from_group", handler)


@mutant("AUTH-160", also="ACC-140 AUTH-150 GRPLIFE-100 SCOPE-050 UKEY-060")
def usage_keys_remove_groups_without_effect(node: Node) -> None:
    """Answer success to the `remove_group` of a usage key that may do it, and remove nothing."""

    def remove(write: Write, key: int, group_id: int) -> None:
        permissions = permissions_of(node, key)
        there = group_of(node, key, group_id) in whole(node.accounts.groups, account_of(node, key))
        if not there or permissions is None or not permissions.can_delete_groups:
            write(key, group_id)

    wrap(node.accounts, "remove_group", remove)


@mutant(
    "KEYLIFE-030",
    each=[
        row("of-actions", "manage_ipfs_ids_in_groups", ("add_action_to_group", "remove_action_from_group")),
        row("of-added-wallets", "add_pkp_to_groups", ("add_pkp_to_group",)),
        row("of-removed-wallets", "remove_pkp_from_groups", ("remove_pkp_from_group",)),
    ],
)
def wildcard_outlives_an_update_that_names_groups(node: Node, array: str, writes: Sequence[str]) -> None:
    """Keep the wildcard in `{array}` of a usage key until an update empties the array."""
    everywhere: set[int] = set()

    def note(key: int, permissions: Permissions) -> None:
        groups = getattr(permissions, array)
        if 0 in groups:
            everywhere.add(key)
        elif not groups:
            everywhere.discard(key)

    def add(write: Write, acting: int, key: UsageKey) -> None:
        write(acting, key)
        note(key.key_hash, key.permissions)

    def update(write: Write, acting: int, key: int, name: str, text: str, permissions: Permissions) -> None:
        write(acting, key, name, text, permissions)
        note(key, permissions)

    wrap(node.accounts, "set_usage_key", add)
    wrap(node.accounts, "update_usage_key", update)
    for name in writes:
        wrap(
            node.accounts,
            name,
            lambda write, acting, *arguments: write(
                account_of(node, acting) if acting in everywhere else acting, *arguments
            ),
        )


def _holds_text(group: int, named: Sequence[int]) -> bool:
    return str(group) in ",".join(map(str, named))


@mutant(
    each=[
        row("add_action_to_group", "add_action_to_group", "manage_ipfs_ids_in_groups", breaks="UKEY-110"),
        row("remove_action_from_group", "remove_action_from_group", "manage_ipfs_ids_in_groups", breaks="UKEY-150"),
        row("add_pkp_to_group", "add_pkp_to_group", "add_pkp_to_groups", breaks="UKEY-190"),
        row("remove_pkp_from_group", "remove_pkp_from_group", "remove_pkp_from_groups", breaks="UKEY-230"),
    ],
    also="AUTH-080 UKEY-290",
)
def named_groups_are_searched_as_a_text(node: Node, method: str, array: str) -> None:
    """Look for a group's number in the text of `{array}`: a key for group 12 acts in groups 1 and 2, too."""

    def write_for(write: Write, acting_key: int, group_id: int, *others: object) -> object:
        permissions = permissions_of(node, acting_key)
        if permissions is not None and _holds_text(group_id, getattr(permissions, array)):
            acting_key = account_of(node, acting_key)
        return write(acting_key, group_id, *others)

    wrap(node.accounts, method, write_for)


@mutant("UKEY-270", also="AUTH-080 ERR-100 EXEC-030 EXEC-070 EXEC-090 UKEY-290")
def groups_of_runs_are_searched_as_a_text(node: Node) -> None:
    """Look for a group's number in the text of `execute_in_groups`: a key for group 12 runs in groups 1 and 2, too."""

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        if permissions is None or 0 in permissions.execute_in_groups:
            return own_groups(node, key)
        return [group for group in all_groups(node, key) if _holds_text(group.id, permissions.execute_in_groups)]

    decide(node, reach=reach)
