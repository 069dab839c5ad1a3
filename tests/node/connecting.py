"""Connections of clients that do not behave, byte by byte."""

from __future__ import annotations

import re
import socket
from urllib.parse import urlsplit

from nodes import Running
from waiting import LONGEST_SECONDS


def connect(running: Running) -> socket.socket:
    """An open connection to the node."""
    return connect_to(str(running.http.base_url))


def connect_to(url: str) -> socket.socket:
    """An open connection to who listens there."""
    where = urlsplit(url)
    return socket.create_connection((where.hostname, where.port), timeout=LONGEST_SECONDS)


def head(method: str, path: str, *headers: str) -> bytes:
    """The head of a request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def until_closed(connection: socket.socket) -> bytes:
    """All that the node sends until it closes the connection."""
    answer = b""
    try:
        while received := connection.recv(65536):
            answer += received
    except ConnectionResetError:
        return answer
    return answer


def exchange(running: Running, sent: bytes) -> bytes:
    """All that the node answers to these bytes of a client that waits for the connection's end."""
    with connect(running) as connection:
        connection.sendall(sent)
        return until_closed(connection)


def statuses(answers: bytes) -> list[int]:
    """The statuses of answers behind one another."""
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", answers)]


def status_of(answer: bytes) -> int:
    """The status of the first answer."""
    return statuses(answer)[0]
