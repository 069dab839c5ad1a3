"""Faults about lists that change by themselves, or change something."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qs

from conformance.selftest.tools.accounts import View, account_of, change_list, whole
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    change_accepted,
    intercept,
    note_accepted,
    wrap,
)
from conformance.selftest.tools.alter_payments import take_also
from conformance.selftest.tools.api_keys import header, presented
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import LISTS, WRITES
from reference_node.chain.account_config import Group, UsageKey
from reference_node.node import Node


@mutant("LIST-120", also="LIST-050 LIST-110")
def keys_change_places(node: Node) -> None:
    """Reverse every second answer of `list_api_keys`."""
    turn = itertools.cycle([1, -1])
    change_list(node, "usage_keys", lambda _, found: found[:: next(turn)])


@mutant("LIST-150", also="EP-420 LIST-120")
def listing_groups_makes_a_group(node: Node) -> None:
    """Create a third group when `list_groups` shows two that list two wallets each."""
    owners: dict[int, int] = {}

    def add(write: Callable[..., int], key: int, *arguments: object) -> int:
        owners[node.accounts.key_info(key).account_hash] = key
        return write(key, *arguments)

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        found = view(account, page, size)
        pairs = [
            group for group in whole(view, account) if len(node.accounts.wallets_in_group(account, group.id, 0, 3)) == 2
        ]
        if len(pairs) == 2 and len(view(account, 0, 3)) == 2 and account in owners:
            node.accounts.add_group(owners[account], "default", "", [], [])
        return found

    wrap(node.accounts, "add_group", add)
    wrap(node.accounts, "groups", groups)


@mutant("LIST-150", also="EP-420")
def listing_keys_sends_a_transaction(node: Node) -> None:
    """Write each key's metadata back as it is in `list_api_keys`."""
    owners: dict[int, int] = {}

    def add(write: Callable[..., object], key: int, *arguments: object) -> None:
        write(key, *arguments)
        owners[node.accounts.key_info(key).account_hash] = key

    def usage_keys(view: Callable[..., list[UsageKey]], account: int, page: int, size: int) -> list[UsageKey]:
        found = view(account, page, size)
        for key in found if account in owners and node.accounts.account(account).managed else ():
            node.accounts.update_usage_key_metadata(owners[account], key.key_hash, key.name, key.description)
        return found

    wrap(node.accounts, "set_usage_key", add)
    wrap(node.accounts, "usage_keys", usage_keys)


@mutant("LIST-170", also="EP-160 EP-180 GRPLIFE-010 GRPLIFE-020 GRPLIFE-030 GRPLIFE-100")
def lists_lag_behind_by_one_write(node: Node) -> None:
    """Show in `list_groups` the groups as they were before the account's last write on groups."""
    before: dict[int, list[Group]] = {}
    view = node.accounts.groups

    def remember(write: Callable[..., object], key: int, *arguments: object) -> object:
        account = node.accounts.key_info(key).account_hash
        groups = whole(view, account)
        written = write(key, *arguments)
        before[account] = groups
        return written

    def stale(_: object, account: int, page: int, size: int) -> list[Group]:
        return before[account][page * size :][:size] if account in before else view(account, page, size)

    for method in ("add_group", "update_group", "remove_group"):
        wrap(node.accounts, method, remember)
    wrap(node.accounts, "groups", stale)


@mutant(
    "LIST-170",
    also="EP-210 EP-220 EP-280 EP-290 EP-300 EP-350 EP-360 EP-370 GRPLIFE-010 "
    "GRPLIFE-020 GRPLIFE-030 GRPLIFE-100 KEYLIFE-010 KEYLIFE-060 KEYLIFE-090",
)
def lists_are_cached_for_ever(node: Node) -> None:
    """Cache every answer of a list for good, for each caller that the list is open to."""
    answers: dict[tuple[str, str, str], Answered] = {}

    change_accepted(
        node, LISTS, lambda request, given: answers.setdefault((request.path, request.query, presented(request)), given)
    )


@mutant(
    "LIST-170",
    each=[
        row("in-its-header", lambda request: bool(header(request, b"authorization"))),
        row("over-its-connection", lambda request: request.client),
        row("by-its-key", presented),
    ],
    also="AUTH-030 AUTH-190",
)
def writes_renew_what_was_read(node: Node, way: Callable[[Received], object]) -> None:
    """Cache answers of lists, and forget at a write those that were given in the same way; the label says which."""
    answers: dict[tuple[str, str, str, object], Answered] = {}

    async def read(request: Received, forward: Forward) -> Answered:
        asked = (request.path, request.query, presented(request), way(request))
        if asked not in answers:
            given = await forward(request)
            if not given.accepted:
                return given
            answers[asked] = given
        return answers[asked]

    def forget(request: Received, _: Answered) -> None:
        for asked in [asked for asked in answers if asked[-1] == way(request)]:
            del answers[asked]

    intercept(node, LISTS, read)
    note_accepted(node, WRITES, forget)


