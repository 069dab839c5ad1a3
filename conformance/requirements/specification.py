"""The headings and numbered items of the specification text, by which statements cite their place in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from conformance.resources import PACKAGE

PREAMBLE = "Preamble"
"""What stands before the first section: the conventions."""

_HEADING = re.compile(r"^(##|###) +(.+?) *$")
_ITEM = re.compile(r"^(\d+)\. ")


def specification_file() -> Path:
    """The specification text: inside the package when installed, under docs/ in a checkout."""
    installed = PACKAGE / "data" / "specification.md"
    return installed if installed.is_file() else PACKAGE.parent / "docs" / "specification.md"


@cache
def sections() -> Mapping[str, frozenset[int]]:
    """Every section by its headings, for example ``Endpoints / Groups``, and the numbers of its numbered items."""
    return read_sections(specification_file().read_text(encoding="utf-8"))


def read_sections(text: str) -> dict[str, frozenset[int]]:
    """The sections of a text whose parts begin with ``##`` and ``###``; back quotes in headings are left out."""
    part, title = PREAMBLE, PREAMBLE
    items: dict[str, set[int]] = {PREAMBLE: set()}
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            name = heading[2].replace("`", "")
            part = name if heading[1] == "##" else part
            title = name if heading[1] == "##" else f"{part} / {name}"
            items[title] = set()
        elif item := _ITEM.match(line):
            items[title].add(int(item[1]))
    return {name: frozenset(numbers) for name, numbers in items.items()}
