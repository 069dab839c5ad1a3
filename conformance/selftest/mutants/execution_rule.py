"""Faults in deciding the Execution rule: which groups count, and what a wildcard stands for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.selftest.tools.accounts import account_of, accounts_made, whole
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_runs import (
    Lists,
    Permits,
    all_groups,
    change_verdicts,
    decide,
    own_groups,
    permits,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import WILDCARD
from reference_node.fields import DEFAULT_PAGE_SIZE
from reference_node.node import Node
from reference_node.permission.runs import Run
from reference_node.sandbox import HostRefusal


def _decide_wallets(node: Node, executable: Callable[[int, bytes, bytes], bool]) -> None:
    """Decide by this whether a key may run an action with a wallet; whether it may begin, as before."""
    wrap(node.accounts, "can_execute", lambda _, *question: executable(*question))


# ------------------------------------------------------------------------------------------ one and the same group


@mutant("EXEC-060", "EXEC-070", also="AUTH-080 EXEC-080 EXEC-090 EXEC-200 GRP-120")
def wallet_is_looked_for_in_all_groups(node: Node) -> None:
    """Look for the wallet in all groups of the account, not only in the key's."""

    def executable(key: int, action: bytes, wallet: bytes) -> bool:
        listed = any(one.has_wallet(wallet) for one in all_groups(node, key))
        return listed and any(one.has_action(action) for one in own_groups(node, key))

    _decide_wallets(node, executable)


@mutant(
    each=[row("actions", 0, breaks="EXEC-100"), row("wallets", 1, breaks="EXEC-110")],
    also="EXEC-020 EXEC-090 EXEC-350 GRP-120",
)
def entries_make_other_groups_wildcards_void(node: Node, place: int) -> None:
    """Ask only those of the key's groups that list the thing itself, where one of them does; the label says what."""

    def executable(key: int, *used: bytes) -> bool:
        groups = own_groups(node, key)
        exact = [one for one in groups if used[place] in (one.actions, one.wallets)[place]]
        return any(permits(one, *used) for one in exact or groups)

    _decide_wallets(node, executable)


# ------------------------------------------------------------------------------------------ conditions


@mutant(
    each=[
        row(
            "any-wallet",
            lambda group, action, _: group.has_action(action),
            breaks="EXEC-050 EXEC-200 EXEC-120 EXEC-090",
            also="EXEC-060 EXEC-070 EXEC-080 EXEC-230 GRP-140 GRPLIFE-040 GRPLIFE-070",
        ),
        row(
            "no-wildcard-of-actions",
            lambda group, action, wallet: action in group.actions and group.has_wallet(wallet),
            breaks="EXEC-100 GRP-080 GRP-100 GRP-200 LIM-040",
            also="EXEC-090 GRPLIFE-070",
        ),
        row(
            "no-wildcard-of-wallets",
            lambda group, action, wallet: group.has_action(action) and wallet in (None, *group.wallets),
            breaks="EXEC-110 GRP-070 GRP-090 GRP-100 GRP-200 LIM-040",
            also="EXEC-090 GRPLIFE-070",
        ),
        row(
            "wildcard-of-actions-for-wallets",
            lambda group, action, wallet: WILDCARD in group.actions or permits(group, action, wallet),
            breaks="EXEC-080 EXEC-100 GRP-110",
            also="EXEC-050 EXEC-090 EXEC-200",
        ),
        row(
            "wildcard-of-wallets-for-actions",
            lambda group, action, wallet: WILDCARD in group.wallets or permits(group, action, wallet),
            breaks="EXEC-080 EXEC-110",
            also="EXEC-040 EXEC-090 EXEC-210 EXEC-220 GRP-110",
        ),
        row(
            "first-wallet-alone",
            lambda group, action, wallet: group.has_action(action) and wallet in (None, *group.wallets[:1]),
            breaks="GRP-060 GRP-040",
            also=(
                "EXEC-010 EXEC-020 EXEC-090 EXEC-110 GRP-070 GRP-090 GRP-100 GRP-200 GRPLIFE-040 GRPLIFE-070 LIM-040"
            ),
        ),
        row(
            "first-action-alone",
            lambda group, action, wallet: action in group.actions[:1] and group.has_wallet(wallet),
            breaks="GRP-060 GRP-050 ACT-130",
            also="EXEC-010 EXEC-020 EXEC-090 EXEC-100 GRP-080 GRP-100 GRP-200 GRPLIFE-050 GRPLIFE-070 LIM-040",
        ),
        row(
            "all-wallets-where-none",
            lambda group, action, wallet: group.has_action(action) and (not group.wallets or group.has_wallet(wallet)),
            breaks="GRP-140 EXEC-050 EXEC-230",
            also="EXEC-060 EXEC-070 EXEC-080 EXEC-090 EXEC-120 EXEC-200 GRPLIFE-040",
        ),
    ]
)
def group_permits_by_another_rule(node: Node, rule: Permits) -> None:
    """Decide by another rule whether a group permits an action and a wallet; the label says by which."""
    decide(node, permits=rule)


