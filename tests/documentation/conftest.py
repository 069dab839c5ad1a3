"""The servers that the documentation's examples speak to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.endpoints.bundled import BundledNode
from reference_node.stripe_simulator.access import ApiKeys
from reference_node.stripe_simulator.server import serving
from reference_node.stripe_simulator.simulator import StripeSimulator


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


@pytest.fixture(scope="session")
def simulator_url() -> Iterator[str]:
    """The address of a running Stripe simulator, with the keys that the documentation shows."""
    with serving(StripeSimulator(ApiKeys("sk_test_local", "pk_test_local"))) as url:
        yield url
