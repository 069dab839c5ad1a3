"""Faults about the keys of runs: what `execute_in_groups` and the account key open, and whose key counts."""

from __future__ import annotations

from collections.abc import Callable

from conformance.selftest.tools.accounts import account_of, permissions_of, whole
from conformance.selftest.tools.alter import Answered, Forward, Received, change_request, intercept, wrap
from conformance.selftest.tools.alter_runs import RUN, Lists, all_groups, change_verdicts, decide, own_groups, permits
from conformance.selftest.tools.api_keys import key_book, presented, under
from conformance.selftest.tools.concurrent_requests import one_answer_at_a_time
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node


def _is_account_key(node: Node, key: int) -> bool:
    return node.accounts.key_info(key).is_account_key


# ------------------------------------------------------------------------------------------ execute_in_groups


@mutant(
    each=[
        row(
            "all-groups",
            lambda _: [0],
            breaks="EXEC-030 EXEC-070 GRP-150 UKEY-270 UKEY-300 SCOPE-020 SCOPE-110 AUTH-080",
            also="EXEC-090 EXEC-230 GRPLIFE-120 KEYLIFE-030 SCOPE-090 UKEY-290 UKEY-440",
        ),
        row(
            "all-groups-where-empty",
            lambda groups: groups or [0],
            breaks="EXEC-030 UKEY-300 UKEY-440 SCOPE-090 SCOPE-110 AUTH-080",
            also="EXEC-090 EXEC-230 GRP-150 KEYLIFE-030 SCOPE-020 UKEY-270",
        ),
        row(
            "without-0",
            lambda groups: [group for group in groups if group],
            breaks="EXEC-090 UKEY-280 LIM-040 AUTH-160 UKEY-310",
            also="EXEC-350 UKEY-320",
        ),
        row(
            "0-only-alone",
            lambda groups: groups if groups == [0] else [group for group in groups if group],
            breaks="UKEY-310",
            also="LIM-040",
        ),
        row(
            "0-alone",
            lambda groups: [0] if 0 in groups else [],
            breaks="UKEY-260 SCOPE-020 KEYLIFE-020",
            also="AUTH-150 AUTH-170 EXEC-010 EXEC-090 UKEY-290",
        ),
        row(
            "up-to-the-largest",
            lambda groups: [0] if 0 in groups else [*range(1, max(groups, default=0) + 1)],
            breaks="EXEC-030",
            also="AUTH-080 EXEC-070 EXEC-090 EXEC-230 GRP-150 KEYLIFE-030 SCOPE-020 SCOPE-110 UKEY-270 UKEY-290",
        ),
    ]
)
def key_runs_in_other_groups(node: Node, change: Callable[[list[int]], list[int]]) -> None:
    """Decide runs by other groups than the key's `execute_in_groups`; the label says by which."""

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        if permissions is None:
            return own_groups(node, key)
        held = change(list(permissions.execute_in_groups))
        return [one for one in all_groups(node, key) if 0 in held or one.id in held]

    decide(node, reach=reach)


@mutant(
    each=[
        row(
            "account-key-runs-all",
            lambda right, owner: right or owner,
            breaks="EXEC-120 EXEC-040 EXEC-090",
            also=(
                "ACT-070 EXEC-050 EXEC-060 EXEC-080 EXEC-200 EXEC-210 EXEC-220 EXEC-230 GRP-140 GRPLIFE-040 "
                "GRPLIFE-050 GRPLIFE-060 GRPLIFE-070"
            ),
        ),
        row(
            "account-key-runs-nothing",
            lambda right, owner: right and not owner,
            breaks="EXEC-020 EXEC-090",
            also="AKEY-070 AUTH-150 GRP-250",
        ),
    ]
)
def kind_of_key_decides(node: Node, change: Callable[[bool, bool], bool]) -> None:
    """Decide a run by whether the key is the account key; the label says how."""
    change_verdicts(node, lambda right, question: change(right, _is_account_key(node, question[0])))