@mutant("EXEC-010")
def first_wallet_pins_the_group(node: Node) -> None:
    """Permit further wallets of a run only in the groups that permit its first one."""
    pinned: list[tuple[Run, set[int]]] = []

    def may_use(original: Callable[[Run, bytes], bool], run: Run, pkp_id: bytes) -> bool:
        groups = own_groups(node, run.caller.key_hash)
        through = {group.id for group in groups if permits(group, run.action, pkp_id)}
        before = next((ids for one, ids in pinned if one is run), None)
        if before is None:
            pinned.append((run, through))
        return original(run, pkp_id) and (before is None or bool(before & through))

    wrap(node.runs, "may_use", may_use)


@mutant("EXEC-200", also="EXEC-060 EXEC-070 EXEC-090")
def further_wallets_are_looked_for_without_the_action(node: Node) -> None:
    """Permit further wallets of a run wherever one of the key's groups lists them, whatever actions it lists."""
    begun: list[tuple[Run, bytes]] = []

    def may_use(original: Callable[[Run, bytes], bool], run: Run, pkp_id: bytes) -> bool:
        first = next((wallet for one, wallet in begun if one is run), None)
        if first is None:
            begun.append((run, pkp_id))
        if first in {None, pkp_id}:
            return original(run, pkp_id)
        return any(group.has_wallet(pkp_id) for group in own_groups(node, run.caller.key_hash))

    wrap(node.runs, "may_use", may_use)


# ------------------------------------------------------------------------------------------ wildcards


@mutant(
    each=[
        row("actions", breaks="EXEC-100", also="EXEC-040 EXEC-080 EXEC-090 EXEC-210 EXEC-220 GRP-120"),
        row("wallets", breaks="EXEC-110", also="EXEC-050 EXEC-080 EXEC-090 EXEC-200 GRP-120"),
    ]
)
def wildcard_counts_in_every_group(node: Node, kind: str) -> None:
    """Let all groups of an account permit all {kind}, where one of them does."""

    def reach(node: Node, key: int) -> list[Lists]:
        held = any(WILDCARD in getattr(one, kind) for one in all_groups(node, key))
        more = (WILDCARD,) if held else ()
        return [replace(one, **{kind: getattr(one, kind) + more}) for one in own_groups(node, key)]

    decide(node, reach=reach)


@mutant("GRP-070", also="EXEC-090 EXEC-110 GRP-090 GRP-100 LIM-040")
def all_wallets_are_the_first_page(node: Node) -> None:
    """Take the wildcard of wallets for the account's first 20 wallets; permit others where they are listed."""

    def narrowed(right: bool, question: tuple[int, bytes, bytes | None]) -> bool:
        key, action, wallet = question
        if not right or wallet is None:
            return right
        first = node.accounts.wallets(account_of(node, key), 0, DEFAULT_PAGE_SIZE)
        if wallet in [one.id for one in first]:
            return True
        return any(group.has_action(action) and wallet in group.wallets for group in own_groups(node, key))

    change_verdicts(node, narrowed)


# ------------------------------------------------------------------------------------------ accounts


@mutant("EXEC-130", also="EXEC-040 EXEC-050 UKEY-330")
def groups_of_the_same_number_are_shared(node: Node) -> None:
    """Let groups of other accounts count for a key that may execute in a group of the same number."""
    accounts = accounts_made(node)

    def reach(node: Node, key: int) -> list[Lists]:
        numbers = {one.id for one in own_groups(node, key)}
        return [one for account in accounts for one in all_groups(node, account) if one.id in numbers]

    decide(node, reach=reach)


@mutant("PKP-150", also="EXEC-090 EXEC-130 MINT-050")
def all_wallets_are_those_of_all_accounts(node: Node) -> None:
    """Let a group that permits all wallets permit those of other accounts, too."""
    accounts = accounts_made(node)

    def wallet_key(original: Callable[[Run, bytes], bytes], run: Run, pkp_id: bytes) -> bytes:
        try:
            return original(run, pkp_id)
        except HostRefusal:
            found = [one for account in accounts for one in whole(node.accounts.wallets, account) if one.id == pkp_id]
            if not found:
                raise
            return node.keys.wallet_key(found[0].derivation_path)

    _decide_wallets(
        node, lambda key, action, wallet: any(permits(one, action, wallet) for one in own_groups(node, key))
    )
    wrap(node.runs, "wallet_key", wallet_key)
