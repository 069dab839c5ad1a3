"""Shipped packs define no variable that nothing reads: a value that the profile leaves open would drop its case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.resources import scenarios
from conformance.values.marked_yaml import Document

PACKS = sorted(path for path in Path(scenarios()).glob("*.yaml"))


def defined(part: object) -> Iterator[str]:
    """The names in every `let` of a part of a case."""
    if isinstance(part, dict):
        let = part.get("let")
        yield from let if isinstance(let, dict) else ()
        for inner in part.values():
            yield from defined(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from defined(inner)


@pytest.mark.parametrize("path", PACKS, ids=lambda path: path.stem)
def test_every_variable_of_a_case_is_read(path: Path) -> None:
    pack = Document(path).value
    assert isinstance(pack, dict)
    unread = [
        (case["id"], name)
        for case in pack["cases"]
        for name in dict.fromkeys(defined(case))
        if not re.search(rf"\$\{{{name}[.}}]", repr(case))
    ]
    assert unread == []
