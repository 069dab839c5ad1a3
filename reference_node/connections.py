"""What all connections to a node may hold together: how many there are, and the bytes of their unfinished bodies."""

from __future__ import annotations

import resource
from enum import IntEnum
from typing import Protocol

MOST = 4096
"""Connections at once, HTTP and HTTPS together, where the system lets a process have as many files."""

FILES_KEPT = 400
"""Files that connections leave for the rest of the node: ledger, chain, sandbox, DNS, handshakes."""

BODY_BYTES = 64 * 1024 * 1024
"""Bytes of bodies that have not arrived whole, of all connections."""


class Stage(IntEnum):
    """What a connection is doing, in the order in which connections have to make room for a new one."""

    SILENT = 0
    """It has not sent the head of its first request yet."""
    IDLE = 1
    """Its requests have been answered."""
    SENDING = 2
    """The body of its request is still on its way."""
    SERVED = 3
    """The node works on its request: it never makes room."""


class Connection(Protocol):
    """The interface of a connection that this module needs."""

    @property
    def stage(self) -> Stage:
        """The connection's current phase."""

    def drop(self) -> None:
        """Close the connection without an answer."""

    def refuse_body(self) -> None:
        """Answer that its body is more than the node can hold, and close it."""


def most_connections() -> int:
    """As many as the limit of open files leaves room for, `MOST` at most."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else max(1, min(MOST, files - FILES_KEPT))


class Connections:
    """The open connections of one node. A new one takes the place of one that keeps the node waiting."""

    def __init__(self, most: int | None = None, body_bytes: int = BODY_BYTES) -> None:
        self._most = most_connections() if most is None else most
        self._body_bytes = body_bytes
        self._open: dict[Connection, None] = {}
        self._bodies: dict[Connection, int] = {}
        self._held = 0

    def admit(self, newcomer: Connection) -> bool:
        """Whether there is room; the connection that has been silent or idle longest makes it where there is none."""
        if len(self._open) >= self._most:
            longest = min(self._open, key=lambda connection: connection.stage)
            if longest.stage is Stage.SERVED:
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
        """Count bytes of an unfinished body. Where all hold too much, the body that began first is refused."""
        self._bodies[connection] = self._bodies.get(connection, 0) + count
        self._held += count
        while self._held > self._body_bytes:
            slowest = next(iter(self._bodies))
            self.finish_body(slowest)
            slowest.refuse_body()

    def finish_body(self, connection: Connection) -> None:
        """Forget the body of a connection: it has arrived, or will not."""
        self._held -= self._bodies.pop(connection, 0)
