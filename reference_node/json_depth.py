"""How deep JSON text nests, counted before any parser is let at it: Python's would run out of stack."""

from __future__ import annotations

import re
from itertools import accumulate

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
"""A JSON string, or what begins one and goes on to the end: no text takes more than one pass."""

_NO_BRACKETS = re.compile(r"[^\[\]{}]+")

_NESTING = {"[": 1, "{": 1, "]": -1, "}": -1}


def depth(text: str) -> int:
    """How many arrays and objects stand inside one another."""
    brackets = _NO_BRACKETS.sub("", _STRING.sub("", text))
    return max(accumulate(map(_NESTING.__getitem__, brackets)), default=0)
