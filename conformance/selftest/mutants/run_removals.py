"""Faults about runs after a group was removed, or a wallet taken out of one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from conformance.selftest.tools.accounts import Write, account_of, lists_of, whole
from conformance.selftest.tools.alter import Answered, Received, body_of, note_accepted, wrap
from conformance.selftest.tools.alter_runs import (
    Lists,
    all_groups,
    change_execute_groups,
    change_verdicts,
    decide,
    own_groups,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import WILDCARD
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key


def _users(node: Node, account: int, group_id: int) -> list[int]:
    """Return the usage keys that name the group in `execute_in_groups`."""
    keys = whole(node.accounts.usage_keys, account)
    return [key.key_hash for key in keys if group_id in key.permissions.execute_in_groups]


@mutant("GRPLIFE-120", also="AUTH-210 SCOPE-120")
def keys_of_a_removed_group_get_the_next(node: Node) -> None:
    """Let keys that named a removed group execute in the next new one."""
    waiting: set[int] = set()

    def remove(write: Write, key: int, group_id: int) -> None:
        waiting.update(_users(node, account_of(node, key), group_id))
        write(key, group_id)

    def add(write: Callable[..., int], key: int, *given: object) -> int:
        made = write(key, *given)
        theirs = {one.key_hash for one in whole(node.accounts.usage_keys, account_of(node, key))}
        for user in waiting & theirs:
            change_execute_groups(node, user, lambda groups: [*groups, made])
        waiting.difference_update(theirs)
        return made

    wrap(node.accounts, "remove_group", remove)
    wrap(node.accounts, "add_group", add)


@mutant("GRPLIFE-130", "GRPLIFE-170")
def a_removed_group_takes_the_others_along(node: Node) -> None:
    """Empty `execute_in_groups` of keys that named a removed group."""

    def remove(write: Write, key: int, group_id: int) -> None:
        users = _users(node, account_of(node, key), group_id)
        write(key, group_id)
        for user in users:
            change_execute_groups(node, user, lambda _: [])

    wrap(node.accounts, "remove_group", remove)


@mutant("PKP-070", also="LIST-170")
def wallet_leaves_groups_with_lower_ids(node: Node) -> None:
    """Take a wallet that leaves a group out of those made before it, too."""

    def remove(write: Write, key: int, group_id: int, wallet: bytes) -> None:
        write(key, group_id, wallet)
        for group in all_groups(node, key):
            if wallet in group.wallets and group.id < group_id:
                write(account_of(node, key), group.id, wallet)

    wrap(node.accounts, "remove_pkp_from_group", remove)


@mutant("EXEC-230", also="EP-220 EXEC-050 GRPLIFE-040")
def moved_wallets_stay_in_runs(node: Node) -> None:
    """Go on to permit a wallet that left a group where it had taken the place of another one that left before it."""
    moved: set[tuple[int, int, bytes]] = set()
    kept: set[tuple[int, int, bytes]] = set()

    def remove(write: Write, key: int, group_id: int, wallet: bytes) -> None:
        listed, left = lists_of(node, key, group_id)[0], (account_of(node, key), group_id, wallet)
        write(key, group_id, wallet)
        if left in moved:
            kept.add(left)
        if wallet in listed[:-1]:
            moved.add((*left[:2], listed[-1]))

    wrap(node.accounts, "remove_pkp_from_group", remove)
    decide(node, reach=lambda node, key: [_with(node, key, group, wallets=kept) for group in own_groups(node, key)])


@mutant("EXEC-230", also="EP-210 EXEC-040")
def actions_removed_in_capitals_stay_in_runs(node: Node) -> None:
    """Go on to permit an action that left a group under its hash in capitals, until it leaves it once more."""
    kept: set[tuple[int, int, bytes]] = set()

    def note(request: Received, _: Answered) -> None:
        body, secret = body_of(request), parse_key(presented(request))
        hashed = str(body["hashed_cid"])
        account = account_of(node, key_hash(secret)) if secret else 0
        action = (account, int(str(body["group_id"])), bytes.fromhex(hashed[2:]))
        (kept.discard if hashed == hashed.lower() else kept.add)(action)

    note_accepted(node, "remove_action_from_group", note)
    decide(node, reach=lambda node, key: [_with(node, key, group, actions=kept) for group in own_groups(node, key)])


def _with(
    node: Node,
    key: int,
    group: Lists,
    actions: Collection[tuple[int, int, bytes]] = (),
    wallets: Collection[tuple[int, int, bytes]] = (),
) -> Lists:
    own = (account_of(node, key), group.id)
    more, others = ([entry for *of, entry in kept if (*of,) == own] for kept in (actions, wallets))
    return replace(group, actions=(*group.actions, *more), wallets=(*group.wallets, *others))


@mutant("EXEC-100", also="EXEC-090 GRP-080")
def deleted_actions_do_not_run_by_the_wildcard(node: Node) -> None:
    """Refuse an action that its account has deleted, where a group permits it by the wildcard alone."""
    deleted: set[tuple[int, bytes]] = set()

    def delete(write: Write, key: int, action: bytes) -> None:
        write(key, action)
        deleted.add((account_of(node, key), action))

    def right(permitted: bool, question: tuple[int, bytes, bytes | None]) -> bool:
        key, action, _ = question
        named = any(action in group.actions for group in own_groups(node, key))
        return permitted and (named or (account_of(node, key), action) not in deleted)

    wrap(node.accounts, "delete_action", delete)
    change_verdicts(node, right)


@mutant("ACT-080", also="LIST-170")
def action_leaves_groups_with_lower_ids(node: Node) -> None:
    """Take an action that leaves a group out of those made before it, too."""

    def remove(write: Write, key: int, group_id: int, action: bytes) -> None:
        write(key, group_id, action)
        for group in all_groups(node, key):
            if action in group.actions and group.id < group_id:
                write(account_of(node, key), group.id, action)

    wrap(node.accounts, "remove_action_from_group", remove)


@mutant("PKP-070", "GRPLIFE-170", also="LIST-170")
def a_wallet_leaves_all_groups_at_once(node: Node) -> None:
    """Remove a wallet from all groups when it leaves one, or when its group is removed."""

    def leave_others(key: int, group_id: int, wallets: list[bytes]) -> None:
        for group in all_groups(node, key):
            for wallet in set(wallets) & set(group.wallets):
                if group.id != group_id:
                    node.accounts.remove_pkp_from_group(account_of(node, key), group.id, wallet)

    def remove_group(write: Write, key: int, group_id: int) -> None:
        gone = [wallet for group in all_groups(node, key) if group.id == group_id for wallet in group.wallets]
        write(key, group_id)
        leave_others(key, group_id, gone)

    def remove_pkp(write: Write, key: int, group_id: int, wallet: bytes) -> None:
        write(key, group_id, wallet)
        leave_others(key, group_id, [wallet])

    wrap(node.accounts, "remove_group", remove_group)
    wrap(node.accounts, "remove_pkp_from_group", remove_pkp)


@mutant("PKP-060", also="EP-370 EXEC-010 EXEC-020 EXEC-090 EXEC-350 GRP-040 GRP-060 UKEY-260")
def a_wallet_runs_through_its_first_group(node: Node) -> None:
    """Permit a wallet only through the first group that lists it, or through a wildcard."""

    def reach(node: Node, key: int) -> list[Lists]:
        groups = all_groups(node, key)
        first = {wallet: group.id for group in reversed(groups) for wallet in group.wallets}
        own = own_groups(node, key)
        return [
            replace(group, wallets=tuple(w for w in group.wallets if w == WILDCARD or first[w] == group.id))
            for group in own
        ]

    decide(node, reach=reach)


@mutant("EXEC-230", also="CHAIN-050 EP-220 ERR-100 EXEC-050 EXEC-090")
def removals_by_usage_keys_are_not_noticed(node: Node) -> None:
    """Permit on what a usage key removed from a group, where it was permitted before."""
    permitted: set[tuple[int, bytes, bytes | None]] = set()
    taken: set[bytes] = set()

    def remove(write: Callable[..., object], acting: int, group: int, wallet: bytes) -> None:
        write(acting, group, wallet)
        if acting != account_of(node, acting):
            taken.add(wallet)

    def stays(right: bool, question: tuple[int, bytes, bytes | None]) -> bool:
        if right:
            permitted.add(question)
        return right or (question in permitted and question[2] in taken)

    wrap(node.accounts, "remove_pkp_from_group", remove)
    change_verdicts(node, stays)
