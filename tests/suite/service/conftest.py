"""Sessions with a tiny node, and with a reference node where a case needs the chain."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tiny_node import TinyNode

from conformance.endpoints.client import Target
from conformance.profile import Profile
from conformance.selftest.tools.serving import target_node
from conformance.service import Session


@pytest.fixture
def target(node: TinyNode) -> Iterator[Target]:
    with Target(node.url, Profile(), seed="7") as made:
        yield made


@pytest.fixture
def session(target: Target) -> Session:
    """A case's session with the tiny node."""
    return Session(target, "trial::one")


@pytest.fixture(scope="module")
def chain_target() -> Iterator[Target]:
    """A reference node with its chain."""
    with target_node(lambda _: None, "7") as made:
        yield made


@pytest.fixture
def on_chain(chain_target: Target, request: pytest.FixtureRequest) -> Session:
    """A case's session with the reference node."""
    return Session(chain_target, f"trial::{request.node.name}")
