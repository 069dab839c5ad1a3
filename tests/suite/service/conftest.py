"""An account at the tiny node, and sessions with a reference node where a case needs the chain."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.endpoints.client import Target
from conformance.selftest.tools.serving import target_node
from conformance.service import Account, Accounts, Session


@pytest.fixture
def alice(session: Session) -> Account:
    return Accounts(session).new()


@pytest.fixture(scope="module")
def chain_target() -> Iterator[Target]:
    """A reference node with its chain."""
    with target_node(lambda _: None, "7") as made:
        yield made


@pytest.fixture
def on_chain(chain_target: Target, request: pytest.FixtureRequest) -> Session:
    """A case's session with the reference node."""
    return Session(chain_target, f"trial::{request.node.name}")
