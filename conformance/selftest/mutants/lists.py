"""Faults about the order and completeness of lists."""

from __future__ import annotations

from conformance.selftest.tools.accounts import View, Write, account_of
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Group
from reference_node.node import Node


@mutant("LIST-010", "LIST-020")
def groups_are_listed_newest_first(node: Node) -> None:
    """List groups newest first."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        return view(account, 0, 100)[::-1][page * size : (page + 1) * size]

    wrap(node.accounts, "groups", groups)


@mutant("LIST-010", also="LIST-020")
def removal_moves_the_newest_group_into_the_gap(node: Node) -> None:
    """List the newest group in the place of one that is removed, as a storage array that swaps and pops does."""
    places: dict[int, list[int]] = {}

    def in_places(account: int, present: list[Group]) -> list[Group]:
        ids = [group.id for group in present]
        kept = places.setdefault(account, [])
        kept += [one for one in ids if one not in kept]
        return sorted(present, key=lambda group: kept.index(group.id))

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        return in_places(account, view(account, 0, 100))[page * size : (page + 1) * size]

    def remove(write: Write, acting_key: int, group_id: int) -> None:
        account = account_of(node, acting_key)
        node.accounts.groups(account, 0, 100)
        write(acting_key, group_id)
        kept = places[account]
        if group_id in kept:
            kept[kept.index(group_id)] = kept[-1]
            kept.pop()

    wrap(node.accounts, "groups", groups)
    wrap(node.accounts, "remove_group", remove)


@mutant("LIST-010", also="LIST-020 LIST-030")
def groups_are_sorted_by_name(node: Node) -> None:
    """List groups by their names."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        return sorted(view(account, 0, 100), key=lambda group: group.name)[page * size : (page + 1) * size]

    wrap(node.accounts, "groups", groups)


@mutant("LIST-020", also="LIST-010")
def pages_are_in_order_and_the_list_is_not(node: Node) -> None:
    """List the pages of groups newest first, and the groups within a page oldest first."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        found = view(account, 0, 100)
        pages = [found[at : at + size] for at in range(0, len(found), size)][::-1]
        return pages[page] if page < len(pages) else []

    wrap(node.accounts, "groups", groups)


@mutant("LIST-020", "LIST-050")
def pages_overlap(node: Node) -> None:
    """Begin a page of groups with the last item of the page before."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        start = max(page * size - 1, 0)
        return view(account, 0, 100)[start : start + size]

    wrap(node.accounts, "groups", groups)


@mutant("LIST-020", "LIST-050")
def pages_leave_an_item_out(node: Node) -> None:
    """Leave a group out between two pages."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        start = page * (size + 1)
        return view(account, 0, 100)[start : start + size]

    wrap(node.accounts, "groups", groups)


@mutant("LIST-030", also="LIST-010 LIST-020")
def removal_moves_the_last_group(node: Node) -> None:
    """List the newest group in the place of a removed one, as in an array with swapped removal."""

    def groups(view: View, account: int, page: int, size: int) -> list[Group]:
        found = view(account, 0, 100)
        for place in range(len(found)):
            if place < len(found) - 1 and found[place].id != place + 1:
                found.insert(place, found.pop())
                break
        return found[page * size : (page + 1) * size]

    wrap(node.accounts, "groups", groups)


@mutant(each=[row("wallets", breaks="EP-240"), row("actions", breaks="EP-250")], also="LIST-160")
def group_zero_is_no_filter(node: Node, kind: str) -> None:
    """List all {kind} of the account for the group 0."""

    def listed(of_group: View, account: int, group: int, *page: int) -> object:
        return of_group(account, group, *page) if group else getattr(node.accounts, kind)(account, *page)

    wrap(node.accounts, f"{kind}_in_group", listed)
