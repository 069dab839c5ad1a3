"""Translates accepted answers from the wire's names, which the profile states, to canonical names."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from conformance.profile import WHOLE, Operation
from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.values.json_values import MISSING, member, printed


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
        items = [_renamed(item, operation.items, operation.absent) for item in page]
        return [_with_integer_ids(item) for item in items] if operation.group_ids_in_text else items
    whole = [name for name, wire in operation.response.items() if wire == WHOLE]
    return {whole[0]: value} if whole else _renamed(value, operation.response, operation.absent)


def with_id_as_listed(value: object, form: str | None) -> object:
    """The answer of `add_group` with its `group_id` in the form of lists, so that the two can be compared."""
    if not isinstance(value, dict):
        return value
    group = value.get("group_id")
    if form == "integer" and isinstance(group, str) and group.isdecimal():
        return {**value, "group_id": int(group)}
    if form == "decimal_string" and isinstance(group, int) and not isinstance(group, bool):
        return {**value, "group_id": str(group)}
    return value


def _with_integer_ids(item: object) -> object:
    """A usage key with integers in place of texts of digits, as requests take them."""
    if not isinstance(item, dict):
        return item
    ids = {name: value for name, value in item.items() if name in PERMISSION_ARRAYS and isinstance(value, list)}
    return item | {name: [_integer(group_id) for group_id in value] for name, value in ids.items()}


def _integer(group: object) -> object:
    """The number in a text of digits. Other values become text, so that they equal no integer."""
    return int(group) if isinstance(group, str) and group.isdecimal() else printed(group)


def _renamed(value: object, names: Mapping[str, str], absent: Collection[str]) -> object:
    """An object by canonical names. A wire name with dots leads into the objects inside it.

    A member that is called like a canonical name which stands for another member, or for none, is left out.
    """
    if not isinstance(value, dict):
        return value
    nested = {name: descend(value, tuple(wire.split("."))) for name, wire in names.items() if "." in wire}
    to_canonical = {wire: name for name, wire in names.items()}
    taken = {*absent, *(name for name, wire in names.items() if wire != name)}
    kept = {name: inner for name, inner in value.items() if name in to_canonical or name not in taken}
    renamed = {to_canonical.get(name, name): inner for name, inner in kept.items()}
    return renamed | {name: inner for name, inner in nested.items() if inner is not MISSING}
