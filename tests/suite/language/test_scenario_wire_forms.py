"""Tests for the matcher and functions about how bodies and bytes are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.language.scope import Scope
from conformance.language.templates import CompileContext
from conformance.language.vocabulary import standard
from conformance.language.wire_forms import json_text, parse_json
from conformance.problems import BadShape, Mismatch
from conformance.values.marked_yaml import Document


@pytest.fixture
def scope() -> Scope:
    return Scope("seed", lambda _: None, {})


@pytest.fixture
def context(tmp_path: Path) -> CompileContext:
    path = tmp_path / "pack.yaml"
    path.write_text("pack: pack\n")
    return CompileContext(Document(path), standard())


@pytest.mark.parametrize("body", ["", "null", '"text"', '{"a": [1, 2]}', " [] \n"])
def test_json_text_takes_json_and_the_empty_body(context: CompileContext, scope: Scope, body: str) -> None:
    assert json_text(True, context)(body, scope) is None


@pytest.mark.parametrize("body", ["OK", "{", "<p>no</p>", '{"a": 1, "a": 2}', "NaN", "[1] [2]"])
def test_json_text_refuses_what_is_no_json(context: CompileContext, scope: Scope, body: str) -> None:
    assert json_text(True, context)(body, scope) is not None


def test_json_text_takes_nothing_but_true(context: CompileContext) -> None:
    with pytest.raises(BadShape):
        json_text(False, context)


def test_parse_json_gives_the_value(scope: Scope) -> None:
    assert parse_json(scope, '["a", 1]') == ["a", 1]


def test_parse_json_departs_from_what_is_no_json(scope: Scope) -> None:
    with pytest.raises(Mismatch):
        parse_json(scope, "[1")
