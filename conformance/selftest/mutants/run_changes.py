"""Faults about runs after a change: what was permitted once is remembered, or what was not."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from threading import Lock

from conformance.selftest.tools.accounts import Write, account_of, permissions_of, whole
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_runs import Lists, all_groups, change_verdicts, decide, own_groups
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Permissions
from reference_node.node import Node
from reference_node.permission.runs import Run

Question = tuple[int, bytes, bytes | None]
STALE_RUNS = 3
SECONDS_TO_MEET = 0.2


@mutant(
    "EXEC-230", "KEYLIFE-030", "KEYLIFE-150", "GRPLIFE-040", "GRPLIFE-050", "GRPLIFE-060", "GRPLIFE-070",
    "GRPLIFE-080", "GRPLIFE-110", "GRPLIFE-160", "EP-210", "EP-220",
    also="AUTH-080 CHAIN-050 ERR-100 EXEC-030 EXEC-040 EXEC-050 EXEC-090 EXEC-120 GRP-140 UKEY-270 UKEY-300",
)  # fmt: skip
def what_was_permitted_stays_permitted(node: Node) -> None:
    """Permit for ever a run that was permitted once."""
    permitted: set[Question] = set()

    def remembered(right: bool, question: Question) -> bool:
        if right:
            permitted.add(question)
        return right or question in permitted

    change_verdicts(node, remembered)


@mutant("GRPLIFE-110", also="GRPLIFE-120 GRPLIFE-160 UKEY-270 UKEY-300")
def removed_group_becomes_all_groups(node: Node) -> None:
    """Leave 0, the wildcard, in place of a removed group in the `execute_in_groups` of usage keys."""

    def remove(write: Write, key: int, group_id: int) -> None:
        account = account_of(node, key)
        held = whole(node.accounts.usage_keys, account)
        write(key, group_id)
        for one in held:
            if group_id in (groups := one.permissions.execute_in_groups):
                left = [0 if group == group_id else group for group in groups]
                permissions = replace(one.permissions, execute_in_groups=left)
                node.accounts.update_usage_key(account, one.key_hash, one.name, one.description, permissions)

    wrap(node.accounts, "remove_group", remove)


@mutant(
    each=[
        row("update_group", breaks="EXEC-230 GRPLIFE-050", also="GRPLIFE-070 GRPLIFE-080"),
        row("remove_action_from_group", breaks="EXEC-230 EP-210"),
        row("update_usage_key", breaks="EXEC-230 KEYLIFE-030", also="UKEY-270 UKEY-300"),
        row("remove_group", breaks="EXEC-230 GRPLIFE-110", also="GRPLIFE-160"),
        row("change_actions_of_group", breaks="FLOW-020", also="EXEC-230"),
    ],
    also="CHAIN-050 EXEC-030 EXEC-040",
)
def run_without_a_wallet_outlives_a_write(node: Node, write: str) -> None:
    """After `{write}` decide the next run of each key and action as before it. Each wallet is decided as it is used."""
    permitted: set[Run] = set()
    outdated: set[Run] = set()

    def may_run(ask: Callable[[Run], bool], run: Run) -> bool:
        if run in outdated:
            outdated.remove(run)
            return True
        right = ask(run)
        (permitted.add if right else permitted.discard)(run)
        return right

    def change(original: Callable[..., object], *arguments: object) -> object:
        result = original(*arguments)
        outdated.update(permitted)
        return result

    wrap(node.runs, "may_run", may_run)
    wrap(node.accounts, write, change)


@mutant("GRPLIFE-070", also="EXEC-230")
def runs_by_the_wildcard_of_actions_are_remembered(node: Node) -> None:
    """Permit for ever to begin what a group's wildcard of actions alone permitted once to a usage key."""
    permitted: set[tuple[int, bytes]] = set()

    def can_run(ask: Callable[[int, bytes], bool], key: int, action: bytes) -> bool:
        right = ask(key, action)
        if right and permissions_of(node, key) and not any(action in group.actions for group in own_groups(node, key)):
            permitted.add((key, action))
        return right or (key, action) in permitted

    wrap(node.accounts, "can_run", can_run)


