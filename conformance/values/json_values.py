"""JSON values: members and items, equality, and how a value is written in a text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from conformance.problems import ProfileSilent

MOST_DIGITS = 1_000
"""Of a number in a text; the largest of the contract has 78."""


class Missing:
    """The value of a member that is not there (unlike null, which is a value)."""

    def __repr__(self) -> str:
        return "nothing (the member is not there)"


MISSING = Missing()


class Incomplete(dict[str, object]):
    """An object of which some members are unknown, because the profile says that nobody shows them."""

    def __init__(self, members: Mapping[str, object], lacking: Mapping[str, str]) -> None:
        super().__init__(members)
        self.lacking = lacking
        """Each unknown member with what would show it."""


def member(value: object, name: str) -> object:
    """One step into a value: a member of an object or an item of an array; MISSING when there is none.

    ProfileSilent: it is a member that an `Incomplete` object lacks.
    """
    if isinstance(value, Incomplete) and name in value.lacking:
        raise ProfileSilent(value.lacking[name], "one that does not")
    if isinstance(value, dict):
        return value.get(name, MISSING)
    if isinstance(value, list) and name.removeprefix("-").isdecimal():
        index = int(name)
        return value[index] if -len(value) <= index < len(value) else MISSING
    return MISSING


def whole_number(text: str) -> int | None:
    """The number that a text of decimal digits is. None: it is none, or longer than Python reads and writes."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def pluck(items: Iterable[object], name: str) -> list[object]:
    """The member of this name of each item."""
    return [member(item, name) for item in items]


def printed(value: object) -> str:
    """A value as it stands in a text or a query: texts as they are, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), default=_as_json)


def _as_json(value: object) -> object:
    """What stands for a value that JSON does not have: an array for a set, its text for any other."""
    return sorted(value, key=printed) if isinstance(value, Set) else str(value)


def printed_json(value: object) -> str:
    """A value as it is shown in a failure: texts in quotes, so that "1" and 1 look different."""
    return f'"{value}"' if isinstance(value, str) else printed(value)


def texts(value: object) -> Iterator[str]:
    """The texts in a JSON value, without the names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from texts([*value.values()])
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts(inner)


def same(left: object, right: object) -> bool:
    """Equality of JSON values: unlike in Python, true is not 1, and 1.0 is not 1."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(one, other) for one, other in zip(left, right, strict=True))
    return type(left) is type(right) and left == right


def same_hex(left: object, right: object) -> bool:
    """Whether two texts are the same hex digits, whatever the capitals and the 0x."""
    return isinstance(left, str) and isinstance(right, str) and _digits(left) == _digits(right)


def same_hexes(left: Sequence[object], right: Sequence[object], *, any_order: bool = False) -> bool:
    """Whether two arrays hold the same hex digits, in this order or in any."""
    if any_order:
        left, right = sorted(left, key=_hex_order), sorted(right, key=_hex_order)
    return len(left) == len(right) and all(same_hex(one, other) for one, other in zip(left, right, strict=True))


def _hex_order(value: object) -> str:
    return _digits(printed(value))


def _digits(text: str) -> str:
    return text.lower().removeprefix("0x")
