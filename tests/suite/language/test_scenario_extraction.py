"""Tests for the functions that take a part out of a value."""

from __future__ import annotations

import pytest

from conformance.language import extraction
from conformance.language.extraction import difference, differs
from conformance.language.scope import Scope
from conformance.problems import Mismatch

GROUPS = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "b"}]


@pytest.fixture
def scope() -> Scope:
    return Scope("seed", lambda _: None, {})


@pytest.mark.parametrize(("start", "end", "part"), [(0, -2, "abc"), (2, None, "cde"), (1, 3, "bc")])
def test_slice_counts_from_both_ends(scope: Scope, start: int, end: int | None, part: str) -> None:
    assert extraction.slice(scope, "abcde", start, end) == part


def test_differs_tells_types_apart(scope: Scope) -> None:
    assert differs(scope, [1], [True])
    assert not differs(scope, [{"a": 1, "b": 2}], [{"b": 2, "a": 1}])


def test_difference_is_the_first_less_the_second(scope: Scope) -> None:
    assert difference(scope, 3, 5) == -2


@pytest.mark.parametrize(("one", "other"), [("3", 1), (3, None), (True, 1)])
def test_difference_is_of_integers_alone(scope: Scope, one: object, other: object) -> None:
    with pytest.raises(Mismatch):
        difference(scope, one, other)
