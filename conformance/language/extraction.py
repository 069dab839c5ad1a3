"""Functions of `let` that take a part out of a value: some characters of a text, one item."""

from __future__ import annotations

from conformance.language.functions import function
from conformance.language.scope import Scope
from conformance.problems import Mismatch
from conformance.values.json_values import MISSING, member, printed, same


@function
def slice(_: Scope, text: object, start: int, end: int | None = None) -> str:  # noqa: A001 - the name that packs use
    """The characters from start to before end; negative numbers count from the end, a null end is the end."""
    return printed(text)[start:end]


@function
def item(_: Scope, array: object, index: int) -> object:
    """The item at this index; negative ones count from the end."""
    found = member(array, str(index)) if isinstance(array, list) else MISSING
    if found is MISSING:
        raise Mismatch(f"an array with an item {index}", printed(array))
    return found


@function
def find_item(_: Scope, array: object, name: str, wanted: object) -> object:
    """The one item of the array whose member of this name is equal to this value."""
    found = [item for item in array if same(member(item, name), wanted)] if isinstance(array, list) else []
    if len(found) != 1:
        raise Mismatch(f"one item whose {name} is {printed(wanted)}", printed(array))
    return found[0]


@function
def differs(_: Scope, one: object, other: object) -> bool:
    """Whether two values are not exactly equal."""
    return not same(one, other)


@function
def difference(_: Scope, one: object, other: object) -> int:
    """The first integer less the second."""
    for number in (one, other):
        if not isinstance(number, int) or isinstance(number, bool):
            raise Mismatch("an integer", printed(number))
    return int(str(one)) - int(str(other))
