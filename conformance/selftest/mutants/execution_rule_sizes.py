"""Faults in deciding the Execution rule that need a large account, or two runs at once, to show."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from conformance.selftest.tools.accounts import account_of, permissions_of
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_runs import Lists, all_groups, decide, own_groups
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.runs import Caller, Run
from reference_node.sandbox import RunResult

PAGE = 20
FEW = 10
WAIT_SECONDS = 20.0
Running = Callable[[Caller, str, str], RunResult]


@mutant("EXEC-020", "UKEY-280", also="EXEC-010 EXEC-350 GRP-060 GRP-250 UKEY-260 UKEY-320")
def only_a_page_of_groups_is_asked(node: Node) -> None:
    """Let only the account's first twenty groups count: their list has a second page."""

    def reach(node: Node, key: int) -> list[Lists]:
        first = {group.id for group in node.accounts.groups(account_of(node, key), 0, PAGE)}
        return [one for one in own_groups(node, key) if one.id in first]

    decide(node, reach=reach)


@mutant(
    each=[row("actions", breaks="GRP-050", also="GRPLIFE-050"), row("wallets", breaks="GRP-040", also="GRPLIFE-040")],
    also="EXEC-010 EXEC-020 GRP-060",
)
def only_a_page_of_a_group_is_asked(node: Node, kind: str) -> None:
    """Let the first twenty {kind} that a group lists count, and no others: their list has a second page."""
    decide(
        node,
        reach=lambda node, key: [replace(one, **{kind: getattr(one, kind)[:PAGE]}) for one in own_groups(node, key)],
    )


@mutant("UKEY-290", also="EXEC-010 EXEC-350 UKEY-260 UKEY-310")
def only_some_groups_of_a_key_count(node: Node) -> None:
    """Let only the first ten entries of `execute_in_groups` count."""

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        if permissions is None:
            return own_groups(node, key)
        held = list(permissions.execute_in_groups)[:FEW]
        return [one for one in all_groups(node, key) if 0 in held or one.id in held]

    decide(node, reach=reach)


@mutant("UKEY-270", also="AUTH-080 EXEC-030 EXEC-070 GRP-150 SCOPE-020 SCOPE-110 UKEY-290")
def group_ids_are_found_in_texts(node: Node) -> None:
    """Look for a group's id in the text of `execute_in_groups`, so that 2 is found in `[23]`."""

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        if permissions is None or 0 in permissions.execute_in_groups:
            return own_groups(node, key)
        return [one for one in all_groups(node, key) if str(one.id) in str(list(permissions.execute_in_groups))]

    decide(node, reach=reach)


@dataclass
class _Flight:
    """Holds a run that is under way."""

    over: threading.Event = field(default_factory=threading.Event)
    result: RunResult | None = None


@mutant(
    "EXEC-030",
    each=[row("whoever-asks", False), row("who-may-run-it", True)],
    also="AUTH-080 BILL-180 EXEC-050 EXEC-130 EXEC-180 EXEC-270 UKEY-270",
)
def equal_runs_at_once_are_one(node: Node, asks_first: bool) -> None:
    """Answer a run with the result of an equal one that is under way; the label says to whom."""
    flights: dict[tuple[str, str], _Flight] = {}
    lock = threading.Lock()

    def run(running: Running, caller: Caller, code: str, params: str) -> RunResult:
        own = _Flight()
        if asks_first and not node.runs.may_run(Run(caller, node.runs.action(code))):
            return running(caller, code, params)
        with lock:
            flight = flights.setdefault((code, params), own)
        if flight is not own:
            flight.over.wait(WAIT_SECONDS)
            return flight.result or running(caller, code, params)
        try:
            own.result = running(caller, code, params)
            return own.result
        finally:
            with lock:
                del flights[(code, params)]
            own.over.set()

    wrap(node.runs, "run", run)
