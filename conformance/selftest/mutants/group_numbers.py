"""Faults in how a group's number is read: cut to a word, taken for the beginning of others, 0 taken for all groups."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from pydantic import JsonValue

from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.selftest.tools.accounts import Write, account_of, permissions_of, whole
from conformance.selftest.tools.alter import change_body, change_query, members, wrap
from conformance.selftest.tools.alter_runs import Lists, all_groups, decide
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import GROUP_MEMBER_WRITES
from reference_node.chain.account_config import Action
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node

WORD = 32
"""Bits that an integer has for the logical operators of JavaScript."""


def _reached_by(node: Node, names: Callable[[int, int], bool]) -> None:
    """Let a key execute in each group whose number one of its entries `names`."""

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        if permissions is None or 0 in permissions.execute_in_groups:
            return all_groups(node, key)
        numbers = [group.id for group in whole(node.accounts.groups, account_of(node, key))]
        named = permissions.execute_in_groups
        return all_groups(node, key, [one for one in numbers if any(names(entry, one) for entry in named)])

    decide(node, reach=reach)


def _begins(entry: int, number: int) -> bool:
    return str(number).startswith(str(entry))


@mutant("EXEC-070", also="AUTH-080 ERR-100 EXEC-030 EXEC-090 UKEY-270 UKEY-290 UKEY-460")
def execute_groups_are_bits_of_a_word(node: Node) -> None:
    """Keep `execute_in_groups` as 32 bits, so that a key for group 4 may execute in group 36."""
    _reached_by(node, lambda entry, number: number % WORD == entry % WORD)


def _alike(node: Node, account: int, number: int) -> list[int]:
    return [group.id for group in whole(node.accounts.groups, account) if _begins(number, group.id)]


@mutant("EP-250")
def actions_of_groups_alike_are_listed(node: Node) -> None:
    """Show in `list_actions` of group 3 also the actions of groups whose number begins with 3."""

    def listed(view: Callable[..., list[Action]], account: int, number: int, page: int, size: int) -> list[Action]:
        shown = view(account, number, page, size)
        for other in _alike(node, account, number):
            shown += view(account, other, page, size) if other != number else []
        return shown[:size]

    wrap(node.accounts, "actions_in_group", listed)


@mutant("GRPLIFE-100", also="GRPLIFE-130 GRPLIFE-170")
def removal_takes_groups_alike(node: Node) -> None:
    """Remove with group 3 also the groups whose number begins with 3."""

    def remove(write: Write, key: int, number: int) -> None:
        alike = _alike(node, account_of(node, key), number)
        write(key, number)
        for other in alike:
            if other != number:
                write(key, other)

    wrap(node.accounts, "remove_group", remove)


def _zero_is_every_group(node: Node, method: str) -> None:
    def write_for(write: Write, key: int, number: int, *rest: object) -> None:
        if number:
            write(key, number, *rest)
            return
        written = 0
        for group in whole(node.accounts.groups, account_of(node, key)):
            with suppress(ContractRefusal):
                write(key, group.id, *rest)
                written += 1
        if not written:
            write(key, number, *rest)

    wrap(node.accounts, method, write_for)


@mutant("GRPLIFE-200")
def group_zero_is_every_group(node: Node) -> None:
    """Add to or remove from all groups when a write names group 0."""
    for method in GROUP_MEMBER_WRITES:
        _zero_is_every_group(node, method)


@mutant(
    "UKEY-110",
    "UKEY-270",
    also="AUTH-080 ERR-100 EXEC-030 EXEC-070 UKEY-150 UKEY-190 UKEY-230 UKEY-290 UKEY-450 UKEY-460 UKEY-470",
)
def group_ids_of_new_keys_are_cut(node: Node) -> None:
    """Read the group ids of usage keys into 32 bits in `add_usage_api_key`."""

    def cut(value: JsonValue) -> JsonValue:
        given = members(value)
        return {**given, **{name: _low(given[name], WORD) for name in PERMISSION_ARRAYS if name in given}}

    change_body(node, "add_usage_api_key", cut)


@mutant(
    each=[
        row("add-pkp-added", "add_pkp_to_groups", "add", breaks="UKEY-190"),
        row("remove-pkp-updated", "remove_pkp_from_groups", "update", breaks="UKEY-230"),
        row("execute-updated", "execute_in_groups", "update", breaks="UKEY-270", also="EXEC-030 EXEC-070"),
    ],
    also="AUTH-080 UKEY-290 UKEY-450 UKEY-460 UKEY-470",
)
def one_array_is_cut_to_24_bits(node: Node, array: str, write: str) -> None:
    """Read the group ids of `{array}` alone into 24 bits when they are given to {write}_usage_api_key."""

    def cut(value: JsonValue) -> JsonValue:
        given = members(value)
        return {**given, array: _low(given[array], 24)} if array in given else value

    change_body(node, f"{write}_usage_api_key", cut)


def _low(named: JsonValue, bits: int) -> JsonValue:
    if not isinstance(named, list):
        return named
    return [number % 2**bits if isinstance(number, int) and 0 <= number < 2**64 else number for number in named]


def _cut(value: JsonValue) -> JsonValue:
    given = members(value)
    number = given.get("group_id")
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**64:
        return {**given, "group_id": number % 2**WORD}
    if isinstance(number, str) and number.isdecimal() and int(number) < 2**64:
        return {**given, "group_id": str(int(number) % 2**WORD)}
    return value


@mutant("GRPLIFE-200")
def numbers_of_groups_are_cut_to_32_bits(node: Node) -> None:
    """Read only the lowest 32 bits of a group's number in writes."""
    change_body(node, ("update_group", "remove_group", *GROUP_MEMBER_WRITES), _cut)


@mutant("LIST-160")
def listed_numbers_of_groups_are_cut_to_32_bits(node: Node) -> None:
    """Read only the lowest 32 bits of a group's number in lists."""

    def change(query: dict[str, str]) -> dict[str, str]:
        number = query.get("group_id", "")
        cut = number.isdecimal() and int(number) < 2**64
        return {**query, "group_id": str(int(number) % 2**WORD)} if cut else query

    change_query(node, ("list_actions", "list_wallets_in_group"), change)
