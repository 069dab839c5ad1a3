"""Measures how deep JSON text nests, before parsing: deep nesting would exhaust the stack of Python's parser."""

from __future__ import annotations

import re
from itertools import accumulate

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
"""A JSON string, or an unterminated one up to the end of the text, so that matching takes one pass."""

_NO_BRACKETS = re.compile(r"[^\[\]{}]+")

_NESTING = {"[": 1, "{": 1, "]": -1, "}": -1}


def depth(text: str) -> int:
    """The depth of nested arrays and objects."""
    brackets = _NO_BRACKETS.sub("", _STRING.sub("", text))
    return max(accumulate(map(_NESTING.__getitem__, brackets)), default=0)
