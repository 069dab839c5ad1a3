"""Faults about what calls cost ("Billing", "Limits")."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from http import HTTPStatus

from conformance.selftest.tools.accounts import account_of, permissions_of
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    body_of,
    change_answer,
    intercept,
    members,
    wrap,
)
from conformance.selftest.tools.alter_payments import (
    BALANCE,
    charge_otherwise,
    give,
    payments_of,
    take,
    take_also,
    wallet_of,
)
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.tools.api_keys import header, is_by_usage_key, presented
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import GROUP_MEMBER_WRITES, LISTS, WRITES
from reference_node.billing import Cents
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key
from reference_node.permission.runs import Caller, Run


@mutant(
    "BILL-140",
    "LIM-050",
    each=[
        "addPkpToGroup",
        "removePkpFromGroup",
        "addActionToGroup",
        "removeActionFromGroup",
        "addGroup",
        "updateGroup",
        "removeGroup",
        "setUsageApiKey",
        "updateUsageApiKey",
        "updateUsageApiKeyMetadata",
        "removeUsageApiKey",
        "addAction",
        "updateActionMetadata",
        "deleteAction",
        "changeActionsOfGroup",
        "addPkpsToGroup",
    ],
)
def write_is_free(node: Node, function: str) -> None:
    """Charge nothing for a write by the contract's `{function}`."""
    paid_for: set[str] = set()

    def write(original: object, called: str, *arguments: object) -> object:
        if called == function:
            paid_for.add(threading.current_thread().name)
        return original(called, *arguments)  # type: ignore[operator]

    def hold(original: Callable[..., object], *given: object) -> object:
        paid_for.discard(threading.current_thread().name)
        return original(*given)

    def settle(original: object, hold: object, cents: int) -> None:
        free = threading.current_thread().name in paid_for
        paid_for.discard(threading.current_thread().name)
        original(hold, 0 if free else cents)  # type: ignore[operator]

    wrap(node.accounts, "_write", write)
    wrap(node.billing, "hold", hold)
    wrap(node.billing, "settle", settle)


@mutant("BILL-180", "BILL-320", also="BILL-190")
def runs_are_free(node: Node) -> None:
    """Charge nothing for runs."""
    node.runs.price = lambda: Cents(0)  # type: ignore[method-assign]


@mutant("BILL-170", also="BILL-220")
def writes_cost_three(node: Node) -> None:
    """Charge two cents more for each write, though the profile states one; writes at once pay less."""
    take_also(node, WRITES, lambda _: 2)


@mutant("BILL-170")
def runs_cost_nine(node: Node) -> None:
    """Charge nine cents for a second of a run, though the profile states one."""
    priced = node.runs.price
    node.runs.price = lambda: Cents(9 * priced())  # type: ignore[method-assign]


OVERLAP_SECONDS = 0.5
"""How long a write waits for another one to be under way: on a busy machine those sent at once come one by one."""


@mutant("BILL-220")
def second_write_at_once_costs_double(node: Node) -> None:
    """Charge two cents for a write that began while another one was under way."""
    under_way: set[str] = set()
    crowded: set[str] = set()
    changed = threading.Condition()

    def hold(original: object, wallet: Address, held: int) -> object:
        with changed:
            second = bool(under_way)
        made = original(wallet, max(held, 2) if second else held)  # type: ignore[operator]
        with changed:
            if second:
                crowded.add(made.id)
            under_way.add(made.id)
            changed.notify_all()
            changed.wait_for(lambda: len(under_way) > 1, OVERLAP_SECONDS)
        return made

    def end(made: object) -> bool:
        name: str = made.id  # type: ignore[attr-defined]
        with changed:
            under_way.discard(name)
        return name in crowded

    def settle(original: object, made: object, charged: int) -> None:
        original(made, 2 if end(made) else charged)  # type: ignore[operator]

    def release(original: object, made: object) -> None:
        end(made)
        original(made)  # type: ignore[operator]

    wrap(node.billing, "hold", hold)
    wrap(node.billing, "settle", settle)
    wrap(node.billing, "release", release)


