"""Faults about lists: their order, their pages, bad page fields, and whether they show the present."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qsl

from conformance.selftest.alter import (
    Answered,
    Forward,
    Received,
    answer,
    change_items,
    change_query,
    intercept,
    refusal,
    wrap,
)
from conformance.selftest.mutant import mutant
from reference_node.chain.account_config import Group, UsageKey
from reference_node.node import Node

LISTS = ("list_groups", "list_api_keys", "list_wallets", "list_wallets_in_group", "list_actions")
WRITES_OF_GROUPS = (
    "add_group",
    "update_group",
    "remove_group",
    "add_pkp_to_group",
    "remove_pkp_from_group",
    "add_action_to_group",
    "remove_action_from_group",
)
WRITES = (
    *WRITES_OF_GROUPS,
    "create_wallet",
    "add_action",
    "update_action_metadata",
    "delete_action",
    "add_usage_api_key",
    "update_usage_api_key",
    "update_usage_api_key_metadata",
    "remove_usage_api_key",
)
GREATEST_PAGE = "100"
BEYOND_64_BITS = 2**63

View = Callable[..., list[Group]]


@mutant("LIST-010", "LIST-020")
def groups_are_listed_newest_first(node: Node) -> None:
    """`list_groups` shows the newest group first."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        return view(account, 0, 100)[::-1][page * size : (page + 1) * size]

    wrap(node.accounts, "groups", groups)


@mutant("LIST-010")
def groups_are_sorted_by_name(node: Node) -> None:
    """`list_groups` is in the order of the names."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        return sorted(view(account, 0, 100), key=lambda group: group.name)[page * size : (page + 1) * size]

    wrap(node.accounts, "groups", groups)


@mutant("LIST-020")
def pages_are_in_order_and_the_list_is_not(node: Node) -> None:
    """The pages of `list_groups` come newest first; within a page the groups are in creation order."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        found = view(account, 0, 100)
        pages = [found[at : at + size] for at in range(0, len(found), size)][::-1]
        return pages[page] if page < len(pages) else []

    wrap(node.accounts, "groups", groups)


@mutant("LIST-020", "LIST-050")
def pages_overlap(node: Node) -> None:
    """A page of `list_groups` begins with the last item of the page before it."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        start = max(page * size - 1, 0)
        return view(account, 0, 100)[start : start + size]

    wrap(node.accounts, "groups", groups)


@mutant("LIST-020", "LIST-050")
def pages_leave_an_item_out(node: Node) -> None:
    """Between two pages of `list_groups` one item is missing."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        start = page * (size + 1)
        return view(account, 0, 100)[start : start + size]

    wrap(node.accounts, "groups", groups)


