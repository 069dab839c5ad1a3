"""The bundled node behind a proxy that may change its answers, or hold them back."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from conformance.endpoints.bundled import BundledNode
from conformance.profile import Profile, load_ready_file

OF_A_CONNECTION = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})
"""Headers of one connection, which the other side sets itself."""
LONGEST_ANSWER_SECONDS = 120.0


@dataclass
class Exchange:
    """A request, and the node's answer, which may be changed."""

    path: str
    """Without its query."""
    asked: dict[str, str]
    """Headers of the request by name in lower case."""
    sent: bytes
    status: int
    headers: list[tuple[str, str]]
    body: bytes


Change = TypeVar("Change", bound=Callable[[Exchange], None])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that went away."""


@contextmanager
def proxied_node(make_change: Callable[[Profile], Change]) -> Iterator[tuple[Change, Path]]:
    """Start the bundled node and the proxy; what is done with each exchange, and a profile of the proxy alone.

    `make_change` gets the node's own profile.
    """
    with BundledNode() as node, tempfile.TemporaryDirectory(prefix="proxied-node-") as folder:
        node.wait_until_ready()
        profile = load_ready_file(node.ready_file)
        theirs, change = str(profile.base_url), make_change(profile)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def _pass_on(self) -> None:
                sent = self.rfile.read(int(self.headers.get("content-length") or 0))
                asked = {name.lower(): value for name, value in self.headers.items()}
                exchange = _answered(theirs, self.command, self.path, asked, sent)
                change(exchange)
                head = "".join(f"{name}: {value}\r\n" for name, value in exchange.headers)
                first = f"HTTP/1.1 {exchange.status} Told\r\nContent-Length: {len(exchange.body)}\r\n{head}\r\n"
                with suppress(OSError):  # whoever asked does not read it to its end
                    self.wfile.write(first.encode("latin-1") + exchange.body)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = _pass_on  # noqa: N815 - http.server

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        with _Server(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            named = json.dumps(profile.model_dump(mode="json", exclude_unset=True))
            file = Path(folder) / "profile.yaml"
            file.write_text(named.replace(theirs, f"http://127.0.0.1:{server.server_port}"), encoding="utf-8")
            yield change, file
            server.shutdown()


def _answered(node: str, method: str, target: str, asked: dict[str, str], sent: bytes) -> Exchange:
    headers = {name: value for name, value in asked.items() if name not in OF_A_CONNECTION}
    with closing(HTTPConnection(urlsplit(node).netloc, timeout=LONGEST_ANSWER_SECONDS)) as connection:
        connection.request(method, target, sent or None, headers)
        with connection.getresponse() as response:
            body = response.read()
            kept = [pair for pair in response.getheaders() if pair[0].lower() not in OF_A_CONNECTION]
    return Exchange(target.partition("?")[0], asked, sent, response.status, kept, body)
