"""Fixtures for the tests of the chain."""

from __future__ import annotations

from typing import Any

import pytest

from reference_node.chain.evm import EvmChain
from reference_node.chain.rpc import JsonRpc

from .rpc_asking import Ask, Fail, answer
from .wallets import Clock, rich_chain


@pytest.fixture
def clock() -> Clock:
    """The clock of `chain`."""
    return Clock()


@pytest.fixture
def chain(clock: Clock) -> EvmChain:
    """A fresh chain on which Alice and Bob are rich."""
    return rich_chain(clock)


@pytest.fixture
def rpc(chain: EvmChain) -> JsonRpc:
    return JsonRpc(chain)


@pytest.fixture
def ask(rpc: JsonRpc) -> Ask:
    """The result of a method."""

    def result(method: str, *params: object) -> Any:
        return answer(rpc, method, list(params))["result"]

    return result


@pytest.fixture
def fail(rpc: JsonRpc) -> Fail:
    """The error of a method."""

    def error(method: str, *params: object) -> Any:
        return answer(rpc, method, list(params))["error"]

    return error
