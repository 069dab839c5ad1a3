"""The node with TLS and DNS that these tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from nodes import Running, serving

from reference_node.settings import Settings


@pytest.fixture(scope="session")
def attested() -> Iterator[Running]:
    """A node that serves HTTP, HTTPS and DNS, with test control."""
    with serving(Settings(port=0, control=True, tls_domain="tee.example", tls_port=0, dns_port=0)) as running:
        yield running
