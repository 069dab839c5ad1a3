"""What differs, where a failure expected a list and a list came, or an object and an object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml

from conformance.values.json_text import parse, written

LONGEST_COMPARED = 20_000
"""Characters of values whose parts are compared with one another."""
VALUE = re.compile(
    r"(?:.*(?: to be | as before the request: )|(?:[^\[\]{}]*: )?(?:in any order |exactly )?)([\[{].*[\]}])"
    r"(?:(?: at .*)? of .*)?",
    re.DOTALL,
)
"""An expectation of a value: `the groups to be [1]`, ``in any order [{name: "g"}] at 0.items of `seen` ``."""


def difference(expected: str, got: str) -> Sequence[tuple[str, str]]:
    """What is missing and what is too much of a list, and which members of an object differ; empty for other values.

    Of an object the members that were expected count alone.
    """
    if max(len(expected), len(got)) > LONGEST_COMPARED:
        return ()
    form = VALUE.fullmatch(expected)
    try:
        wanted, found = yaml.safe_load(form[1]) if form else None, parse(got)
    except (ValueError, yaml.YAMLError):
        return ()
    if isinstance(wanted, dict) and isinstance(found, dict):
        differing = "; ".join(_differing("", wanted, found))
        return [("differs", differing)] if differing else ()
    if not isinstance(wanted, list) or not isinstance(found, list) or not found:
        return ()
    missing, extra = _unmatched(wanted, found)
    if len(missing) == len(extra) == 1 and (same := _alike(missing[0], extra[0])):
        return [("differs", f"in the item with {same}: {'; '.join(_differing('', missing[0], extra[0]))}")]
    sides = [(name, written(items)) for name, items in (("missing", missing), ("too many", extra)) if items]
    return sides or ([("order", f"another: {written(found)}")] if len(wanted) > 1 else [])


def _differing(place: str, wanted: object, found: object) -> Iterator[str]:
    """The innermost values that differ, with their places: ``keys[0].name is "a", not "b"``."""
    if isinstance(wanted, dict) and isinstance(found, dict) and wanted:
        for name, value in wanted.items():
            inner = f"{place}.{name}" if place else str(name)
            if name in found:
                yield from _differing(inner, value, found[name])
            else:
                yield f"{inner} is nothing, not {written(value)}"
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found) and _are_objects(wanted):
        for number, (value, other) in enumerate(zip(wanted, found, strict=True)):
            yield from _differing(f"{place}[{number}]", value, other)
    elif not _is(found, wanted):
        yield f"{place} is {written(found)}, not {written(wanted)}"


def _are_objects(values: Sequence[object]) -> bool:
    return any(isinstance(value, dict) for value in values)


def _alike(wanted: object, found: object) -> str:
    """The first member that two objects share: it tells which item it is. Empty where there is none."""
    if not isinstance(wanted, dict) or not isinstance(found, dict):
        return ""
    told = (f"{name} {written(value)}" for name, value in wanted.items() if value and found.get(name) == value)
    return next(told, "")


def _unmatched(wanted: Sequence[object], found: Sequence[object]) -> tuple[list[object], list[object]]:
    """The expected items that nothing found is, and the found ones that were not expected."""
    left, missing = list(found), []
    for item in wanted:
        match = next((number for number, other in enumerate(left) if _is(other, item)), None)
        if match is None:
            missing.append(item)
        else:
            del left[match]
    return missing, left


def _is(found: object, wanted: object) -> bool:
    if isinstance(found, dict) and isinstance(wanted, dict):
        return all(name in found and _is(found[name], value) for name, value in wanted.items())
    return type(found) is type(wanted) and found == wanted
