"""A node that sells credits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from nodes import Running, serving

from reference_node.settings import Settings


@pytest.fixture
def shop() -> Iterator[Running]:
    """A node whose accounts begin with nothing and can buy credits."""
    with serving(Settings(port=0)) as running:
        yield running
