"""What is missing and what is too much, where a failure expected a list and a list came."""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml

from conformance.values.json_text import parse, written

OTHERS = re.compile(r" \(and (\d+ more: .*)\)$", re.DOTALL)
"""The further failures of a case, which follow its first one."""
LONGEST_COMPARED = 20_000
"""Characters of lists whose items are compared with one another."""
LIST = re.compile(
    r"(?:.*(?: to be | as before the request: )|(?:[^\[\]{}]*: )?(?:in any order )?)(\[.*\])(?:(?: at .*)? of .*)?",
    re.DOTALL,
)
"""An expectation of a list: `the groups to be [1]`, ``in any order [{name: "g"}] at 0.items of `seen` ``."""


def difference(expected: str, got: str) -> Sequence[tuple[str, str]]:
    """What is missing and what is too much, where a list was expected and a list came.

    Of an object the members that were expected count alone.
    """
    if max(len(expected), len(got)) > LONGEST_COMPARED:
        return ()
    form = LIST.fullmatch(expected)
    others = OTHERS.search(got)
    try:
        wanted, found = yaml.safe_load(form[1]) if form else None, parse(got[: others.start()] if others else got)
    except (ValueError, yaml.YAMLError):
        return ()
    if not isinstance(wanted, list) or not isinstance(found, list):
        return ()
    missing, extra = _unmatched(wanted, found)
    sides = [(name, written(items)) for name, items in (("missing", missing), ("too many", extra)) if items]
    sides = sides or ([("order", "another than expected")] if len(wanted) > 1 else [])
    return [*sides, ("and", others[1])] if sides and others else sides


def _unmatched(wanted: Sequence[object], found: Sequence[object]) -> tuple[list[object], list[object]]:
    """The expected items that nothing found is, and the found ones that were not expected."""
    left, missing = list(found), []
    for item in wanted:
        match = next((other for other in left if _is(other, item)), None)
        if match is None:
            missing.append(item)
        else:
            left.remove(match)
    return missing, left


def _is(found: object, wanted: object) -> bool:
    if isinstance(found, dict) and isinstance(wanted, dict):
        return all(name in found and _is(found[name], value) for name, value in wanted.items())
    return type(found) is type(wanted) and found == wanted
