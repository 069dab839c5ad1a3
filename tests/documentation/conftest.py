"""The node that the documentation's examples speak to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.endpoints.bundled import BundledNode


@pytest.fixture(scope="session")
def ready() -> Iterator[dict[str, Any]]:
    """The ready file of a running node."""
    with BundledNode() as node:
        node.wait_until_ready()
        yield json.loads(node.ready_file.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def node_url(ready: dict[str, Any]) -> str:
    """The address of that node."""
    return str(ready["base_url"])