@mutant("EXEC-350", also="EXEC-010 EXEC-020 EXEC-090 GRP-060 GRP-070 PKP-060 UKEY-290")
def first_group_of_the_action_decides(node: Node) -> None:
    """Decide which wallets an action may use by the first of the key's groups that lists it."""

    def can_execute(_view: object, key: int, action: bytes, wallet: bytes) -> bool:
        groups = [group for group in own_groups(node, key) if group.has_action(action)]
        return bool(groups) and groups[0].has_wallet(wallet)

    wrap(node.accounts, "can_execute", can_execute)


# ------------------------------------------------------------------------------------------ account key


@mutant("EXEC-020", also="AKEY-070 AUTH-150 EXEC-090 GRP-250")
def account_key_runs_what_some_usage_key_may(node: Node) -> None:
    """Let the account key use only groups in which some usage key may execute."""

    def reach(node: Node, key: int) -> list[Lists]:
        if not _is_account_key(node, key):
            return own_groups(node, key)
        arrays = [one.permissions.execute_in_groups for one in whole(node.accounts.usage_keys, key)]
        return [one for one in all_groups(node, key) if any(0 in held or one.id in held for held in arrays)]

    decide(node, permits, reach)


# ------------------------------------------------------------------------------------------ keys that count


@mutant("EXEC-260", "EXEC-090", "KEYLIFE-080", "AUTH-030", "AUTH-050")
def removed_keys_still_run(node: Node) -> None:
    """Let a removed usage key run what the account key may."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        return await forward(under(request, book.account_of(key)) if key in book.removed else request)

    intercept(node, RUN, handler)


@mutant("EXEC-260", also="AUTH-040 AUTH-200")
def runs_need_no_key(node: Node) -> None:
    """Take a run without a key for one of the newest account."""
    book = key_book(node)

    change_request(node, RUN, lambda request: request if presented(request) else under(request, book.accounts[-1]))


@mutant("EXEC-090", also="AUTH-080 EXEC-040 EXEC-130 PKP-150 UKEY-330")
def keys_of_other_accounts_run(node: Node) -> None:
    """Try a refused run with the key of each other one of the ten newest accounts."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        own = book.account_of(presented(request))
        for account in book.accounts[-10:] if given.status == 403 else ():
            tried = await forward(under(request, account)) if account != own else given
            if tried.accepted:
                return tried
        return given

    intercept(node, RUN, handler)


@mutant(
    "EXEC-250",
    also=(
        "AUTH-160 AUTH-170 BILL-320 CHAIN-050 EXEC-010 EXEC-090 MINT-120 MINT-150 MODE-090 MODE-330 "
        "MODE-360 SCOPE-020 UKEY-260"
    ),
)
def chain_secured_accounts_run_nothing(node: Node) -> None:
    """Refuse runs in ChainSecured accounts."""
    wrap(node.runs, "may_run", lambda original, run: run.caller.managed and original(run))


@mutant("EXEC-010", "EXEC-050", also="EXEC-230 EXEC-270")
def latest_key_of_the_account_decides(node: Node) -> None:
    """Decide each use of a wallet for the key of that account whose run began last."""
    latest: dict[int, int] = {}

    def can_run(view: Callable[..., bool], key: int, cid_hash: bytes) -> bool:
        latest[account_of(node, key)] = key
        return view(key, cid_hash)

    wrap(node.accounts, "can_run", can_run)
    wrap(node.accounts, "can_execute", lambda view, key, *use: view(latest.get(account_of(node, key), key), *use))


@mutant("EXEC-050", also="AUTH-080 BILL-180 EXEC-030 EXEC-090 EXEC-130 EXEC-180 EXEC-260 EXEC-270 UKEY-270")
def equal_runs_at_once_are_one_run(node: Node) -> None:
    """Answer runs of the same code and parameters that come while one is under way with the answer to that one."""
    one_answer_at_a_time(node, RUN, lambda request: request.body)
