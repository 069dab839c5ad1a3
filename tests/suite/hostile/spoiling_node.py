"""A node that means harm: the tiny node, some of whose answers a behaviour spoils."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hostile_connections import STOPPED_WITHIN, Connection, body
from http_server import Answer, Request, serve
from tiny_node import Asked, TinyNode, Told, asked_by, sent_as


@dataclass(frozen=True)
class Hostility:
    """One thing that a hostile node does, and what the commands have to make of it."""

    answer: Callable[[Connection, Asked, Told], object]
    """Answers a request; it gets what the sound node would answer."""
    verdict: str
    """Of the case that meets it: `pass`, `fail` or `inconclusive`."""
    said: str
    """A part of the reason that the case gives; empty for `pass`."""


def bytes_of(told: Told) -> bytes:
    """The body of a sound answer as JSON."""
    return json.dumps(told.body).encode()


def tells(status: int, text: bytes, *headers: str) -> Callable[[Connection, Asked, Told], object]:
    """The same whole answer each time, whatever was asked."""
    return lambda connection, _asked, _told: body(
        text, "Content-Type: application/json", *headers, status=f"{status} Told"
    )(connection)


@contextmanager
def spoiling_node(chosen: Callable[[Asked], Hostility | None]) -> Iterator[TinyNode]:
    """A tiny node, on a free port, that spoils the answers to requests for which a behaviour is chosen."""
    node = TinyNode()

    def answered(request: Request) -> Answer | Callable[[socket.socket], object] | None:
        asked = asked_by(request)
        told, hostility = node.answer(asked), chosen(asked)
        if hostility is None:
            return sent_as(told)

        def spoil(accepted: socket.socket) -> None:
            accepted.settimeout(STOPPED_WITHIN)
            hostility.answer(Connection(accepted, node.over), asked, told)

        return spoil

    with serve(answered) as node.url:
        try:
            yield node
        finally:
            node.over.set()
