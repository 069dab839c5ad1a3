"""JSON as the specification's bodies are: strict, without duplicate members, NaN or Infinity."""

from __future__ import annotations

import json
import re
from collections import Counter

DEEPEST = 200
"""Arrays and objects inside one another, more than any answer needs and less than the stack of Python holds."""
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[][{}]', re.DOTALL)
"""A string or a bracket. A string without an end is one token, too, which keeps the search linear."""


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the member {twice!r} stands twice in one object")
    return result


def _constant(text: str) -> object:
    raise ValueError(f"{text} is no JSON value")


def parse(text: str) -> object:
    """The JSON value of a text. ValueError says what is wrong with it."""
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        raise ValueError("the JSON is nested too deeply")
    return json.loads(text, object_pairs_hook=_members, parse_constant=_constant)


def _depth(text: str) -> int:
    """How many brackets are open at once, at most; those in strings do not count."""
    depth = deepest = 0
    for token in TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        deepest = max(deepest, depth)
    return deepest


def written(value: object) -> str:
    """A value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


A_TEST = 4
"""How deep a test stands in a file of vectors: in the list of a group in the list of groups."""


def vectors_text(document: object) -> str:
    """A file of vectors, each test of it on one line."""
    return f"{_lines(document, A_TEST, '')}\n"


def _lines(value: object, levels: int, indent: str) -> str:
    """A JSON value with its members and items on lines of their own, down to so many levels."""
    if not levels or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    deeper = f"{indent} "
    begin, end = "{}" if isinstance(value, dict) else "[]"
    parts = (
        [f"{json.dumps(name)}: {_lines(inner, levels - 1, deeper)}" for name, inner in value.items()]
        if isinstance(value, dict)
        else [_lines(inner, levels - 1, deeper) for inner in value]
    )
    between = f",\n{deeper}"
    return f"{begin}\n{deeper}{between.join(parts)}\n{indent}{end}"
