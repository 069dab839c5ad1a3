"""A node that means harm: the tiny node, some of whose answers a behaviour spoils."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from hostile_connections import STOPPED_WITHIN, Connection, accept_each, body, threads
from tiny_node import CORE, Asked, TinyNode, Told


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


def _asked(connection: Connection) -> Asked | None:
    """The request of a connection; None where there is none."""
    reader = connection.socket.makefile("rb")
    if not (line := reader.readline().split()):
        return None
    headers: dict[str, str] = {}
    while (header := reader.readline()) not in {b"\r\n", b""}:
        name, _, value = header.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    text = reader.read(int(headers.get("content-length", "0"))).decode("utf-8", "surrogatepass")
    parts = urlsplit(line[1].decode())
    path = parts.path.removeprefix(CORE)
    return Asked(line[0].decode(), path, dict(parse_qsl(parts.query)), headers, text)


@contextmanager
def spoiling_node(chosen: Callable[[Asked], Hostility | None]) -> Iterator[TinyNode]:
    """A tiny node, on a free port, that spoils the answers to requests for which a behaviour is chosen."""
    node, stopped = TinyNode(), threading.Event()

    def serve(accepted: socket.socket) -> None:
        with accepted, suppress(OSError):
            connection = Connection(accepted, stopped)
            asked = _asked(connection)
            if asked is None:
                return
            told, hostility = node.answer(asked), chosen(asked)
            answer = tells(told.status, bytes_of(told)) if hostility is None else hostility.answer
            answer(connection, asked, told)
            accepted.shutdown(socket.SHUT_WR)
            accepted.settimeout(STOPPED_WITHIN)
            while accepted.recv(65536):  # closing with unread bytes would reset the connection, and lose the answer
                pass

    with socket.create_server(("127.0.0.1", 0)) as listening, threads(stopped) as start:
        start(lambda: accept_each(listening, stopped, lambda accepted: start(lambda: serve(accepted))))
        node.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        yield node
