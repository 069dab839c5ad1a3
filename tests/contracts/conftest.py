"""Fixtures for the tests of the contracts."""

from __future__ import annotations

import pytest
from world import World, populated


@pytest.fixture
def world() -> World:
    """A fresh chain with the contract and two accounts."""
    return populated()
