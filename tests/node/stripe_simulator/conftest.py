"""A simulator for each test, and its callers."""

from __future__ import annotations

import pytest
import stripe
from simulators import KEYS, Caller, CheckedSimulator, Raw


@pytest.fixture
def simulator(monkeypatch: pytest.MonkeyPatch) -> CheckedSimulator:
    """A fresh account. The SDK tries again at once."""
    monkeypatch.setattr(stripe.HTTPClient, "INITIAL_DELAY", 0.0)
    return CheckedSimulator()


@pytest.fixture
def merchant(simulator: CheckedSimulator) -> Caller:
    """The holder of the secret key."""
    return Caller(simulator, KEYS.secret)


@pytest.fixture
def raw(simulator: CheckedSimulator) -> Raw:
    """The holder of the secret key, who sends requests of any form."""
    return Raw(simulator, KEYS.secret)


@pytest.fixture
def browser(simulator: CheckedSimulator) -> Caller:
    """A customer, who has the publishable key."""
    return Caller(simulator, KEYS.publishable)
