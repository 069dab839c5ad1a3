"""What each matcher takes and refuses, and what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import JsonValue

from conformance.language import operators  # noqa: F401 - enters the matchers under their names
from conformance.language.matchers import Difference, compile_matcher
from conformance.language.scope import Scope
from conformance.language.templates import CompileContext
from conformance.language.vocabulary import standard
from conformance.values.json_values import MISSING
from conformance.values.marked_yaml import Document


def match(tmp_path: Path, raw: JsonValue, value: object) -> Difference | None:
    path = tmp_path / "x.yaml"
    path.write_text("a: b", encoding="utf-8")
    context = CompileContext(Document(path), standard(), names={"two"})
    return compile_matcher(raw, context)(value, Scope(lambda _: None, {"two": 2}))


HOLDS: list[tuple[JsonValue, object]] = [
    (1, 1),
    (None, None),
    ("${two}", 2),
    ([], []),
    ({}, {}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ([{"a": 1}], [{"a": 1, "b": 2}]),
    ({"equals": {"a": [1]}}, {"a": [1]}),
    ({"matches": "b+"}, "abbc"),
    ({"type": "integer"}, 0),
    ({"type": "boolean"}, False),
    ({"type": "null"}, None),
    ({"type": "array"}, [1, 2]),
    ({"type": "integer", "at_most": "${two}"}, 2),
    ({"includes": {"a": 1}}, [{"a": 2}, {"a": 1}]),
    ({"any_order": [{"type": "integer"}, 1]}, [1, 7]),
]
HOLDS_NOT: list[tuple[JsonValue, object]] = [
    (1, True),
    (1, 1.0),
    (1, "1"),
    (0, False),
    (None, MISSING),
    ([], {}),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, [1]),
    ([1], [1, 2]),
    ([1, 2], [1]),
    ([1], "1"),
    ({"equals": {"a": 1}}, {"a": 1, "b": 2}),
    ({"equals": [1]}, [True]),
    ({"matches": "^b"}, "abc"),
    ({"matches": "1"}, 1),
    ({"type": "integer"}, True),
    ({"type": "integer"}, 1.5),
    ({"type": "string"}, MISSING),
    ({"type": "null"}, False),
    ({"at_most": 2}, 3),
    ({"at_most": 2}, "1"),
    ({"includes": 1}, [2]),
    ({"includes": 1}, MISSING),
    ({"any_order": [1, {"type": "integer"}]}, [2, 3]),
    ({"any_order": [1]}, [1, 1]),
    ({"type": "integer", "at_most": 3}, 4),
]


@pytest.mark.parametrize(("raw", "value"), HOLDS)
def test_matcher_holds(tmp_path: Path, raw: JsonValue, value: object) -> None:
    assert match(tmp_path, raw, value) is None


@pytest.mark.parametrize(("raw", "value"), HOLDS_NOT)
def test_matcher_does_not_hold(tmp_path: Path, raw: JsonValue, value: object) -> None:
    assert match(tmp_path, raw, value) is not None


def test_difference_says_where_and_what(tmp_path: Path) -> None:
    found = match(tmp_path, {"groups": [{"id": 1}, {"id": {"at_most": 3}}]}, {"groups": [{"id": 1}, {"id": 4}]})

    assert found == Difference("a number of at most 3", 4, "groups.1.id")
