"""The named changes that rows of the driver `typed_data` make to a valid envelope."""

from __future__ import annotations

import copy
from typing import Annotated

from pydantic import Field, JsonValue

from conformance.language.form import Form
from conformance.problems import Mismatch
from conformance.values.json_values import printed

ONCE_MORE = "\ufdd0"
"""A suffix that marks the second copy of a member in the document; it is removed from the text."""


class Change(Form):
    """One change; exactly one of `set`, `delete`, `insert`, `swap`, `rename`, `reverse` and `twice`."""

    set: str | None = None
    """Path to the member or item that gets the value `to`; a new one comes last in its object."""
    delete: str | None = None
    """Path to the member or item that is removed."""
    insert: str | None = None
    """Path to the array into which `to` is inserted, before the item `before` or at the end."""
    swap: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """Two paths whose values change places."""
    rename: str | None = None
    """Path to the member that is called `to` from then on, in the same place."""
    reverse: str | None = None
    """Path to the array or object whose order is reversed; the empty path is the envelope."""
    twice: str | None = None
    """Path to the member that is written a second time at the end of its object, there with the value `to`."""
    to: JsonValue = None
    before: int | None = None


KINDS = ("set", "delete", "insert", "swap", "rename", "reverse", "twice")


def kind_of(change: Change) -> str | None:
    """The kind of a change; None where it names none or several."""
    kinds = [kind for kind in KINDS if getattr(change, kind) is not None]
    return kinds[0] if len(kinds) == 1 else None


def applied(document: dict[str, JsonValue], changes: list[Change]) -> dict[str, JsonValue]:
    """A changed copy. Raises Mismatch for a path that does not exist."""
    changed = copy.deepcopy(document)
    for change in changes:
        _apply(changed, change)
    return changed


def _apply(document: dict[str, JsonValue], change: Change) -> None:
    match kind_of(change):
        case "set":
            _put(*_place(document, change.set), change.to)
        case "delete":
            _remove(*_place(document, change.delete))
        case "insert":
            items = _array(_at(document, change.insert))
            items.insert(len(items) if change.before is None else change.before, change.to)
        case "swap":
            path, other_path = change.swap or ["", ""]
            first, second = _at(document, path), _at(document, other_path)
            _put(*_place(document, path), second)
            _put(*_place(document, other_path), first)
        case "rename":
            _rename(*_place(document, change.rename), printed(change.to))
        case "reverse":
            _reverse(_at(document, change.reverse))
        case _:
            holder, name = _place(document, change.twice)
            _put(holder, name + ONCE_MORE, change.to)


def _parts(path: str | None) -> list[str]:
    return path.split(".") if path else []


def _at(document: JsonValue, path: str | None) -> JsonValue:
    value = document
    for part in _parts(path):
        value = _step(value, part)
    return value


def _step(value: JsonValue, part: str) -> JsonValue:
    if isinstance(value, dict) and part in value:
        return value[part]
    if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
        return value[int(part)]
    raise Mismatch("a path into the envelope", part)


def _place(document: JsonValue, path: str | None) -> tuple[JsonValue, str]:
    *above, name = _parts(path) or [""]
    return _at(document, ".".join(above)), name


def _put(holder: JsonValue, name: str, value: JsonValue) -> None:
    if isinstance(holder, dict) and name:
        holder[name] = value
    elif isinstance(holder, list) and name.isdecimal() and int(name) < len(holder):
        holder[int(name)] = value
    else:
        raise Mismatch("a path into the envelope", name)


def _remove(holder: JsonValue, name: str) -> None:
    _step(holder, name)
    if isinstance(holder, dict):
        del holder[name]
    elif isinstance(holder, list):
        del holder[int(name)]


def _rename(holder: JsonValue, name: str, to: str) -> None:
    if not isinstance(holder, dict) or name not in holder:
        raise Mismatch("a member of an object", name)
    renamed = {to if known == name else known: value for known, value in holder.items()}
    holder.clear()
    holder.update(renamed)


def _reverse(value: JsonValue) -> None:
    if isinstance(value, list):
        value.reverse()
    elif isinstance(value, dict):
        turned = dict(reversed(value.items()))
        value.clear()
        value.update(turned)
    else:
        raise Mismatch("an array or an object", printed(value))


def _array(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise Mismatch("an array", printed(value))
    return value
