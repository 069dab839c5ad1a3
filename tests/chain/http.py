"""A real HTTP server in front of a JSON-RPC handler."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import http_server
from http_server import JSON, Answer


def serve(handle: Callable[[bytes], bytes | None], status: int = 200) -> AbstractContextManager[str]:
    """The address of a server that answers every request with `handle` of its body."""
    return http_server.serve(lambda request: Answer(status, handle(request.body) or b"", JSON))
