"""Faults that need several clients: state that accounts share and that only an account's own requests wait for.

Each request waits a moment where another account's may come between. Requests of one account do not: cases that send
several at once find nothing.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable

from conformance.selftest.tools.accounts import Write, account_of
from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, refusal, wrap
from conformance.selftest.tools.alter_runs import Sandboxed
from conformance.selftest.under_load.registry import LOAD_MUTANTS, LoadMutant, load_mutant
from reference_node.billing import Hold
from reference_node.node import Node
from reference_node.sandbox import RunResult

MOMENT = 0.03
"""Seconds that a request waits with what it shares."""
MANY = 3
"""Requests under way at once, which few cases alone reach."""
COUNTED = ("new_account", "add_group", "create_wallet", "add_usage_api_key")
"""What most cases begin with: they count as requests under way, too, and are answered as they should be."""


class Own:
    """A lock for each account: what is left out is the one that all of them share."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._locks: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)

    def of(self, key: int) -> threading.Lock:
        """The lock of the account that a key belongs to."""
        return self._locks[account_of(self._node, key)]


# -------------------------------------------------------------------------------------------------- locks left out


@load_mutant("group_lifecycle")
def group_id_of_whoever_made_the_last_group(node: Node) -> None:
    """Answer `add_group` with the id that was given last, to whomever: the lock around both is left out."""
    own, last = Own(node), [0]

    def add(write: Callable[..., int], key: int, *arguments: object) -> int:
        with own.of(key):
            last[0] = write(key, *arguments)
            time.sleep(MOMENT)
            return last[0]

    wrap(node.accounts, "add_group", add)


@load_mutant(each=[("update_group", "groups"), ("remove_group", "group_lifecycle"), ("add_action", "actions")])
def nonce_is_taken_twice(node: Node, operation: str) -> None:
    """Read a payer's nonce for `{operation}` without the payers' lock: of two with one nonce, one is lost."""
    own, nonce = Own(node), [0]

    def write(send: Write, key: int, *arguments: object) -> object:
        with own.of(key):
            mine = nonce[0]
            time.sleep(MOMENT)
            if nonce[0] != mine:
                return None
            nonce[0] += 1
            return send(key, *arguments)

    wrap(node.accounts, operation, write)


@load_mutant("metering")
def charge_goes_to_the_last_caller(node: Node) -> None:
    """Keep the wallet to charge in one variable for all calls, without a lock around it."""
    last: list[bytes] = [b""]

    def hold(take: Callable[..., Hold], wallet: bytes, cents: int) -> Hold:
        last[0] = wallet
        time.sleep(MOMENT)
        return take(last[0], cents)

    wrap(node.billing, "hold", hold)


# ------------------------------------------------------------------------------------------- shared between callers


@load_mutant(each=[("create_wallet", "wallets"), ("add_usage_api_key", "usage_keys"), ("service_action", "group_runs")])
def answers_share_a_buffer(node: Node, operation: str) -> None:
    """Write the answers of `{operation}` into one buffer, and send what is in it a moment later."""
    own: defaultdict[str | None, asyncio.Lock] = defaultdict(asyncio.Lock)
    buffer: list[Answered] = [answer(200, None)]

    async def handler(request: Received, forward: Forward) -> Answered:
        async with own[request.key]:
            forwarded = await forward(request)
            if not forwarded.accepted:
                return forwarded
            buffer[0] = forwarded
            await asyncio.sleep(MOMENT)
            return buffer[0]

    intercept(node, operation, handler)


@load_mutant(each=[("list_groups", "groups"), ("list_wallets", "wallets"), ("list_api_keys", "usage_keys")])
def equal_lists_are_read_once(node: Node, operation: str) -> None:
    """Answer a `{operation}` with the list that is being read for the same page, whoever asked for it."""
    own: defaultdict[str | None, asyncio.Lock] = defaultdict(asyncio.Lock)
    under_way: dict[str, asyncio.Task[Answered]] = {}

    async def read(request: Received, forward: Forward) -> Answered:
        try:
            forwarded = await forward(request)
            await asyncio.sleep(MOMENT)
            return forwarded
        finally:
            del under_way[request.query]

    async def handler(request: Received, forward: Forward) -> Answered:
        async with own[request.key]:
            task = under_way.get(request.query)
            if task is None:
                task = under_way[request.query] = asyncio.create_task(read(request, forward))
            return await task

    intercept(node, operation, handler)


@load_mutant("group_runs")
def parameters_of_the_last_run(node: Node) -> None:
    """Keep the parameters of runs in one variable for all accounts."""
    last = [""]

    def run(sandboxed: Sandboxed, code: str, params: str, *others: object) -> RunResult:
        last[0] = params
        time.sleep(MOMENT)
        return sandboxed(code, last[0], *others)

    wrap(node.sandbox, "run", run)


@load_mutant("group_runs")
def verdict_of_the_last_question(node: Node) -> None:
    """Keep the contract's verdict on a run in one variable for all keys."""
    last = [False]

    def can_run(view: Callable[..., bool], *asked: object) -> bool:
        last[0] = view(*asked)
        time.sleep(MOMENT)
        return last[0]

    wrap(node.accounts, "can_run", can_run)


# ----------------------------------------------------------------------------------------------------------- when busy


def when_busy(node: Node, operation: str, otherwise: Callable[[Received, Forward], Awaitable[Answered]]) -> None:
    """Have `otherwise` answer requests of an operation while many are under way."""
    under_way = 0

    async def handler(request: Received, forward: Forward) -> Answered:
        nonlocal under_way
        under_way += 1
        try:
            await asyncio.sleep(MOMENT)
            if under_way > MANY and request.operation == operation:
                return await otherwise(request, forward)
            return await forward(request)
        finally:
            under_way -= 1

    intercept(node, (operation, *COUNTED), handler)


@load_mutant("groups")
def keys_are_unknown_when_busy(node: Node) -> None:
    """Find no key for a `list_groups` when connections to the accounts' database run out."""

    async def unknown(_request: Received, _forward: Forward) -> Answered:
        return refusal(401)

    when_busy(node, "list_groups", unknown)


@load_mutant(each=[("list_wallets_in_group", "groups"), ("list_actions", "actions")])
def lists_are_stale_when_busy(node: Node, operation: str) -> None:
    """Answer a `{operation}` with what the same key was answered the first time, when there are many."""
    kept: dict[tuple[str | None, str], Answered] = {}

    async def first(request: Received, forward: Forward) -> Answered:
        return kept.get((request.key, request.query)) or await forward(request)

    async def keep(request: Received, forward: Forward) -> Answered:
        forwarded = await forward(request)
        kept.setdefault((request.key, request.query), forwarded)
        return forwarded

    when_busy(node, operation, first)
    intercept(node, operation, keep)


@load_mutant(each=[("add_pkp_to_group", "groups")])
def writes_are_dropped_when_busy(node: Node, operation: str) -> None:
    """Answer that a `{operation}` is done and drop it, when the queue of writes is full."""

    async def dropped(_request: Received, _forward: Forward) -> Answered:
        return answer(200, {"success": True})

    when_busy(node, operation, dropped)


def load_mutants() -> tuple[LoadMutant, ...]:
    """All of them, in the order of their definition."""
    return tuple(LOAD_MUTANTS.values())
