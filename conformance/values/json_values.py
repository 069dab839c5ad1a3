"""Steps into JSON values, and how a value stands in a text."""

from __future__ import annotations

import json


class Missing:
    """The value of a member that is not there (unlike null, which is a value)."""

    def __repr__(self) -> str:
        return "nothing (the member is not there)"


MISSING = Missing()


def member(value: object, name: str) -> object:
    """One step into a value: a member of an object or an item of an array; MISSING when there is none."""
    if isinstance(value, dict):
        return value.get(name, MISSING)
    if isinstance(value, list) and name.removeprefix("-").isdecimal():
        index = int(name)
        return value[index] if -len(value) <= index < len(value) else MISSING
    return MISSING


def printed(value: object) -> str:
    """A value as it stands in a text or a query: texts as they are, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), default=str)
