"""A real HTTP server in front of a JSON-RPC handler, or of anything else that answers POST."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Handler = Callable[[bytes], bytes | None]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a connection that finds the queue full waits a second before it tries again


@contextmanager
def serve(handle: Handler, status: int = 200) -> Iterator[str]:
    """The address of a server that answers every POST with `handle` of its body."""
    stopped = threading.Event()

    class Request(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            if stopped.is_set():  # a connection that was kept alive: cut it
                self.close_connection = True
                return
            answer = handle(self.rfile.read(int(self.headers["Content-Length"]))) or b""
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_arguments: object) -> None:
            """Quiet."""

    server = _Server(("127.0.0.1", 0), Request)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