@mutant("BILL-020")
def balance_is_stale(node: Node) -> None:
    """Answer a balance of seven cents, whatever it is."""
    change_answer(node, BALANCE, lambda value: {**members(value), "balance_cents": 7})


@mutant(
    "BILL-150",
    each=[
        *[row(name, name, breaks="LIM-050") for name in LISTS],
        row("account_exists", also="LIM-050"),
        row("get_service_action_ipfs_id", also="LIM-050"),
        row("get_node_chain_config", also="LIM-050"),
        row("balance", BALANCE, also="LIM-050"),
    ],
    also="LIST-150",
)
def read_is_billed(node: Node, operation: str) -> None:
    """Charge a cent for `{operation}` to whoever's key is presented."""
    take_also(node, operation, lambda _: 1)


@mutant("BILL-170", also="LIM-050")
def each_entry_of_a_new_group_costs(node: Node) -> None:
    """Charge a cent for each entry of the lists of `add_group`, beside the price of the write."""

    def entries(request: Received) -> int:
        lists = (body_of(request).get(name) for name in ("pkp_ids_permitted", "cid_hashes_permitted"))
        return sum(len(listed) for listed in lists if isinstance(listed, list))

    take_also(node, "add_group", entries)


@mutant("BILL-150", also="LIM-050 LIST-150")
def only_some_reads_are_free(node: Node) -> None:
    """Charge a cent for each `list_groups` of an account after its first twenty."""
    asked: Counter[Address] = Counter()

    def cents(_: Received, given: Answered, wallet: Address) -> int:
        asked[wallet] += given.accepted
        return int(given.accepted and asked[wallet] > 20)

    charge_otherwise(node, "list_groups", cents)


@mutant("BILL-150", also="LIM-050 LIST-150")
def wallets_of_a_group_are_billed_to_usage_keys(node: Node) -> None:
    """Charge a cent for `list_wallets_in_group` by a usage key."""
    take_also(node, "list_wallets_in_group", lambda request: int(is_by_usage_key(node, request)))


@mutant("BILL-150", also="LIM-050 LIST-150")
def actions_of_a_group_are_billed(node: Node) -> None:
    """Charge a cent for `list_actions` of a group."""
    take_also(node, "list_actions", lambda request: int("group_id" in request.query))


@mutant("BILL-140", each=["usage_keys", row("bearer", also="AUTH-030")], also="LIM-050")
def some_callers_write_for_nothing(node: Node, kind: str) -> None:
    """Charge nothing for the writes of {kind}."""
    free: ContextVar[bool] = ContextVar("free", default=False)

    async def handler(request: Received, forward: Forward) -> Answered:
        free.set(bool(header(request, b"authorization")) if kind == "bearer" else is_by_usage_key(node, request))
        return await forward(request)

    intercept(node, WRITES, handler)
    wrap(node.billing, "settle", lambda original, hold, cents: original(hold, 0 if free.get() else cents))


@mutant("BILL-140", also="LIM-050")
def repeated_write_is_free(node: Node) -> None:
    """Charge nothing for a write that is the same as the account's last one."""
    last: dict[Address, bytes] = {}

    def cents(request: Received, given: Answered, wallet: Address) -> int:
        if not given.accepted:
            return 0
        before, last[wallet] = last.get(wallet), request.path.encode() + request.body
        return -1 if before == last[wallet] else 0

    charge_otherwise(node, WRITES, cents)


@mutant("BILL-210", also="ERR-150")
def conflicting_write_is_charged(node: Node) -> None:
    """Charge a cent for a write that is refused with 409."""
    charge_otherwise(node, WRITES, lambda _, given, __: int(given.status == HTTPStatus.CONFLICT))


@mutant("BILL-210", also="ERR-150")
def hold_of_a_refused_write_is_kept(node: Node) -> None:
    """Never give back what a refused write held."""

    def release(_: object, hold: object) -> None:
        del hold

    wrap(node.billing, "release", release)


