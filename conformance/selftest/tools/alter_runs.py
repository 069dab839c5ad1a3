"""Alters runs: what goes into the sandbox and comes out, and how the Execution rule is decided."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from pydantic import JsonValue

from conformance.selftest.tools.accounts import account_of, permissions_of, whole
from conformance.selftest.tools.alter import wrap
from reference_node.chain.account_config import WILDCARD
from reference_node.node import Node
from reference_node.sandbox import RunResult

RUN = "service_action"
"""The operation, as the node's paths name it."""

Sandboxed = Callable[..., RunResult]


def change_input(node: Node, change: Callable[[str, str], tuple[str, str]]) -> None:
    """Run other code and parameters (both texts) than were sent; the sent code still decides what is permitted."""

    def run(sandboxed: Sandboxed, code: str, params: str, *others: object) -> RunResult:
        return sandboxed(*change(code, params), *others)

    wrap(node.sandbox, "run", run)


def change_code(node: Node, change: Callable[[str], str]) -> None:
    """Run other code than was sent."""
    change_input(node, lambda code, params: (change(code), params))


def change_params(node: Node, change: Callable[[JsonValue], JsonValue]) -> None:
    """Run with other parameters than were sent."""
    change_input(node, lambda code, params: (code, json.dumps(change(json.loads(params)))))


def change_result(node: Node, change: Callable[[str, str, RunResult], RunResult]) -> None:
    """Answer another result; `change` also gets the code and the parameters, as texts."""

    def run(sandboxed: Sandboxed, code: str, params: str, *others: object) -> RunResult:
        return change(code, params, sandboxed(code, params, *others))

    wrap(node.sandbox, "run", run)


def change_response(node: Node, change: Callable[[JsonValue], JsonValue]) -> None:
    """Answer another response where the run ended with one."""

    def other(_code: str, _params: str, result: RunResult) -> RunResult:
        if result.response is None:
            return result
        return replace(result, response=json.dumps(change(json.loads(result.response))))

    change_result(node, other)


def change_logs(node: Node, change: Callable[[str], str]) -> None:
    """Answer other logs."""
    change_result(node, lambda _code, _params, result: replace(result, logs=change(result.logs)))


def everywhere(change: Callable[[JsonValue], JsonValue]) -> Callable[[JsonValue], JsonValue]:
    """Apply a change to every value inside a value, the innermost first; names stay."""

    def deep(value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return change({name: deep(inner) for name, inner in value.items()})
        if isinstance(value, list):
            return change([deep(inner) for inner in value])
        return change(value)

    return deep


@dataclass(frozen=True)
class Lists:
    """A group as the Execution rule sees it."""

    id: int
    actions: tuple[bytes, ...]
    wallets: tuple[bytes, ...]

    def has_action(self, action: bytes) -> bool:
        """Whether it permits the action (condition 2)."""
        return action in self.actions or WILDCARD in self.actions

    def has_wallet(self, wallet: bytes | None) -> bool:
        """Whether it permits the wallet (condition 3); a run that has used no wallet yet meets it."""
        return wallet is None or wallet in self.wallets or WILDCARD in self.wallets


Permits = Callable[[Lists, bytes, bytes | None], bool]
"""Whether a group permits an action a wallet; no wallet: whether the action may begin."""
Reach = Callable[[Node, int], list[Lists]]
"""The groups that a key may use."""


def all_groups(node: Node, key: int, ids: Collection[int] | None = None) -> list[Lists]:
    """Return the groups of the key's account, whatever the key may use; with `ids` those of them alone."""
    account, accounts = account_of(node, key), node.accounts
    return [
        Lists(
            group.id,
            tuple(action.cid_hash for action in whole(accounts.actions_in_group, account, group.id)),
            tuple(wallet.id for wallet in whole(accounts.wallets_in_group, account, group.id)),
        )
        for group in whole(accounts.groups, account)
        if ids is None or group.id in ids
    ]


def own_groups(node: Node, key: int) -> list[Lists]:
    """Return the groups that the key may use, by condition 1."""
    permissions = permissions_of(node, key)
    if permissions is None or 0 in permissions.execute_in_groups:
        return all_groups(node, key)
    return all_groups(node, key, permissions.execute_in_groups)


def permits(group: Lists, action: bytes, wallet: bytes | None) -> bool:
    """Whether conditions 2 and 3 hold, as the specification has them."""
    return group.has_action(action) and group.has_wallet(wallet)


def decide(node: Node, permits: Permits = permits, reach: Reach = own_groups) -> None:
    """Decide every run by these, group by group, in place of the contract's rule."""

    def can_run(_view: object, key: int, action: bytes) -> bool:
        return any(permits(group, action, None) for group in reach(node, key))

    def can_execute(_view: object, key: int, action: bytes, wallet: bytes) -> bool:
        return any(permits(group, action, wallet) for group in reach(node, key))

    wrap(node.accounts, "can_run", can_run)
    wrap(node.accounts, "can_execute", can_execute)


def change_verdicts(node: Node, change: Callable[[bool, tuple[int, bytes, bytes | None]], bool]) -> None:
    """Change what the contract says of a key, an action and a wallet (none: whether the action may begin)."""
    wrap(node.accounts, "can_run", lambda view, key, action: change(view(key, action), (key, action, None)))
    wrap(
        node.accounts,
        "can_execute",
        lambda view, key, action, wallet: change(view(key, action, wallet), (key, action, wallet)),
    )


def change_execute_groups(node: Node, key: int, change: Callable[[list[int]], list[int]]) -> None:
    """Change the groups that a usage key may execute in."""
    account = account_of(node, key)
    kept = node.accounts.usage_key(account, key)
    groups = change(list(kept.permissions.execute_in_groups))
    node.accounts.update_usage_key(
        account, key, kept.name, kept.description, replace(kept.permissions, execute_in_groups=groups)
    )
