"""An HTTP server on loopback whose answers a function gives."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

JSON = (("Content-Type", "application/json"),)


@dataclass(frozen=True)
class Request:
    """A request that came."""

    method: str
    target: str
    """The path with its query, as it stands in the request."""
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes
    connection: object
    """The same for all requests of one connection."""


@dataclass(frozen=True)
class Answer:
    """An answer; its length is added unless the headers state one."""

    status: int = 200
    body: bytes = b""
    headers: Sequence[tuple[str, str]] = ()


Answering = Callable[[Request], Answer | Callable[[socket.socket], object] | None]
"""A function gets the connection, to do with it what it likes; `None` closes it without an answer."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a connection that finds the queue full waits a second before it tries again

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that went away."""


@contextmanager
def serve(answering: Answering, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a server that answers so while the block runs, over TLS with a context."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def __getattr__(self, name: str) -> Callable[[], None]:
            if name.startswith("do_"):  # whichever method comes
                return self._serve
            raise AttributeError(name)

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, body, self.client_address)
            answer = None if over.is_set() else answering(request)  # a kept connection ends with the server
            if not isinstance(answer, Answer):
                self.close_connection = True
                if answer is not None:
                    answer(self.connection)
                return
            head = "".join(f"{name}: {value}\r\n" for name, value in answer.headers)
            if all(name.lower() != "content-length" for name, _ in answer.headers):
                head += f"Content-Length: {len(answer.body)}\r\n"
            self.wfile.write(f"HTTP/1.1 {answer.status} Told\r\n{head}\r\n".encode() + answer.body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with _Server(("127.0.0.1", 0), Handler) as server:
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
        finally:
            over.set()
            server.shutdown()
            thread.join()
