"""Texts with their escapes resolved: those of JSON, of URLs and of HTML, also inside one another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html.entities import html5
from itertools import chain
from typing import NamedTuple

ESCAPE = re.compile(
    r"\\u([0-9a-fA-F]{4})|\\([\"\\/bfnrt])|%([0-9a-fA-F]{2})|&#[xX]0*([0-9a-fA-F]{1,5});?|&#0*([0-9]{1,6});?|&([a-zA-Z]+;)"
)
CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
MOST_LAYERS = 4
"""A text of JSON in JSON that HTML shows has three."""
MOST_RESOLVED = 1_000_000
"""Longer texts are taken as they are."""


class Resolved(NamedTuple):
    """A text, and the place in the original at which each of its characters begins, the end included."""

    text: str
    starts: Sequence[int]


def layers(text: str) -> Iterator[Resolved]:
    """The text as it is, and then with one layer of escapes after another resolved."""
    seen = Resolved(text, range(len(text) + 1))
    for _ in range(MOST_LAYERS):
        yield seen
        if len(text) > MOST_RESOLVED or not any(map(seen.text.__contains__, "\\%&")) or not ESCAPE.search(seen.text):
            return
        seen = _without_one_layer(seen)
    yield seen


def _without_one_layer(seen: Resolved) -> Resolved:
    text, starts = seen
    parts: list[str] = []
    places: list[Sequence[int]] = []
    end = 0
    for found in ESCAPE.finditer(text):
        if meant := _meant(found):
            parts += [text[end : found.start()], meant]
            places += [starts[end : found.start()], starts[found.start() : found.start() + 1]]
            end = found.end()
    return Resolved("".join([*parts, text[end:]]), list(chain(*places, starts[end:])))


def _meant(found: re.Match[str]) -> str:
    """The character that an escape stands for; empty for an entity that HTML does not know."""
    unit, plain, octet, hexadecimal, decimal, name = found.groups()
    if plain:
        return CONTROLS.get(plain, plain)
    if name:
        character = html5.get(name, "")
        return character if len(character) == 1 else ""
    number = int(decimal) if decimal else int(unit or octet or hexadecimal, 16)
    return chr(number) if number <= 0x10FFFF else ""
