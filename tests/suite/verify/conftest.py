"""Services on loopback that several tests ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from made_evidence import HONEST
from served_evidence import PCCS, Service, serving


@pytest.fixture
def service() -> Iterator[Service]:
    """Serves the sound evidence."""
    with serving(Service(HONEST)) as running:
        yield running


@pytest.fixture
def pccs() -> Iterator[Service]:
    """Serves the collateral of its platform."""
    with serving(Service(HONEST, dict(PCCS))) as running:
        yield running
