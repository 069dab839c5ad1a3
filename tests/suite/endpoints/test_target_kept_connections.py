"""A server may close an idle connection at any time (RFC 9112, 9.5): that alone is no departure."""

from __future__ import annotations

import pytest
from tiny_node import DROP, Asked, TinyNode, Told

from conformance.problems import ConnectionDropped, IdleConnectionClosed
from conformance.service import Accounts, Session


@pytest.fixture
def kept(session: Session) -> Session:
    """A session that has a kept-alive connection."""
    session.call("get_node_chain_config")
    return session


def dropped(node: TinyNode, path: str, times: int) -> list[Asked]:
    """Have the node drop so many requests of a path; the requests that it got."""
    seen: list[Asked] = []

    def drop(request: Asked) -> Told:
        seen.append(request)
        return Told(DROP) if len(seen) <= times else node.honest(request)

    node.faults[path] = drop
    return seen


def test_read_on_a_closed_connection_is_sent_again_once(node: TinyNode, kept: Session) -> None:
    seen = dropped(node, "get_node_chain_config", 1)

    assert kept.call("get_node_chain_config").accepted
    assert len(seen) == 2


def test_read_that_is_dropped_on_a_fresh_connection_too_is_a_departure(node: TinyNode, kept: Session) -> None:
    seen = dropped(node, "get_node_chain_config", 9)

    with pytest.raises(ConnectionDropped, match="the connection broke before the answer"):
        kept.call("get_node_chain_config")
    assert len(seen) == 2


def test_write_on_a_closed_connection_is_not_sent_again(node: TinyNode, kept: Session) -> None:
    seen = dropped(node, "new_account", 1)

    with pytest.raises(IdleConnectionClosed):
        Accounts(kept).new()
    assert len(seen) == 1


def test_write_that_is_dropped_on_its_own_connection_is_a_departure(node: TinyNode, session: Session) -> None:
    dropped(node, "new_account", 1)

    with pytest.raises(ConnectionDropped):
        Accounts(session).new()


def test_request_has_its_own_connection_where_none_is_reused(node: TinyNode, kept: Session) -> None:
    kept.target.reuses_connections = False
    kept.call("get_node_chain_config")
    dropped(node, "new_account", 1)

    with pytest.raises(ConnectionDropped):
        Accounts(kept).new()