@mutant("BILL-180", also="BILL-190")
def runs_by_the_account_key_are_free(node: Node) -> None:
    """Charge nothing for runs by the account key."""
    is_free: ContextVar[bool] = ContextVar("is_free", default=False)

    def run(original: Callable[..., object], caller: Caller, *given: object) -> object:
        is_free.set(caller.is_account_key)
        return original(caller, *given)

    wrap(node.runs, "run", run)
    priced = node.runs.price
    node.runs.price = lambda: Cents(0) if is_free.get() else priced()  # type: ignore[method-assign]


@mutant("BILL-180")
def runs_at_once_are_charged_as_one(node: Node) -> None:
    """Charge nothing for a run that begins while another one goes on."""
    going_on: list[object] = []

    def run(original: Callable[..., object], *given: object) -> object:
        going_on.append(given)
        try:
            return original(*given)
        finally:
            going_on.pop()

    wrap(node.runs, "run", run)
    priced = node.runs.price
    node.runs.price = lambda: Cents(0) if len(going_on) > 1 else priced()  # type: ignore[method-assign]


@mutant("BILL-180")
def later_seconds_are_paid_by_whoever_began_last(node: Node) -> None:
    """Charge the later seconds of a run to the account whose run began last."""
    last: list[int] = []

    @contextmanager
    def charged(_: object, run: Run) -> Iterator[Callable[[int], bool]]:
        last[:] = [run.caller.account_hash]
        with ExitStack() as seconds:

            def start_second(_number: int) -> bool:
                seconds.enter_context(node.charged(last[0], node.runs.price()))
                return True

            start_second(0)
            yield start_second

    wrap(node.runs, "_charged", charged)


@mutant("BILL-070")
def payments_during_a_run_are_lost(node: Node) -> None:
    """Write back, when a run ends, no more than the balance that it began with."""

    @contextmanager
    def charged(original: Callable[[Run], AbstractContextManager[object]], run: Run) -> Iterator[object]:
        wallet = node.accounts.account(run.caller.account_hash).admin_wallet
        before = node.billing.balance(wallet)
        with original(run) as next_second:
            yield next_second
        if (more := node.billing.balance(wallet) - before) > 0:
            take(node, wallet, more)

    wrap(node.runs, "_charged", charged)


@mutant("BILL-150", also="LIM-050 LIST-150")
def empty_page_is_billed(node: Node) -> None:
    """Charge a cent for a page of a list with nothing on it."""
    charge_otherwise(node, LISTS, lambda _, given, __: int(given.accepted and given.body == b"[]"))


@mutant(each=[row("add_group", breaks="BILL-210", also="ERR-150"), row("run", RUN, breaks="ERR-150")])
def call_by_a_removed_key_is_charged(node: Node, operation: str) -> None:
    """Charge an account a cent for `{operation}` when it is refused to a usage key that the account has removed."""
    owners: dict[str, Address] = {}

    async def learn(request: Received, forward: Forward) -> Answered:
        wallet, given = wallet_of(node, request), await forward(request)
        if given.accepted and wallet is not None:
            owners[str(given.told["usage_api_key"])] = wallet
        return given

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        owner = owners.get(presented(request))
        if given.status == 401 and owner is not None:
            take(node, owner, 1)
        return given

    intercept(node, "add_usage_api_key", learn)
    intercept(node, operation, handler)


@mutant("BILL-140", also="LIM-050")
def price_is_charged_every_other_time(node: Node) -> None:
    """Charge nothing for every other write of an account."""
    written: Counter[Address] = Counter()

    def cents(_: Received, given: Answered, wallet: Address) -> int:
        written[wallet] += given.accepted
        return -1 if given.accepted and written[wallet] % 2 else 0

    charge_otherwise(node, WRITES, cents)


@mutant("BILL-150", also="LIM-050 LIST-150")
def account_is_charged_for_being_there(node: Node) -> None:
    """Charge a cent for every tenth request of any kind to whoever's key it presents."""
    counted: Counter[Address] = Counter()

    def cents(_: Received, __: Answered, wallet: Address) -> int:
        counted[wallet] += 1
        return int(counted[wallet] % 10 == 0)

    charge_otherwise(node, ("list_groups", "list_wallets", "list_actions", "list_api_keys", BALANCE), cents)


