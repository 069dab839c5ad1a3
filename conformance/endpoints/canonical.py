"""Accepted answers by canonical names, in place of those that the profile says the wire has."""

from __future__ import annotations

from conformance.profile import WHOLE, Operation
from conformance.values.json_values import member


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
        page = value if operation.page_member is None else member(value, operation.page_member)
        return [_renamed(item, operation.items) for item in page] if isinstance(page, list) else page
    whole = [name for name, wire in operation.response.items() if wire == WHOLE]
    return {whole[0]: value} if whole else _renamed(value, operation.response)


def with_id_as_listed(value: object, form: str | None) -> object:
    """The answer of `add_group` with its `group_id` in the form in which lists show ids, so that the two compare."""
    if not isinstance(value, dict):
        return value
    group = value.get("group_id")
    if form == "integer" and isinstance(group, str) and group.isdecimal():
        return {**value, "group_id": int(group)}
    if form == "decimal_string" and isinstance(group, int) and not isinstance(group, bool):
        return {**value, "group_id": str(group)}
    return value


def _renamed(value: object, names: object) -> object:
    if not isinstance(value, dict) or not isinstance(names, dict):
        return value
    to_canonical = {wire: name for name, wire in names.items() if wire != name}
    return {to_canonical.get(name, name): inner for name, inner in value.items()} if to_canonical else value
