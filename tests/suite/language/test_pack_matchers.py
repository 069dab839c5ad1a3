"""What each matcher takes and refuses, and what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import JsonValue

from conformance.language import array_operators  # noqa: F401 - enters the matchers under their names
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
    return compile_matcher(raw, context)(value, Scope("s", lambda _: None, {"two": 2}))


HOLDS: list[tuple[JsonValue, object]] = [
    (1, 1),
    (None, None),
    ("${two}", 2),
    ([], []),
    ({}, {}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ([{"a": 1}], [{"a": 1, "b": 2}]),
    ({"equals": {"a": [1]}}, {"a": [1]}),
    ({"not": 1}, 2),
    ({"not": {"type": "string"}}, None),
    ({"matches": "b+"}, "abbc"),
    ({"type": "integer"}, 0),
    ({"type": "boolean"}, False),
    ({"type": "null"}, None),
    ({"type": "array", "length": 2}, [1, 2]),
    ({"length": 0}, {}),
    ({"type": "integer", "at_most": "${two}"}, 2),
    ({"includes": {"a": 1}}, [{"a": 2}, {"a": 1}]),
    ({"includes": "bc"}, "abcd"),
    ({"excludes": 3}, [1, 2]),
    ({"excludes": "x"}, "abc"),
    ({"items": [1, {"type": "string"}]}, [1, "a"]),
    ({"any_order": [{"type": "integer"}, 1]}, [1, 7]),
    ({"every": {"at_most": 2}}, [1, 2]),
    ({"pluck": "id", "then": [1, 2]}, [{"id": 1}, {"id": 2}]),
    ({"all_of": [{"type": "integer"}, {"at_most": 3}]}, 2),
    ({"any_of": [1, 2]}, 2),
    ({"one_of": [1, 2]}, 2),
    ({"same_hex": "0xAB"}, "ab"),
    ({"absent": True}, MISSING),
    ({"a": {"absent": True}}, {}),
    ({"absent": False}, None),
    ({"any_of": [{"absent": True}, 1]}, MISSING),
    ({"members": {"type": "x"}}, {"type": "x"}),
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
    ({"not": 1}, 1),
    ({"not": 1}, MISSING),
    ({"matches": "^b"}, "abc"),
    ({"matches": "1"}, 1),
    ({"type": "integer"}, True),
    ({"type": "integer"}, 1.5),
    ({"type": "string"}, MISSING),
    ({"type": "null"}, False),
    ({"length": 1}, 1),
    ({"length": 1}, []),
    ({"at_most": 2}, 3),
    ({"at_most": 2}, "1"),
    ({"includes": 1}, [2]),
    ({"includes": 1}, MISSING),
    ({"excludes": 1}, [1]),
    ({"excludes": 1}, MISSING),
    ({"excludes": "a"}, "abc"),
    ({"items": [1]}, [1, 2]),
    ({"any_order": [1, {"type": "integer"}]}, [2, 3]),
    ({"any_order": [1]}, [1, 1]),
    ({"every": 1}, [1, 2]),
    ({"every": 1}, {}),
    ({"every": {"type": "integer"}}, []),
    ({"pluck": "id", "then": [1]}, [{"id": 1}, {}]),
    ({"all_of": [1, 2]}, 1),
    ({"any_of": [1, 2]}, 3),
    ({"one_of": [1, 2]}, True),
    ({"same_hex": "0xab"}, "0xac"),
    ({"same_hex": "0xab"}, None),
    ({"absent": True}, None),
    ({"absent": False}, MISSING),
    ({"members": {"type": "x"}}, {}),
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