@mutant(
    "EXEC-230",
    "KEYLIFE-020",
    "EP-360",
    "EP-370",
    "GRPLIFE-040",
    "GRPLIFE-050",
    "GRPLIFE-070",
    also="CHAIN-050 EXEC-010 EXEC-020 EXEC-090 EXEC-350 GRP-270 GRPLIFE-130 KEYLIFE-200 UKEY-260",
)
def what_was_refused_stays_refused(node: Node) -> None:
    """Refuse for ever a run that was refused once."""
    refused: set[Question] = set()

    def remembered(right: bool, question: Question) -> bool:
        if not right:
            refused.add(question)
        return right and question not in refused

    change_verdicts(node, remembered)


@mutant(
    "EXEC-230",
    "KEYLIFE-020",
    "KEYLIFE-030",
    "KEYLIFE-150",
    "CHAIN-050",
    "MINT-150",
    also="AUTH-080 ERR-100 EXEC-010 EXEC-030 EXEC-070 EXEC-090 UKEY-260 UKEY-270 UKEY-280 UKEY-300",
)
def groups_of_a_key_are_cached(node: Node) -> None:
    """Cache which groups a key may use; look up each time what they list."""
    cached: dict[int, set[int]] = {}

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        if permissions is None:
            return all_groups(node, key)
        known = cached.setdefault(key, set(permissions.execute_in_groups))
        return [group for group in all_groups(node, key) if 0 in known or group.id in known]

    decide(node, reach=reach)


@mutant(
    "EXEC-230",
    "EP-210",
    "EP-360",
    "EP-220",
    "EP-370",
    "GRPLIFE-040",
    "GRPLIFE-050",
    "GRPLIFE-060",
    "GRPLIFE-070",
    also="CHAIN-050 ERR-100 EXEC-010 EXEC-020 EXEC-040 EXEC-050 EXEC-090 EXEC-120 GRP-140 GRP-270 GRPLIFE-080",
)
def lists_of_a_group_are_cached(node: Node) -> None:
    """Cache what a group lists; look up each time which groups a key may use."""
    cached: dict[tuple[int, int], Lists] = {}

    def reach(node: Node, key: int) -> list[Lists]:
        return [cached.setdefault((account_of(node, key), group.id), group) for group in own_groups(node, key)]

    decide(node, reach=reach)


@mutant(
    "EXEC-230",
    "KEYLIFE-150",
    "GRPLIFE-110",
    "EP-210",
    "EP-220",
    also=(
        "AUTH-080 CHAIN-050 EP-360 EP-370 ERR-100 EXEC-010 EXEC-020 EXEC-030 EXEC-040 EXEC-050 EXEC-090 "
        "EXEC-120 GRP-140 GRP-270 GRPLIFE-040 GRPLIFE-050 GRPLIFE-060 GRPLIFE-070 GRPLIFE-080 GRPLIFE-160 "
        "KEYLIFE-020 KEYLIFE-030 UKEY-270 UKEY-300"
    ),
)
def changes_count_after_three_runs(node: Node) -> None:
    """Decide three more runs as before a change."""
    verdicts: dict[Question, bool] = {}
    stale: dict[Question, int] = {}

    def late(right: bool, question: Question) -> bool:
        if verdicts.setdefault(question, right) == right:
            return right
        stale[question] = stale.get(question, 0) + 1
        if stale[question] > STALE_RUNS:
            verdicts[question], stale[question] = right, 0
        return verdicts[question]

    change_verdicts(node, late)


@mutant("KEYLIFE-200", also="EP-130 KEYLIFE-020 KEYLIFE-030 LIST-170")
def parallel_updates_lose_their_groups(node: Node) -> None:
    """Store with the bools of an update the `execute_in_groups` of another one that is under way."""
    lock = Lock()
    under_way: list[tuple[int, list[int], list[list[int]]]] = []

    def update(write: Write, acting_key: int, key: int, name: str, text: str, sent: Permissions) -> None:
        met: list[list[int]] = []
        own = (key, list(sent.execute_in_groups), met)
        with lock:
            for named, groups, theirs in under_way:
                if named == key and groups != own[1]:
                    met.append(groups)
                    theirs.append(own[1])
            under_way.append(own)
        time.sleep(SECONDS_TO_MEET)
        try:
            write(acting_key, key, name, text, replace(sent, execute_in_groups=met[-1] if met else own[1]))
        finally:
            with lock:
                under_way[:] = [one for one in under_way if one is not own]

    wrap(node.accounts, "update_usage_key", update)
