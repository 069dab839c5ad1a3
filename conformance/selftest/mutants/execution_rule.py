"""Faults in deciding the Execution rule: which groups count, and what a wildcard stands for."""

from __future__ import annotations

from collections.abc import Callable

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_execution import Lists, all_groups, decide, own_groups, permits
from conformance.selftest.tools.mutant import mutant
from conformance.selftest.tools.permissions import accounts_made, permissions_of
from reference_node.chain.account_config import WILDCARD
from reference_node.node import Node
from reference_node.runs import Run


def _decide_wallets(node: Node, executable: Callable[[int, bytes, bytes], bool]) -> None:
    """Whether a key may run an action at all stays as it is; whether with a wallet is decided by this."""
    wrap(node.accounts, "can_execute", lambda _, *question: executable(*question))


# ------------------------------------------------------------------------------------------ one and the same group


@mutant("EXEC-060", "EXEC-080", "EXEC-090", "ERR-100")
def conditions_hold_in_different_groups(node: Node) -> None:
    """One group lists the action, another the wallet, and the key may use both: the run is permitted."""

    def executable(key: int, action: bytes, wallet: bytes) -> bool:
        groups = own_groups(node, key)
        return any(one.has_action(action) for one in groups) and any(one.has_wallet(wallet) for one in groups)

    _decide_wallets(node, executable)


@mutant("EXEC-060", "EXEC-070")
def wallet_is_looked_for_in_all_groups(node: Node) -> None:
    """The action has to be in a group of the key's; the wallet may be in any group of the account."""

    def executable(key: int, action: bytes, wallet: bytes) -> bool:
        listed = any(one.has_wallet(wallet) for one in all_groups(node, key))
        return listed and any(one.has_action(action) for one in own_groups(node, key))

    _decide_wallets(node, executable)


@mutant("EXEC-070")
def action_is_looked_for_in_all_groups(node: Node) -> None:
    """The wallet has to be in a group of the key's; the action may be in any group of the account."""

    def executable(key: int, action: bytes, wallet: bytes) -> bool:
        listed = any(one.has_action(action) for one in all_groups(node, key))
        return listed and any(one.has_wallet(wallet) for one in own_groups(node, key))

    wrap(
        node.accounts,
        "can_run",
        lambda _, key, action: executable(key, action, WILDCARD) or bool(own_groups(node, key)),
    )
    _decide_wallets(node, executable)


@mutant("EXEC-070")
def fitting_group_helps_every_key(node: Node) -> None:
    """A key that may execute in some group may use every group of the account that lists both."""
    decide(node, reach=lambda node, key: all_groups(node, key) if own_groups(node, key) else [])


@mutant("EXEC-350")
def first_group_with_the_action_decides(node: Node) -> None:
    """Of a key's groups that list the action only the first is asked about the wallet."""

    def executable(key: int, action: bytes, wallet: bytes) -> bool:
        fitting = [one for one in own_groups(node, key) if one.has_action(action)]
        return bool(fitting) and fitting[0].has_wallet(wallet)

    _decide_wallets(node, executable)


@mutant("EXEC-350")
def every_group_has_to_list_both(node: Node) -> None:
    """The run is refused where one of the key's groups lacks the action or the wallet."""

    def executable(key: int, action: bytes, wallet: bytes) -> bool:
        return all(permits(one, action, wallet) for one in own_groups(node, key))

    _decide_wallets(node, executable)


@mutant("EXEC-350")
def newest_group_decides_for_the_account_key(node: Node) -> None:
    """A run by the account key is decided by the account's newest group alone."""
    decide(
        node,
        reach=lambda node, key: (
            own_groups(node, key)[-1:] if permissions_of(node, key) is None else own_groups(node, key)
        ),
    )


# ------------------------------------------------------------------------------------------ conditions


@mutant("EXEC-040", "EXEC-220", "EXEC-120", "ERR-100")
def any_action_runs(node: Node) -> None:
    """Condition 2 is not asked: every code runs in every group."""
    decide(node, permits=lambda group, _, wallet: group.has_wallet(wallet))


@mutant("EXEC-050", "EXEC-200", "EXEC-120", "EXEC-090", "ERR-100")
def any_wallet_is_used(node: Node) -> None:
    """Condition 3 is not asked: every wallet of the account may be used in every group."""
    decide(node, permits=lambda group, action, _: group.has_action(action))


@mutant("EXEC-200")
def first_wallet_opens_the_others(node: Node) -> None:
    """Once a run has used a wallet, it is not asked about others."""
    opened: list[Run] = []

    def may_use(original: Callable[[Run, bytes], bool], run: Run, pkp_id: bytes) -> bool:
        if original(run, pkp_id):
            opened.append(run)
        return any(one is run for one in opened)

    wrap(node.runs, "may_use", may_use)


