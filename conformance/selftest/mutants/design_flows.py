"""Faults of the design-level flow paths ("Design-level flow paths", "Authentication" 9)."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from conformance.selftest.tools.accounts import Write, account_of, permissions_of
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    answer_instead,
    body_of,
    intercept,
    wrap,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node

ACTIONS, PKPS = "change_actions_of_group", "add_pkps_to_group"


@mutant("FLOW-010", also="FLOW-030 LIST-170")
def added_actions_are_dropped(node: Node) -> None:
    """Ignore the CIDs of `add`."""

    def change(original: object, key: int, group: int, _added: object, removed: object) -> None:
        original(key, group, [], removed)  # type: ignore[operator]

    wrap(node.accounts, ACTIONS, change)


@mutant("FLOW-020", also="FLOW-030 LIST-170")
def removed_actions_stay(node: Node) -> None:
    """Ignore the CIDs of `remove`."""

    def change(original: object, key: int, group: int, added: object, _removed: object) -> None:
        original(key, group, added, [])  # type: ignore[operator]

    wrap(node.accounts, ACTIONS, change)


@mutant("FLOW-020", also="FLOW-030 LIST-170")
def only_the_first_action_is_removed(node: Node) -> None:
    """Take only the first CID of `remove` out of the group."""

    def change(original: object, key: int, group: int, added: object, removed: list[bytes]) -> None:
        original(key, group, added, removed[:1])  # type: ignore[operator]

    wrap(node.accounts, ACTIONS, change)


@mutant("FLOW-030", also="FLOW-010 LIST-170")
def both_lists_at_once_only_remove(node: Node) -> None:
    """Ignore `add` where there is something to `remove`."""

    def change(original: object, key: int, group: int, added: object, removed: object) -> None:
        original(key, group, [] if removed else added, removed)  # type: ignore[operator]

    wrap(node.accounts, ACTIONS, change)


@mutant("FLOW-050", also="LIST-170")
def only_the_first_wallet_is_added(node: Node) -> None:
    """Put only the first of several wallets into the group."""

    def add(original: object, key: int, group: int, pkp_ids: list[bytes]) -> None:
        original(key, group, pkp_ids[:1])  # type: ignore[operator]

    wrap(node.accounts, PKPS, add)


@mutant("FLOW-040", also="FLOW-060 LIST-170 SCOPE-090 UKEY-090")
def created_pkp_is_no_wallet_of_the_account(node: Node) -> None:
    """Derive a wallet for /pkps/create and forget to register it."""
    forgets: ContextVar[bool] = ContextVar("forgets", default=False)

    async def handler(request: Received, forward: Forward) -> Answered:
        token = forgets.set(True)
        try:
            return await forward(request)
        finally:
            forgets.reset(token)

    def create(original: Write, key: int, *arguments: object) -> None:
        if not forgets.get():
            original(key, *arguments)

    wrap(node.accounts, "create_wallet", create)
    intercept(node, "pkps/create", handler)


@mutant(
    "FLOW-060",
    each=[row("both-in-one", lambda added, removed: bool(added) and bool(removed), also="UKEY-110 UKEY-150")],
    also="AUTH-080 SCOPE-090 UKEY-300",
)
def some_changes_of_actions_ask_for_no_scope(node: Node, free: Callable[[object, object], bool]) -> None:
    """Let every usage key of the account send such requests to the actions of a group."""

    def change(original: Write, key: int, group: int, added: object, removed: object) -> None:
        acting = node.accounts.key_info(key).account_hash if free(added, removed) else key
        original(acting, group, added, removed)

    wrap(node.accounts, ACTIONS, change)


@mutant(
    "FLOW-060",
    each=[row("execute-for-pkps", PKPS, "execute_in_groups", also="UKEY-190")],
    also="AUTH-080 SCOPE-090 UKEY-300",
)
def flow_takes_another_scope(node: Node, function: str, scope: str) -> None:
    """Let keys whose `{scope}` names the group call `{function}`."""

    def change(original: Write, key: int, group: int, *lists: object) -> None:
        permissions = permissions_of(node, key)
        named = permissions is not None and group in getattr(permissions, scope)
        original(account_of(node, key) if named else key, group, *lists)

    wrap(node.accounts, function, change)


@mutant("FLOW-070", each=[row("removals", "remove", "add")], also="AUTH-040 AUTH-200")
def change_of_actions_needs_no_key(node: Node, given: str, missing: str) -> None:
    """Answer success to such changes of the actions of a group without a key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        free = not presented(request) and bool(body.get(given)) and not body.get(missing)
        return answer(200, {"success": True}) if free else await forward(request)

    intercept(node, "groups/1/actions", handler)


@mutant("FLOW-070", each=["groups/1/pkps", row("pkps/create", also="VER-050")], also="AUTH-040 AUTH-200")
def flow_needs_no_key(node: Node, path: str) -> None:
    """Answer success to `{path}` without a key."""
    answer_instead(node, path, answer(200, {"success": True}), lambda request: not presented(request))
