"""Faults of the design-level flow paths ("Design-level flow paths", "Authentication" 9)."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar

from conformance.selftest.tools.accounts import Hashes, Write, account_of, permissions_of
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
from conformance.selftest.tools.alter_runs import change_verdicts
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node

ACTIONS, PKPS = "change_actions_of_group", "add_pkps_to_group"
LATE_SECONDS = 0.5


@mutant(
    each=[
        row("nothing-is-added", lambda _, removed: ([], removed), breaks="FLOW-010", also="FLOW-030"),
        row("nothing-is-removed", lambda added, _: (added, []), breaks="FLOW-020", also="FLOW-030"),
        row("first-is-removed", lambda added, removed: (added, removed[:1]), breaks="FLOW-020", also="FLOW-030"),
        row("not-both", lambda added, removed: ([] if removed else added, removed), breaks="FLOW-030", also="FLOW-010"),
    ],
    also="LIST-170",
)
def actions_of_a_group_change_otherwise(node: Node, change: Callable[[Hashes, Hashes], tuple[Hashes, Hashes]]) -> None:
    """Add and remove other actions of a group than were sent; the label says which."""
    wrap(node.accounts, ACTIONS, lambda original, key, group, *lists: original(key, group, *change(*lists)))


@mutant("FLOW-050", also="LIST-170")
def only_the_first_wallet_is_added(node: Node) -> None:
    """Put only the first of several wallets into the group."""
    wrap(node.accounts, PKPS, lambda original, key, group, pkp_ids: original(key, group, pkp_ids[:1]))


@mutant(
    each=[
        row("added-wallets", PKPS, lambda pkp_ids: (pkp_ids, []), breaks="FLOW-050", also="EXEC-010"),
        row("added-actions", ACTIONS, lambda added, _: (added, []), breaks="FLOW-010", also="EXEC-010 EXEC-230"),
        row("removed-actions", ACTIONS, lambda _, removed: ([], removed), breaks="FLOW-020", also="EXEC-230"),
    ]
)
def runs_follow_the_flows_later(node: Node, method: str, parts: Callable[..., tuple[Hashes, Hashes]]) -> None:
    """Let what `{method}` has added, or removed, count for runs half a second later."""
    late: dict[bytes, tuple[float, bool]] = {}

    def change(original: Write, key: int, group: int, *lists: Hashes) -> None:
        original(key, group, *lists)
        for permitted, hashes in zip((False, True), parts(*lists), strict=True):
            late.update(dict.fromkeys(map(bytes, hashes), (time.monotonic() + LATE_SECONDS, permitted)))

    def verdict(was: bool, run: tuple[int, bytes, bytes | None]) -> bool:
        for named in run[1:]:
            until, permitted = late.get(named or b"", (0.0, was))
            if time.monotonic() < until:
                return permitted
        return was

    wrap(node.accounts, method, change)
    change_verdicts(node, verdict)


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


@mutant("FLOW-060", also="AUTH-080 SCOPE-090 UKEY-110 UKEY-150 UKEY-300")
def changes_of_both_lists_ask_for_no_scope(node: Node) -> None:
    """Let every usage key of the account add and remove actions of a group in one request."""

    def change(original: Write, key: int, group: int, added: object, removed: object) -> None:
        original(account_of(node, key) if added and removed else key, group, added, removed)

    wrap(node.accounts, ACTIONS, change)


@mutant("FLOW-060", also="AUTH-080 SCOPE-090 UKEY-190 UKEY-300")
def wallets_are_added_by_who_may_execute(node: Node) -> None:
    """Let keys whose `execute_in_groups` names the group add wallets to it."""

    def change(original: Write, key: int, group: int, *lists: object) -> None:
        permissions = permissions_of(node, key)
        named = permissions is not None and group in permissions.execute_in_groups
        original(account_of(node, key) if named else key, group, *lists)

    wrap(node.accounts, PKPS, change)


@mutant("FLOW-070", also="AUTH-040 AUTH-200")
def removal_of_actions_needs_no_key(node: Node) -> None:
    """Answer success to requests without a key that only remove actions of a group."""

    def is_free(request: Received) -> bool:
        body = body_of(request)
        return not presented(request) and bool(body.get("remove")) and not body.get("add")

    answer_instead(node, "groups/1/actions", answer(200, {"success": True}), is_free)


@mutant("FLOW-070", each=["groups/1/pkps", row("pkps/create", also="VER-050")], also="AUTH-040 AUTH-200")
def flow_needs_no_key(node: Node, path: str) -> None:
    """Answer success to `{path}` without a key."""
    answer_instead(node, path, answer(200, {"success": True}), lambda request: not presented(request))
