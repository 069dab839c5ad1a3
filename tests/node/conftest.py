"""The node that tests share, and accounts on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anvils import anvil  # noqa: F401 - a fixture
from hypothesis import HealthCheck, settings
from nodes import Running, serving
from stripe_mock import stripe_mock_url  # noqa: F401 - a fixture

from reference_node.settings import Settings

# No random test is about time, however busy the machine.
settings.register_profile("unhurried", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def running() -> Iterator[Running]:
    """A node whose accounts have credits; tests share it, each with accounts of its own."""
    with serving(Settings(port=0, starter_credits=10**9)) as started:
        yield started


@pytest.fixture
def account(running: Running) -> str:
    """The key of a fresh account."""
    return running.account()