@mutant("BILL-180")
def runs_are_paid_by_whoever_registered_the_action(node: Node) -> None:
    """Charge a run to the account that was the first to register its action, if one was."""
    first: dict[bytes, int] = {}

    def add(original: Callable[..., object], key: int, action: bytes, *labels: object) -> object:
        first.setdefault(action, account_of(node, key))
        return original(key, action, *labels)

    def charged(original: Callable[[Run], AbstractContextManager[object]], run: Run) -> AbstractContextManager[object]:
        payer = replace(run.caller, account_hash=first.get(run.action, run.caller.account_hash))
        return original(replace(run, caller=payer))

    wrap(node.accounts, "add_action", add)
    wrap(node.runs, "_charged", charged)


@mutant("BILL-140", also="LIM-050")
def writes_by_wildcard_are_free(node: Node) -> None:
    """Charge nothing for what a usage key writes in a group by the wildcard, which is no group's id."""

    def cents(request: Received, given: Answered, _: Address) -> int:
        secret = parse_key(presented(request))
        held = permissions_of(node, key_hash(secret)) if given.accepted and secret else None
        arrays = (held.manage_ipfs_ids_in_groups, held.add_pkp_to_groups, held.remove_pkp_from_groups) if held else ()
        return -1 if any(0 in groups for groups in arrays) else 0

    charge_otherwise(node, GROUP_MEMBER_WRITES, cents)


@mutant("BILL-140", also="LIM-050")
def writes_with_a_query_are_free(node: Node) -> None:
    """Look the price of a write up by its whole target: with a query, which is overlooked, it has none."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given, wallet = await forward(replace(request, query="")), wallet_of(node, request)
        if request.query and given.accepted and wallet is not None:
            give(node, wallet, 1)
        return given

    intercept(node, WRITES, handler)


@mutant("BILL-150", each=["HEAD", "OPTIONS"], also="LIM-050 LIST-150")
def whatever_is_no_get_is_billed(node: Node, method: str) -> None:
    """Charge a cent for {method} of a list."""
    charge_otherwise(node, LISTS, lambda request, _, __: int(request.method == method))


@mutant("BILL-020", also="BILL-230")
def each_intent_is_of_another_customer(node: Node) -> None:
    """Show a wallet whose account was made on the chain nothing while its newest intent is not credited."""
    open_intents: set[Address] = set()

    def create(original: Callable[[Address, int], str], wallet: Address, cents: int) -> str:
        open_intents.add(wallet)
        return original(wallet, cents)

    def confirm(original: Callable[[Address, str], None], wallet: Address, intent_id: str) -> None:
        original(wallet, intent_id)
        open_intents.discard(wallet)

    async def handler(request: Received, forward: Forward) -> Answered:
        given, wallet = await forward(request), wallet_of(node, request)
        alone = wallet in open_intents and wallet not in moved and not presented(request)
        return given.having({**given.told, "balance_cents": 0}) if alone and given.accepted else given

    moved: set[Address] = set()

    def move(original: Callable[..., None], account: int, wallet: Address, new: Address) -> None:
        original(account, wallet, new)
        moved.add(new)

    wrap(payments_of(node), "create", create)
    wrap(payments_of(node), "confirm", confirm)
    wrap(node.billing, "move", move)
    intercept(node, BALANCE, handler)


@mutant("BILL-210", also="ERR-150")
def refused_write_of_an_old_master_key_is_charged(node: Node) -> None:
    """Charge the admin wallet of a converted account a cent for a write that is refused to the old master key."""

    def cents(request: Received, given: Answered, _: Address) -> int:
        secret = parse_key(presented(request))
        info = node.accounts.key_info(key_hash(secret)) if secret and not given.accepted else None
        return int(info is not None and info.is_account_key and not info.managed)

    charge_otherwise(node, WRITES, cents)
