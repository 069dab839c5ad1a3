"""The sandbox that tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reference_node.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox with the usual limits."""
    with Sandbox() as started:
        yield started