@mutant("LIST-030")
def removal_moves_the_last_group(node: Node) -> None:
    """The newest group takes the place of a removed one, as in an array from which items are removed by swapping."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        found = view(account, 0, 100)
        for place in range(len(found)):
            if place < len(found) - 1 and found[place].id != place + 1:
                found.insert(place, found.pop())
                break
        return found[page * size : (page + 1) * size]

    wrap(node.accounts, "groups", groups)


def _greatest_page(node: Node, operation: str) -> None:
    change_query(node, operation, lambda query: {**query, "page_size": GREATEST_PAGE})


@mutant("LIST-040")
def page_size_of_groups_is_ignored(node: Node) -> None:
    """`list_groups` answers as many items as there are."""
    _greatest_page(node, "list_groups")


@mutant("LIST-040")
def page_size_of_keys_is_ignored(node: Node) -> None:
    """`list_api_keys` answers as many items as there are."""
    _greatest_page(node, "list_api_keys")


@mutant("LIST-040")
def page_size_of_wallets_is_ignored(node: Node) -> None:
    """`list_wallets` answers as many items as there are."""
    _greatest_page(node, "list_wallets")


@mutant("LIST-040")
def page_size_of_wallets_in_group_is_ignored(node: Node) -> None:
    """`list_wallets_in_group` answers as many items as there are."""
    _greatest_page(node, "list_wallets_in_group")


@mutant("LIST-040")
def page_size_of_actions_is_ignored(node: Node) -> None:
    """`list_actions` answers as many items as there are."""
    _greatest_page(node, "list_actions")


@mutant("LIST-040")
def pages_are_one_short(node: Node) -> None:
    """A full page of any list but `list_groups` lacks its last item."""

    async def handler(request: Received, forward: Forward) -> Answered:
        size = int(dict(parse_qsl(request.query)).get("page_size", "0"))
        query = request.query.replace(f"page_size={size}", f"page_size={max(size - 1, 1)}")
        return await forward(replace(request, query=query))

    intercept(node, LISTS[1:], handler)


@mutant("LIST-050")
def page_number_of_keys_is_ignored(node: Node) -> None:
    """`list_api_keys` answers the first page whatever page is asked for."""
    change_query(node, "list_api_keys", lambda query: {**query, "page_number": "0"})


@mutant("LIST-050", "LIST-060")
def page_number_of_wallets_wraps(node: Node) -> None:
    """A page of `list_wallets` behind the last is the first one again."""
    change_query(
        node, "list_wallets", lambda query: {**query, "page_number": str(int(query.get("page_number", "0")) % 1)}
    )


@mutant("LIST-050")
def later_pages_are_empty(node: Node) -> None:
    """`list_wallets_in_group` and `list_actions` have a first page only."""

    async def handler(request: Received, forward: Forward) -> Answered:
        first = dict(parse_qsl(request.query)).get("page_number", "0") == "0"
        return await forward(request) if first else answer(200, [])

    intercept(node, ("list_wallets_in_group", "list_actions"), handler)


@mutant("LIST-060")
def empty_pages_are_not_found(node: Node) -> None:
    """A page of any list but the first that has no items is refused with 404."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        later = dict(parse_qsl(request.query)).get("page_number", "0") != "0"
        return refusal(404) if later and given.body == b"[]" else given

    intercept(node, LISTS, handler)


@mutant("LIST-060")
def pages_behind_the_last_are_the_last(node: Node) -> None:
    """A page of `list_groups` behind the last is the last one again."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        last = max(len(view(account, 0, 100)) - 1, 0) // size
        return view(account, min(page, last), size)

    wrap(node.accounts, "groups", groups)


@mutant("LIST-100")
def bad_page_fields_crash(node: Node) -> None:
    """A page number or size that is no number, or none of 64 bits, ends in a server fault."""

    async def handler(request: Received, forward: Forward) -> Answered:
        query = dict(parse_qsl(request.query, keep_blank_values=True))
        fields = [query[name] for name in ("page_number", "page_size") if name in query]
        crashes = any(not field.removeprefix("-").isdecimal() or abs(int(field)) > BEYOND_64_BITS for field in fields)
        return refusal(500) if crashes else await forward(request)

    intercept(node, LISTS, handler)


@mutant("LIST-100")
def empty_page_size_divides_by_zero(node: Node) -> None:
    """`list_actions` with a page size of 0 ends in a server fault."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return refusal(500) if "page_size=0" in request.query else await forward(request)

    intercept(node, "list_actions", handler)


@mutant("LIST-100")
def bad_page_field_sticks(node: Node) -> None:
    """After a page number that is none `list_groups` is empty."""
    broken: list[str] = []

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status == 422:
            broken.append(request.query)
        return answer(200, []) if given.accepted and broken else given

    intercept(node, "list_groups", handler)


@mutant("LIST-120")
def keys_change_places(node: Node) -> None:
    """Every second `list_api_keys` is in the opposite order."""
    turn = itertools.cycle([1, -1])
    change_items(node, "list_api_keys", lambda items: items[:: next(turn)])
    change_query(node, "list_api_keys", lambda query: {**query, "page_number": "0", "page_size": GREATEST_PAGE})


@mutant("LIST-120")
def wallets_change_places(node: Node) -> None:
    """The order of `list_wallets` moves on by one at each call."""
    calls = itertools.count()

    def wallets(view: Callable[..., list[object]], account: int, page: int, size: int) -> list[object]:
        found = view(account, 0, 100)
        start = next(calls) % (len(found) or 1)
        return [*found[start:], *found[:start]][page * size : (page + 1) * size]

    wrap(node.accounts, "wallets", wallets)


