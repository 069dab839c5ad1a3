"""docs/reliability.md: every promise names tests, and each of them exists."""

from __future__ import annotations

import ast
import re

import pytest
from pages import PAGES, ROOT

ROWS = [
    (cells[1].strip(), cells[2])
    for line in PAGES["docs/reliability.md"].splitlines()
    if len(cells := line.split("|")) == 4 and not re.match(r"\s*(-+|promise)\s*$", cells[1])
]


def test_page_promises_something() -> None:
    assert len(ROWS) > 10


@pytest.mark.parametrize(("promise", "shown"), ROWS, ids=[promise for promise, _ in ROWS])
def test_promise_names_tests_that_exist(promise: str, shown: str) -> None:
    named = re.findall(r"\[`([^`]+)`\]\(\.\./([^)]+)\)", shown)
    assert len(named) == shown.count("`") / 2 > 0, promise
    for function, file in named:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
