"""A simulator for each test, and its callers."""

from __future__ import annotations

import pytest
from simulators import KEYS, Caller, CheckedSimulator


@pytest.fixture
def simulator() -> CheckedSimulator:
    """A fresh account."""
    return CheckedSimulator()


@pytest.fixture
def merchant(simulator: CheckedSimulator) -> Caller:
    """The holder of the secret key."""
    return Caller(simulator, KEYS.secret)


@pytest.fixture
def browser(simulator: CheckedSimulator) -> Caller:
    """A customer, who has the publishable key."""
    return Caller(simulator, KEYS.publishable)
