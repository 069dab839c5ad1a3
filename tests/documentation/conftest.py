"""The node that the documentation's examples speak to."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from conformance.endpoints.bundled import BundledNode


@pytest.fixture(scope="session")
def node_url() -> Iterator[str]:
    """The address of a running node."""
    with BundledNode() as node:
        node.wait_until_ready()
        yield str(json.loads(node.ready_file.read_text(encoding="utf-8"))["base_url"])
