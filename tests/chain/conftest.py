"""Fixtures for the tests of the chain."""

from __future__ import annotations

import pytest

from reference_node.chain.evm import EvmChain

from .wallets import rich_chain


@pytest.fixture
def chain() -> EvmChain:
    """A fresh chain on which Alice and Bob are rich."""
    return rich_chain()
