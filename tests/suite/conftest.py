"""A tiny node for the tests of this folder; `tiny_node` is importable because this file stands beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tiny_node import TinyNode, tiny_node


@pytest.fixture
def node() -> Iterator[TinyNode]:
    with tiny_node() as running:
        yield running
