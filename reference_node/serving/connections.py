"""Limits all connections to a node together: their number, and the bytes of their unfinished bodies."""

from __future__ import annotations

import resource
from enum import IntEnum
from typing import Protocol

MOST = 4096
"""The most open connections, HTTP and HTTPS together, unless the limit of open files is lower."""

FILES_KEPT = 400
"""Open files reserved for the rest of the node: ledger, chain, sandbox, DNS, handshakes."""

BODY_BYTES = 64 * 1024 * 1024
"""The most bytes of incomplete bodies, over all connections."""


class Phase(IntEnum):
    """The phases of a connection, in the order in which connections are dropped for a new one."""

    SILENT = 0
    """It has not sent a complete request head yet."""
    IDLE = 1
    """It has no open request."""
    SENDING = 2
    """The body of its request is incomplete."""
    SERVED = 3
    """The node is working on its request. It is never dropped."""


class Connection(Protocol):
    """The interface of a connection that this module needs."""

    @property
    def phase(self) -> Phase:
        """The connection's current phase."""

    def drop(self) -> None:
        """Close the connection without an answer."""

    def refuse_body(self) -> None:
        """Refuse its body as too large for the node's memory, and close it."""


def most_connections() -> int:
    """The number of connections within the limit of open files, at most `MOST`."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else max(1, min(MOST, files - FILES_KEPT))


class Connections:
    """The open connections of a node. At the limit, a new one replaces one that keeps the node waiting."""

    def __init__(self, most: int | None = None, body_bytes: int = BODY_BYTES) -> None:
        self._most = most_connections() if most is None else most
        self._body_bytes = body_bytes
        self._open: dict[Connection, None] = {}
        self._bodies: dict[Connection, int] = {}
        self._held = 0

    def admit(self, newcomer: Connection) -> bool:
        """Admit a connection, if necessary in place of the one that has been silent or idle longest. False: no room."""
        if len(self._open) >= self._most:
            longest = min(self._open, key=lambda connection: connection.phase)
            if longest.phase is Phase.SERVED:
                return False
            self.leave(longest)
            longest.drop()
        self._open[newcomer] = None
        return True

    def leave(self, connection: Connection) -> None:
        """Remove a closed connection."""
        self._open.pop(connection, None)
        self.finish_body(connection)

    def hold_body(self, connection: Connection, count: int) -> None:
        """Count bytes of an incomplete body. If all bodies exceed the limit, refuse the one that began first."""
        self._bodies[connection] = self._bodies.get(connection, 0) + count
        self._held += count
        while self._held > self._body_bytes:
            slowest = next(iter(self._bodies))
            self.finish_body(slowest)
            slowest.refuse_body()

    def finish_body(self, connection: Connection) -> None:
        """Stop counting the body of a connection: it is complete or abandoned."""
        self._held -= self._bodies.pop(connection, 0)
