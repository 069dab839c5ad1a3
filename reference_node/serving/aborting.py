"""Connections that an application may close without an answer, as the simulator's fault `drop` does."""

from __future__ import annotations

from asyncio import BaseTransport

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

ABORT = "simulator.abort"
"""The extension of an ASGI server that closes a connection without an answer."""


class AbortingProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, whose application may close the connection without an answer."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Tell the application how."""
        super().connection_made(transport)  # type: ignore[arg-type]
        serve = self.app
        abort = transport.abort  # type: ignore[attr-defined]

        async def serve_abortable(scope: Scope, receive: Receive, send: Send) -> None:
            scope.setdefault("extensions", {})[ABORT] = abort
            await serve(scope, receive, send)

        self.app = serve_abortable
