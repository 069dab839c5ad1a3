"""A reverse proxy on loopback that serves another server below a prefix of paths, as nginx, Caddy and Traefik do."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "te", "upgrade"})
"""The headers that concern one connection alone (RFC 9110, section 7.6.1)."""


@dataclass(frozen=True)
class Behaviour:
    """What a proxy does."""

    upstream: str
    """The address of the server behind it."""
    prefix: str
    """Where it serves that server. Everything else is 404."""
    strips: bool
    """Whether it takes the prefix off the path before it passes the request on."""
    passes_host: bool = False
    """Whether the server gets the client's `Host`, as with Caddy and Traefik, or its own, as with nginx."""
    sends: Mapping[str, str] = field(default_factory=dict)
    """Headers that every request gets, in place of what the client sent."""


class PassingOn(BaseHTTPRequestHandler):
    """Passes one connection's requests on."""

    protocol_version = "HTTP/1.1"

    def __init__(self, behaviour: Behaviour, *connection: Any) -> None:
        self._behaviour = behaviour
        super().__init__(*connection)

    def __getattr__(self, name: str) -> Any:
        """The method of the base class's protocol for whichever HTTP method comes."""
        if name.startswith("do_"):
            return self._pass_on
        raise AttributeError(name)

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path, question, query = self.path.partition("?")
        prefix = self._behaviour.prefix
        if path != prefix and not path.startswith(f"{prefix}/"):
            self.send_error(404, "nothing is served outside of the prefix")
            return
        if self._behaviour.strips:
            path = path.removeprefix(prefix) or "/"
        host = urlsplit(self._behaviour.upstream).netloc
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        headers |= ({} if self._behaviour.passes_host else {"Host": host}) | dict(self._behaviour.sends)
        with closing(HTTPConnection(host, timeout=60)) as connection:
            connection.request(self.command, path + question + query, body or None, headers)
            answer = connection.getresponse()
            self._answer(answer.status, answer.getheaders(), answer.read())

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@contextmanager
def behind_proxy(behaviour: Behaviour) -> Iterator[str]:
    """The address, prefix included, at which the proxy answers while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(PassingOn, behaviour))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{behaviour.prefix}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
