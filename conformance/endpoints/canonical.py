"""Translates accepted answers from the wire's names, which the profile states, to canonical names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from conformance.profile import WHOLE, Operation
from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.values.json_values import MISSING, member, printed, whole_number

HEX = re.compile(r"0x0{0,48}[0-9a-fA-F]{1,16}")
"""A group id (u64) in hex, with as many zeros before it as a word of the chain has."""


def descend(value: object, path: tuple[str, ...]) -> object:
    """The value at the end of a path of members and indices; MISSING when there is none."""
    for part in path:
        value = member(value, part)
    return value


def canonical(operation: Operation | None, value: object) -> object:
    """An accepted answer with canonical names in place of the wire's."""
    if operation is None:
        return value
    if operation.items is not None:
        page = value if operation.page_member is None else descend(value, tuple(operation.page_member.split(".")))
        if not isinstance(page, list):
            return page
        items = [_known_members(item, operation.items) for item in page]
        return [_with_plain_ids(item, operation.group_ids_form) for item in items]
    whole = [name for name, wire in operation.response.items() if wire == WHOLE]
    return {whole[0]: value} if whole else _renamed(value, operation.response, operation.absent)


def with_id_as_listed(value: object, form: str | None) -> object:
    """The answer of `add_group` with its `group_id` in the form of lists, so that the two can be compared."""
    if not isinstance(value, dict):
        return value
    group = number_of(value.get("group_id"))
    if form is None or group is None:
        return value
    return {**value, "group_id": group if form == "integer" else str(group)}


def number_of(group: object) -> int | None:
    """The number of a group id in any form: an integer, a decimal text or hex. None: it is no group id."""
    if isinstance(group, int) and not isinstance(group, bool):
        return group
    if isinstance(group, str) and HEX.fullmatch(group):
        return int(group, 16)
    return whole_number(group) if isinstance(group, str) else None


def id_form(group: object) -> str | None:
    """The form of a group id: `integer`, `decimal_string` or `hex`; None for what is no group id."""
    if number_of(group) is None:
        return None
    return "integer" if isinstance(group, int) else "hex" if HEX.fullmatch(str(group)) else "decimal_string"


def _with_plain_ids(item: object, form: str | None) -> object:
    """A group or usage key with its ids as the suite holds them.

    Permission arrays get the integers that requests take in place of texts. A group's id in hex becomes a decimal text.
    """
    if not isinstance(item, dict) or form not in {"decimal_string", "hex"}:
        return item
    if form == "hex" and HEX.fullmatch(printed(item.get("id"))):
        return item | {"id": str(number_of(item["id"]))}
    ids = {name: value for name, value in item.items() if name in PERMISSION_ARRAYS and isinstance(value, list)}
    return item | {name: [_integer(one, form) for one in value] for name, value in ids.items()}


def _integer(group: object, form: str) -> object:
    """The number in a text. What is no text of this form is written out, so that it is like none of the integers."""
    in_form = isinstance(group, str) and (HEX.fullmatch(group) if form == "hex" else group.isdecimal())
    return number_of(group) if in_form else printed(group)


def _known_members(item: object, names: Mapping[str, str]) -> object:
    """A list item with the members that the specification or the profile names, by canonical names.

    What else a node shows (a position, a time of use) may change with anything, and is compared with nothing.
    """
    if not isinstance(item, dict):
        return item
    found = {name: descend(item, tuple(wire.split("."))) for name, wire in names.items()}
    return {name: value for name, value in found.items() if value is not MISSING}


def _renamed(value: object, names: Mapping[str, str], absent: Collection[str]) -> object:
    """An object by canonical names. A wire name with dots leads into the objects inside it.

    A member that is called like a canonical name which stands for another member, or for none (`absent`), is left out.
    """
    if not isinstance(value, dict):
        return value
    nested = {name: descend(value, tuple(wire.split("."))) for name, wire in names.items() if "." in wire}
    to_canonical = {wire: name for name, wire in names.items()}
    taken = {*absent, *(name for name, wire in names.items() if wire != name)}
    kept = {name: inner for name, inner in value.items() if name in to_canonical or name not in taken}
    renamed = {to_canonical.get(name, name): inner for name, inner in kept.items()}
    return renamed | {name: inner for name, inner in nested.items() if inner is not MISSING}
