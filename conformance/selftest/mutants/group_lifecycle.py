"""Faults about groups that are made and updated."""

from __future__ import annotations

from collections.abc import Callable

from conformance.selftest.tools.accounts import (
    Hashes,
    Write,
    account_of,
    change_list,
    group_of,
    lists_of,
    permissions_of,
    whole,
)
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Group
from reference_node.node import Node


@mutant("GRPLIFE-010", also="ACC-070 ACC-140")
def group_is_promised_and_not_made(node: Node) -> None:
    """Answer the next id from the account key's `add_group`, and create nothing."""

    def add(write: Callable[..., int], key: int, *given: object) -> int:
        if permissions_of(node, key):
            return write(key, *given)
        return len(whole(node.accounts.groups, account_of(node, key))) + 1

    wrap(node.accounts, "add_group", add)


@mutant("GRPLIFE-010", "GRPLIFE-220")
def groups_come_in_pairs(node: Node) -> None:
    """Create two groups in `add_group`, the first of them with empty lists."""

    def add(write: Callable[..., int], key: int, name: str, description: str, *lists: Hashes) -> int:
        write(key, name, description, [], [])
        return write(key, name, description, *lists)

    wrap(node.accounts, "add_group", add)


@mutant("GRPLIFE-010", also="ACC-110")
def group_is_made_for_everybody(node: Node) -> None:
    """List the group that was made last in every other account that has none."""
    made: list[tuple[int, Group]] = []

    def add(write: Callable[..., int], key: int, name: str, description: str, *lists: Hashes) -> int:
        group_id = write(key, name, description, *lists)
        made[:] = [(account_of(node, key), Group(group_id, name, description))]
        return group_id

    def groups(view: Callable[..., list[Group]], account: int, page: int, size: int) -> list[Group]:
        found = view(account, page, size)
        if page or found:
            return found
        return [group for maker, group in made if maker != account]

    wrap(node.accounts, "add_group", add)
    wrap(node.accounts, "groups", groups)


@mutant("GRPLIFE-030", also="EP-180 LIST-170")
def update_keeps_the_description(node: Node) -> None:
    """Keep the description in `update_group`."""

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        write(key, group._replace(description=group_of(node, key, group.id).description), *lists)

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-020", "GRPLIFE-030", also="CHAIN-050 LIST-170")
def updated_labels_stay_off_chain(node: Node) -> None:
    """Keep updated labels of groups in memory, and not in the contract."""
    kept: dict[tuple[int, int], Group] = {}
    chain_groups = node.accounts.groups

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        account = account_of(node, key)
        on_chain = [found for found in whole(chain_groups, account) if found.id == group.id]
        write(key, on_chain[0] if on_chain else group, *lists)
        kept[account, group.id] = group

    def groups(_: object, account: int, *page: int) -> list[Group]:
        return [kept.get((account, group.id), group) for group in chain_groups(account, *page)]

    wrap(node.accounts, "update_group", update)
    wrap(node.accounts, "groups", groups)


@mutant("GRPLIFE-040", "GRPLIFE-060", "GRPLIFE-080", also="EP-180 GRPLIFE-070 LIST-170")
def update_adds_wallets(node: Node) -> None:
    """Add the wallets of `update_group` to those that the group lists."""

    def update(write: Write, key: int, group: Group, wallets: Hashes, actions: Hashes) -> None:
        write(key, group, [*lists_of(node, key, group.id)[0], *wallets], actions)

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-050", "GRPLIFE-060", "GRPLIFE-080", also="EP-180 GRPLIFE-070 LIST-170")
def update_adds_actions(node: Node) -> None:
    """Add the actions of `update_group` to those that the group lists."""

    def update(write: Write, key: int, group: Group, wallets: Hashes, actions: Hashes) -> None:
        write(key, group, wallets, [*lists_of(node, key, group.id)[1], *actions])

    wrap(node.accounts, "update_group", update)


@mutant(
    each=[row("wallets", 0, breaks="GRPLIFE-040"), row("actions", 1, breaks="GRPLIFE-050")],
    also="CHAIN-050 EP-180 EXEC-230 GRPLIFE-080 LIST-170",
)
def update_takes_one_empty_list_as_absent(node: Node, place: int) -> None:
    """Keep a list of the group that an update sends empty, where the other list is not."""

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        kept = (
            lists_of(node, account_of(node, key), group.id)[place] if any(lists) and not lists[place] else lists[place]
        )
        write(key, group, *(kept if number == place else given for number, given in enumerate(lists)))

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-090", "LIST-030", also="LIST-010 LIST-020")
def update_moves_the_group_to_the_end(node: Node) -> None:
    """List an updated group last."""
    updated: dict[tuple[int, int], int] = {}

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        write(key, group, *lists)
        updated[account_of(node, key), group.id] = len(updated) + 1

    def in_turn(account: int, found: list[Group]) -> list[Group]:
        return sorted(found, key=lambda group: updated.get((account, group.id), 0))

    wrap(node.accounts, "update_group", update)
    change_list(node, "groups", in_turn)


@mutant(
    "GRPLIFE-090",
    also="EP-180 GRP-270 GRPLIFE-020 GRPLIFE-030 GRPLIFE-040 GRPLIFE-050 GRPLIFE-060 GRPLIFE-070 LIST-030 LIST-170",
)
def update_makes_a_new_group(node: Node) -> None:
    """Remove the group in `update_group` and create another, so that its id changes."""

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        if permissions_of(node, key):
            write(key, group, *lists)
        node.accounts.remove_group(key, group.id)
        node.accounts.add_group(key, group.name, group.description, *lists)

    wrap(node.accounts, "update_group", update)


@mutant("GRP-140", also="GRP-040 GRP-050 GRPLIFE-010 LIST-170")
def groups_of_a_removed_ones_name_have_its_lists(node: Node) -> None:
    """Add to a new group what a removed one of the same name listed at its end."""
    left: dict[tuple[int, str], tuple[list[bytes], list[bytes]]] = {}

    def remove(write: Write, key: int, group_id: int) -> None:
        name, lists = group_of(node, key, group_id).name, lists_of(node, key, group_id)
        write(key, group_id)
        left[account_of(node, key), name] = lists

    def add(write: Callable[..., int], key: int, name: str, description: str, *given: Hashes) -> int:
        account = account_of(node, key)
        made = write(key, name, description, *given)
        if former := left.pop((account, name), None):
            lists = ([*dict.fromkeys((*one, *another))] for one, another in zip(given, former, strict=True))
            node.accounts.update_group(account, Group(made, name, description), *lists)
        return made

    wrap(node.accounts, "remove_group", remove)
    wrap(node.accounts, "add_group", add)