@mutant("LIST-150")
def listing_groups_makes_a_group(node: Node) -> None:
    """`list_groups` of an account with two groups makes a third, named default."""
    owners: dict[int, int] = {}

    def add(write: Callable[..., int], key: int, *arguments: object) -> int:
        owners[node.accounts.key_info(key).account_hash] = key
        return write(key, *arguments)

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        found = view(account, page, size)
        if len(view(account, 0, 100)) == 2 and account in owners:
            node.accounts.add_group(owners[account], "default", "", [], [])
        return found

    wrap(node.accounts, "add_group", add)
    wrap(node.accounts, "groups", groups)


@mutant("LIST-150")
def listing_keys_sends_a_transaction(node: Node) -> None:
    """`list_api_keys` writes each key's metadata back as it is."""
    owners: dict[int, int] = {}

    def add(write: Callable[..., object], key: int, *arguments: object) -> None:
        owners[node.accounts.key_info(key).account_hash] = key
        write(key, *arguments)

    def usage_keys(view: Callable[..., list[UsageKey]], account: int, page: int, size: int) -> list[UsageKey]:
        found = view(account, page, size)
        for key in found:
            node.accounts.update_usage_key_metadata(owners[account], key.key_hash, key.name, key.description)
        return found

    wrap(node.accounts, "set_usage_key", add)
    wrap(node.accounts, "usage_keys", usage_keys)


@mutant("LIST-170")
def lists_lag_behind_by_one_write(node: Node) -> None:
    """`list_groups` shows the groups as they were before the account's last write on groups."""
    before: dict[str | None, Answered] = {}

    async def remember(request: Received, forward: Forward) -> Answered:
        listing = replace(request, path="/core/v1/list_groups", query="page_number=0&page_size=100", body=b"")
        before[request.key] = await forward(listing)
        return await forward(request)

    async def stale(request: Received, forward: Forward) -> Answered:
        return before.get(request.key) or await forward(request)

    intercept(node, "list_groups", stale)
    intercept(node, ("add_group", "update_group", "remove_group"), remember)


@mutant("LIST-170")
def lists_are_cached_for_ever(node: Node) -> None:
    """A list, once answered to a key, is answered in the same way again."""
    answers: dict[tuple[str, str, str | None], Answered] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        asked = (request.path, request.query, request.key)
        if asked not in answers:
            answers[asked] = await forward(request)
        return answers[asked]

    intercept(node, LISTS, handler)


@mutant("LIST-170")
def refused_writes_take_effect(node: Node) -> None:
    """A write with a key that nobody owns is refused, and done with the key of the last accepted write."""
    last: list[tuple[tuple[bytes, bytes], ...]] = []

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            last[:] = [request.headers]
        elif given.status == 401 and last:
            await forward(replace(request, headers=last[0]))
        return given

    intercept(node, WRITES, handler)


@mutant("LIST-060")
def page_behind_a_full_one_repeats_it(node: Node) -> None:
    """Where the last page is full, the page behind it shows its items again."""

    def page(view: Callable[..., list[object]], *arguments: int) -> list[object]:
        *whose, number, size = arguments
        found = view(*arguments)
        before = view(*whose, number - 1, size) if number and not found else []
        return before if len(before) == size else found

    for listed in ("groups", "usage_keys", "wallets", "actions", "wallets_in_group", "actions_in_group"):
        wrap(node.accounts, listed, page)


@mutant("LIST-170")
def second_wallet_is_listed_late(node: Node) -> None:
    """Where wallets were listed before, `list_wallets` shows once more what it showed then."""
    shown: dict[tuple[int, ...], list[object]] = {}

    def page(view: Callable[..., list[object]], *arguments: int) -> list[object]:
        before, shown[arguments] = shown.get(arguments), view(*arguments)
        return before or shown[arguments]

    wrap(node.accounts, "wallets", page)
