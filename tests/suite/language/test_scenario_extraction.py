"""Tests for the functions that take a part out of a value."""

from __future__ import annotations

import pytest

from conformance.language import extraction
from conformance.language.extraction import difference, differs, find_item, item
from conformance.language.scope import Scope
from conformance.problems import Mismatch

GROUPS = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "b"}]


@pytest.fixture
def scope() -> Scope:
    return Scope("seed", lambda _: None, {})


@pytest.mark.parametrize(("start", "end", "part"), [(0, -2, "abc"), (2, None, "cde"), (1, 3, "bc")])
def test_slice_counts_from_both_ends(scope: Scope, start: int, end: int | None, part: str) -> None:
    assert extraction.slice(scope, "abcde", start, end) == part


@pytest.mark.parametrize(("index", "found"), [(0, "a"), (-1, "c")])
def test_item_counts_from_both_ends(scope: Scope, index: int, found: str) -> None:
    assert item(scope, ["a", "b", "c"], index) == found


@pytest.mark.parametrize("array", [["a"], "text", None])
def test_item_departs_where_there_is_none(scope: Scope, array: object) -> None:
    with pytest.raises(Mismatch):
        item(scope, array, 1)


def test_find_item_gives_the_only_one(scope: Scope) -> None:
    assert find_item(scope, GROUPS, "name", "a") == GROUPS[0]


@pytest.mark.parametrize(("array", "wanted"), [(GROUPS, "b"), (GROUPS, "c"), ({"name": "a"}, "a")])
def test_find_item_departs_unless_there_is_one(scope: Scope, array: object, wanted: str) -> None:
    with pytest.raises(Mismatch):
        find_item(scope, array, "name", wanted)


def test_differs_tells_types_apart(scope: Scope) -> None:
    assert differs(scope, [1], [True])
    assert not differs(scope, [{"a": 1, "b": 2}], [{"b": 2, "a": 1}])


def test_difference_is_the_first_less_the_second(scope: Scope) -> None:
    assert difference(scope, 3, 5) == -2


@pytest.mark.parametrize(("one", "other"), [("3", 1), (3, None), (True, 1)])
def test_difference_is_of_integers_alone(scope: Scope, one: object, other: object) -> None:
    with pytest.raises(Mismatch):
        difference(scope, one, other)