# ------------------------------------------------------------------------------------------ wildcards


@mutant("EXEC-100")
def wildcard_of_actions_is_ignored(node: Node) -> None:
    """The `0` among a group's actions is an action like others."""
    decide(node, permits=lambda group, action, wallet: action in group.actions and group.has_wallet(wallet))


@mutant("EXEC-110")
def wildcard_of_wallets_is_ignored(node: Node) -> None:
    """The all-zero id among a group's wallets is a wallet like others."""

    def only_listed(group: Lists, action: bytes, wallet: bytes | None) -> bool:
        return group.has_action(action) and (wallet is None or wallet in group.wallets)

    decide(node, permits=only_listed)


@mutant("EXEC-080", "EXEC-100")
def wildcard_of_actions_counts_for_wallets(node: Node) -> None:
    """A group that permits all actions permits all wallets, too."""
    decide(node, permits=lambda group, action, wallet: WILDCARD in group.actions or permits(group, action, wallet))


@mutant("EXEC-080", "EXEC-110")
def wildcard_of_wallets_counts_for_actions(node: Node) -> None:
    """A group that permits all wallets permits all actions, too."""
    decide(node, permits=lambda group, action, wallet: WILDCARD in group.wallets or permits(group, action, wallet))


@mutant("EXEC-080")
def wildcards_combine_across_groups(node: Node) -> None:
    """Concrete entries have to stand in one group; a wildcard of one of the key's groups counts in the others, too."""

    def executable(key: int, action: bytes, wallet: bytes) -> bool:
        groups = own_groups(node, key)
        all_actions = any(WILDCARD in one.actions for one in groups)
        all_wallets = any(WILDCARD in one.wallets for one in groups)
        return any(
            (all_actions or one.has_action(action)) and (all_wallets or one.has_wallet(wallet)) for one in groups
        )

    _decide_wallets(node, executable)


@mutant("EXEC-100")
def wildcard_of_actions_counts_in_every_group(node: Node) -> None:
    """Where one group of an account permits all actions, all its groups do."""
    decide(node, reach=_with_wildcards_of_all("actions"))


@mutant("EXEC-110")
def wildcard_of_wallets_counts_in_every_group(node: Node) -> None:
    """Where one group of an account permits all wallets, all its groups do."""
    decide(node, reach=_with_wildcards_of_all("wallets"))


def _with_wildcards_of_all(kind: str) -> Callable[[Node, int], list[Lists]]:
    def reach(node: Node, key: int) -> list[Lists]:
        held = any(WILDCARD in getattr(one, kind) for one in all_groups(node, key))
        more = (WILDCARD,) if held else ()
        return [
            Lists(
                one.id,
                one.actions + (more if kind == "actions" else ()),
                one.wallets + (more if kind == "wallets" else ()),
            )
            for one in own_groups(node, key)
        ]

    return reach


# ------------------------------------------------------------------------------------------ accounts


@mutant("EXEC-130")
def groups_of_the_same_number_are_shared(node: Node) -> None:
    """What a group of another account lists counts for a key that may execute in a group of its number."""
    accounts = accounts_made(node)

    def reach(node: Node, key: int) -> list[Lists]:
        numbers = {one.id for one in own_groups(node, key)}
        return [one for account in accounts for one in all_groups(node, account) if one.id in numbers]

    decide(node, reach=reach)


@mutant("EXEC-130")
def wildcards_reach_other_accounts(node: Node) -> None:
    """A group of any account that permits all wallets permits the actions that it lists to the keys of all accounts."""
    accounts = accounts_made(node)

    def reach(node: Node, key: int) -> list[Lists]:
        others = [one for account in accounts for one in all_groups(node, account) if WILDCARD in one.wallets]
        return own_groups(node, key) + (others if own_groups(node, key) else [])

    decide(node, reach=reach)


@mutant("EXEC-130")
def all_wallets_are_those_of_all_accounts(node: Node) -> None:
    """A group that permits all wallets permits those of other accounts, too."""
    accounts = accounts_made(node)

    def executable(key: int, action: bytes, wallet: bytes) -> bool:
        return any(permits(one, action, wallet) for one in own_groups(node, key))

    def wallet_key(_original: object, _run: Run, pkp_id: bytes) -> bytes:
        found = [one for account in accounts for one in node.accounts.wallets(account, 0, 100) if one.id == pkp_id]
        return node.keys.wallet_key(found[0].derivation_path)

    _decide_wallets(node, executable)
    wrap(node.runs, "wallet_key", wallet_key)
