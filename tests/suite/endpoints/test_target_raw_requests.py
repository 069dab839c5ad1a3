"""Headers that repeat, odd queries and odd targets leave the suite as the case gives them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Message
from conformance.endpoints.redaction import Secrets
from conformance.profile import Profile


class Listener:
    """Answers each request with an empty array, and keeps its bytes."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.got = b""
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._socket.accept()
        with connection:
            while not self.got.endswith(b"\r\n\r\n"):
                self.got += connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]")

    def close(self) -> None:
        self._thread.join(10)
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    with closing(Listener()) as listening:
        yield listening


def _sent(listener: Listener, message: Message) -> bytes:
    with Target(listener.url, Profile()) as target:
        target.exchange(message, ExchangeLog(Secrets()))
    return listener.got


def test_names_that_differ_in_capitals_are_sent_as_two_lines(listener: Listener) -> None:
    got = _sent(listener, Message("GET", "/", {"X-Api-Key": "one", "x-api-key": "two \u00e9"}, None))

    assert b"\r\nX-Api-Key: one\r\n" in got
    assert b"\r\nx-api-key: two \xc3\xa9\r\n" in got


def test_query_is_sent_as_it_is(listener: Listener) -> None:
    assert _sent(listener, Message("HEAD", "/a?b=%ff&%zz=%&c[]", {}, None)).startswith(b"HEAD /a?b=%ff&%zz=%&c[] HTTP/")


@pytest.mark.parametrize("target", ["*", "//", "http://["])
def test_target_that_is_no_path_is_sent_as_it_is(listener: Listener, target: str) -> None:
    got = _sent(listener, Message("GET", "/", {}, None, target))

    assert got.split(b"\r\n")[0] == f"GET {target} HTTP/1.1".encode()
