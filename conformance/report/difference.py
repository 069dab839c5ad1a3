"""What differs, where a failure expected a list and a list came, or an object and an object."""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml

from conformance.values.json_text import parse, written

OTHERS = re.compile(r" \(and (\d+ more): (.*)\)$", re.DOTALL)
"""The further failures of a case, which follow its first one."""
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
        differing = [name for name in wanted if name not in found or not _is(found[name], wanted[name])]
        return [("differs", "; ".join(_member(name, wanted, found) for name in differing))] if differing else ()
    if not isinstance(wanted, list) or not isinstance(found, list) or not found:
        return ()
    missing, extra = _unmatched(wanted, found)
    sides = [(name, written(items)) for name, items in (("missing", missing), ("too many", extra)) if items]
    return sides or ([("order", "another than expected")] if len(wanted) > 1 else [])


def without_others(got: str) -> tuple[str, str]:
    """What came of the first failure of a case, and the others that follow it in the text."""
    others = OTHERS.search(got)
    return (got[: others.start()], f"{others[1]}: {others[2]}") if others else (got, "")


def _member(name: object, wanted: dict[object, object], found: dict[object, object]) -> str:
    came = written(found[name]) if name in found else "nothing"
    return f"{name} is {came}, not {written(wanted[name])}"


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