@mutant(
    "LIST-170",
    each=[
        row("wallet-of-a-group", "remove_pkp_from_group", "add_pkp_to_group", 2, also="EP-360"),
        row("action-of-a-group", "remove_action_from_group", "add_action_to_group", 2, also="EP-350"),
        row("action", "delete_action", "add_action", 1, also="EP-280"),
    ],
)
def what_was_taken_out_stays_out(node: Node, leaves: str, joins: str, named: int) -> None:
    """Accept `{joins}` after `{leaves}` of the same, and take it out again at once."""
    gone: dict[tuple[object, ...], Callable[[], object]] = {}

    def leave(write: Callable[..., object], key: int, *arguments: object) -> None:
        write(key, *arguments)
        gone[account_of(node, key), *arguments[:named]] = partial(write, key, *arguments)

    def join(write: Callable[..., object], key: int, *arguments: object) -> None:
        write(key, *arguments)
        gone.get((account_of(node, key), *arguments[:named]), lambda: None)()

    wrap(node.accounts, leaves, leave)
    wrap(node.accounts, joins, join)


@mutant("LIST-170", also="GRPLIFE-010 LIST-120")
def unknown_groups_stay_unknown(node: Node) -> None:
    """Cache for each caller that a group is unknown."""
    unknown: dict[tuple[str, tuple[str, ...], str], Answered] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        asked = (request.path, (*parse_qs(request.query).get("group_id", ()),), presented(request))
        if asked not in unknown:
            given = await forward(request)
            if given.status != 404:
                return given
            unknown[asked] = given
        return unknown[asked]

    intercept(node, LISTS, handler)


@mutant("LIST-120")
def pages_go_on_by_themselves(node: Node) -> None:
    """Answer a list without a page number with the page behind the one that was answered last."""
    read: Counter[tuple[str, str, str]] = Counter()

    async def handler(request: Received, forward: Forward) -> Answered:
        asked = (request.path, request.query, presented(request))
        if "page_size" in request.query and "page_number" not in request.query:
            request = replace(request, query=f"{request.query}&page_number={read[asked]}")
            read[asked] += 1
        return await forward(request)

    intercept(node, LISTS, handler)


@mutant("LIST-170", also="BILL-210 ERR-150")
def refused_writes_take_effect(node: Node) -> None:
    """Refuse an `add_group` with an unknown key, and do it with the key of the last accepted one."""
    last: list[tuple[tuple[bytes, bytes], ...]] = []

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            last[:] = [request.headers]
        elif given.status == 401 and last:
            await forward(replace(request, headers=last[0]))
        return given

    intercept(node, "add_group", handler)


@mutant("LIST-170", also="EP-350 LIST-120")
def second_wallet_is_listed_late(node: Node) -> None:
    """Answer `list_wallets` with what it answered before, once."""
    shown: dict[tuple[int, ...], list[object]] = {}

    def page(view: Callable[..., list[object]], *arguments: int) -> list[object]:
        before, shown[arguments] = shown.get(arguments), view(*arguments)
        return before or shown[arguments]

    wrap(node.accounts, "wallets", page)


@mutant("LIST-150", also="BILL-150 LIM-050")
def lists_cost_a_cent(node: Node) -> None:
    """Charge a cent for a list."""
    take_also(node, LISTS, lambda _: 1)


@mutant(
    "ACC-110",
    each=[row("wallets", "wallets_in_group"), row("actions", "actions_in_group")],
    also="ACC-120 EP-240 EP-250 EP-280 EP-430 LIST-160",
)
def lists_of_groups_are_kept_by_number(node: Node, view: str) -> None:
    """Answer a group's {view} with the last answer for a group of the same number, until something is written."""
    kept: dict[tuple[int, ...], object] = {}

    def listed(read: Callable[..., object], account: int, *asked: int) -> object:
        place = (node.chain.block_number(), *asked)
        if place not in kept:
            kept[place] = read(account, *asked)
        return kept[place]

    wrap(node.accounts, view, listed)
