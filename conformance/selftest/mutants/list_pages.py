"""Faults about page numbers and page sizes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from conformance.selftest.tools.accounts import View, whole
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    answer_instead,
    change_query,
    change_request,
    intercept,
    refusal,
    wrap,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import LARGEST_PAGE, LISTS
from conformance.selftest.variants.variant import choices
from reference_node.chain.account_config import Group
from reference_node.fields import DEFAULT_PAGE_SIZE
from reference_node.node import Node

A_LATER_PAGE = re.compile(r"\bpage_number=([1-9][0-9]{0,15})(?=&|$)")


@mutant(
    "LIST-040",
    each=[
        row("list_groups", also="LIST-020"),
        row("list_api_keys", breaks="EP-150"),
        row("list_wallets", breaks="EP-230"),
        row("list_wallets_in_group", breaks="EP-240"),
        row("list_actions"),
    ],
    also="LIST-050",
)
def page_size_is_ignored(node: Node, operation: str) -> None:
    """Answer up to the largest page of `{operation}`, whatever size is asked for."""
    change_query(node, operation, lambda query: {**query, "page_size": LARGEST_PAGE})


@mutant(each=[row("list_api_keys", breaks="LIST-050"), row("list_groups", breaks="EP-200", also="LIST-020 LIST-050")])
def page_number_is_ignored(node: Node, operation: str) -> None:
    """Answer the first page of `{operation}`, whichever page is asked for."""
    change_query(node, operation, lambda query: {**query, "page_number": "0"})


@mutant(
    "LIST-170",
    each=[row("groups"), row("usage_keys"), row("actions"), row("actions_in_group"), row("wallets_in_group")],
    also="LIST-050",
)
def later_pages_are_older_than_the_first(node: Node, view: str) -> None:
    """Take the pages of the {view} after the first from a copy of the list, made when the first was last asked for."""
    copies: dict[tuple[int, ...], list[object]] = {}

    def listed(read: Callable[..., list[object]], *place: int) -> list[object]:
        *owner, page, size = place
        if not page or (*owner, size) not in copies:
            copies[*owner, size] = read(*owner, 0, int(LARGEST_PAGE))
        return copies[*owner, size][page * size : (page + 1) * size]

    wrap(node.accounts, view, listed)


@mutant("LIST-060", also="LIST-050")
def page_number_needs_a_size(node: Node) -> None:
    """Answer the first page of `list_actions` where `page_size` is left out, whichever page is asked for."""
    change_query(node, "list_actions", lambda query: query if "page_size" in query else {**query, "page_number": "0"})


@mutant("LIST-050", also="LIST-170")
def pages_without_a_size_begin_at_hundreds(node: Node) -> None:
    """Begin the later pages of a list at multiples of 100 where `page_size` is left out, and end them as ever."""
    steps = int(LARGEST_PAGE) // DEFAULT_PAGE_SIZE

    def skipping(request: Received) -> Received:
        if "page_size" in request.query:
            return request
        query = A_LATER_PAGE.sub(lambda found: f"page_number={int(found[1]) * steps}", request.query)
        return replace(request, query=query)

    change_request(node, LISTS, skipping)


@mutant("LIST-050")
def pages_of_an_odd_size_overlap(node: Node) -> None:
    """Begin the later pages of `list_wallets_in_group` with the last item of the page before where the size is odd."""

    def page(view: Callable[..., list[object]], account: int, group: int, number: int, size: int) -> list[object]:
        if number == 0 or size % 2 == 0 or size == 1:
            return view(account, group, number, size)
        begin = number * size - 1
        return view(account, group, 0, int(LARGEST_PAGE))[begin : begin + size]

    wrap(node.accounts, "wallets_in_group", page)


@mutant("LIST-060", also="LIST-020 LIST-050")
def pages_behind_the_last_are_the_last(node: Node) -> None:
    """Answer pages after the last of `list_groups` with the last one."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        last = max(len(whole(view, account)) - 1, 0) // size
        return view(account, min(page, last), size)

    wrap(node.accounts, "groups", groups)


@mutant("LIST-100", server_fault=True)
def empty_page_size_divides_by_zero(node: Node) -> None:
    """Answer `list_actions` with a page size of 0 with status 500."""
    answer_instead(node, "list_actions", refusal(500), lambda request: "page_size=0" in request.query)


@mutant("LIST-100", also="ERR-150 LIST-120 LIST-150 LIST-170")
def bad_page_field_sticks(node: Node) -> None:
    """Answer a caller's next `list_groups` with an empty list after a malformed page number."""
    broken: set[str] = set()

    async def handler(request: Received, forward: Forward) -> Answered:
        given, key = await forward(request), presented(request)
        if given.status == 422:
            broken.add(key)
        if not given.accepted or key not in broken:
            return given
        broken.remove(key)
        return answer(200, [])

    intercept(node, "list_groups", handler)


@mutant(
    "LIST-170",
    each=[
        row("groups", also="GRPLIFE-020 GRPLIFE-030 GRPLIFE-100"),
        row("usage_keys", also="KEYLIFE-020 KEYLIFE-060 KEYLIFE-090"),
    ],
)
def full_pages_stay_as_they_were(node: Node, view: str) -> None:
    """Answer a page of `{view}` as it was when it was first full."""
    kept: dict[tuple[int, int, int], list[object]] = {}

    def page(read: Callable[..., list[object]], account: int, number: int, size: int) -> list[object]:
        asked = (account, number, size)
        found = kept.get(asked) or read(*asked)
        if len(found) == size:
            kept[asked] = found
        return found

    wrap(node.accounts, view, page)


def _cut_down(query: dict[str, str]) -> dict[str, str]:
    size = query.get("page_size", "")
    return {**query, "page_size": LARGEST_PAGE} if size.isdecimal() and int(size) > int(LARGEST_PAGE) else query


@choices({"limits": {"page_size_above_max": "capped"}})
def cuts_large_pages_down(node: Node) -> None:
    """Take a page size over the largest for the largest."""
    change_query(node, LISTS, _cut_down)


@mutant("LIST-050", on=cuts_large_pages_down, also="EP-200 EP-230 LIST-020 LIST-090")
def pages_that_are_cut_down_begin_where_whole_ones_would(node: Node) -> None:
    """Show no more items than the largest page has, and go on behind those that were asked for."""

    async def handler(request: Received, forward: Forward) -> Answered:
        query, most = dict(parse_qsl(request.query)), int(LARGEST_PAGE)
        if _cut_down(query) == query:
            return await forward(request)
        pages, before = divmod(int(query["page_size"]) * int(query.get("page_number", 0)), most)
        items = []
        for number in (pages, pages + 1):
            page = urlencode({**query, "page_number": number, "page_size": most})
            answered = await forward(replace(request, query=page))
            if not answered.accepted:
                return answered
            items += json.loads(answered.body)
        return answer(200, items[before : before + most])

    intercept(node, LISTS, handler)
