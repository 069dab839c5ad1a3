"""HTTP/1.1 with limits of time and memory, and with a problem document for bytes that are not HTTP."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import RequestResponseCycle
from uvicorn.server import ServerState

from reference_node.problems import MEDIA_TYPE, members
from reference_node.serving.aborting import AbortingProtocol
from reference_node.serving.connections import Connections, Phase
from reference_node.serving.http_framing import StrictConnection

ACCEPTED_AT_ONCE = 64
"""How many connections asyncio accepts in one step: it uses the backlog for this, too."""

GRACE_SECONDS = 4
"""Seconds for requests under way once the node is stopping; after that they have one second to be answered as ended."""

HEAD_LIMIT = 64 * 1024
"""Bytes of a request's first line and headers."""

LINGER_SECONDS = 1.0
"""Seconds in which further bytes of a refused client are discarded: closing at once would lose the answer."""


@dataclass(frozen=True)
class TimeLimits:
    """Seconds that a client may take."""

    head: float = 10
    """From the opening of a connection, or the first byte of a further request, to the end of the headers."""
    body: float = 30
    """From there to the end of the body; also to read the last answer of a connection."""
    idle: int = 75
    """Between two requests: longer than clients keep connections, so that none sends on a closing one."""
    stopping: float = 2
    """To finish a request once the node is told to stop."""


class NodeConfig(uvicorn.Config):
    """The configuration of uvicorn for a node, with the state that all connections share."""

    def __init__(self, app: ASGIApp, limits: TimeLimits, connections: Connections) -> None:
        super().__init__(
            app,
            http=NodeProtocol,
            ws="none",
            lifespan="off",
            loop="asyncio",
            access_log=False,
            proxy_headers=False,  # `reference_node.serving.proxies` reads them
            log_level="error",  # invalid HTTP is answered, not logged
            server_header=False,
            backlog=ACCEPTED_AT_ONCE,
            timeout_keep_alive=limits.idle,
            timeout_graceful_shutdown=GRACE_SECONDS + 1,
        )
        self.limits = limits
        self.connections = connections


class NodeProtocol(AbortingProtocol):
    """HTTP/1.1 with limits for silent, slow or ambiguous clients. The embedded simulator may close connections."""

    def __init__(
        self,
        config: NodeConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = StrictConnection(h11.SERVER, HEAD_LIMIT)
        self._limits = config.limits
        self._shared = config.connections
        self._refused = False
        self._ended = False
        self._sending_body = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def phase(self) -> Phase:
        """The connection's phase."""
        cycle = self._current()
        if cycle is None:
            return Phase.SILENT
        if cycle.response_complete or self._refused:
            return Phase.IDLE
        return Phase.SENDING if self._sending_body else Phase.SERVED

    def _current(self) -> RequestResponseCycle | None:
        """The last request whose head has come; uvicorn's own annotation forgets that there may be none."""
        return self.cycle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Admit the connection, if there is room."""
        super().connection_made(transport)
        if self._shared.admit(self):
            self._limit(self._limits.head, self._too_slow)
        else:
            self._refused = True
            detail = "the node serves as many connections as it can: try again in a second"
            transport.write(self._problem(HTTPStatus.SERVICE_UNAVAILABLE, "too-many-connections", detail))
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for others."""
        self._shared.leave(self)
        self._unlimit()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Read a request, unless this connection has already failed to send one."""
        if not self._refused:
            super().data_received(data)
        if not self._refused:
            self._watch(len(data))

    def eof_received(self) -> bool | None:  # type: ignore[override]  # uvicorn never has anything to answer
        """Keep answering a client that has closed its sending side (RFC 9112, 9.6)."""
        if self.phase not in {Phase.SENDING, Phase.SERVED}:
            return None
        if self.phase is Phase.SENDING:
            self._refuse(HTTPStatus.BAD_REQUEST, "body-incomplete", "the connection ended before the whole body came")
        self._ended = True
        return self.scheme == "http"  # asyncio cannot keep a half-closed TLS connection

    def on_response_complete(self) -> None:
        """Continue with the client's next request, if there may be one."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._watch(0)
            if (self._ended and self.phase is not Phase.SERVED) or self._waits_to_be_asked():
                self.transport.close()
        if self.transport.is_closing():
            self._limit(self._limits.body, self.drop)  # for a client that does not read its answer

    def _waits_to_be_asked(self) -> bool:
        """Whether the client waits with its body for a 100 that can no longer come (RFC 9110, 10.1.1)."""
        return self._sending_body and any(name == b"expect" for name, _ in self.headers)

    def shutdown(self) -> None:
        """Stop: answer complete requests, and give incomplete ones a short time."""
        super().shutdown()
        if self._sending_body:
            self._limit(self._limits.stopping, self._too_slow)

    def drop(self) -> None:
        """Close the connection at once, without an answer."""
        self.transport.abort()

    def refuse_body(self) -> None:
        """Refuse this body as too large for the node's memory."""
        self._refuse(
            HTTPStatus.SERVICE_UNAVAILABLE, "too-many-bodies", "too much is being sent at once: send the body faster"
        )

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that has been idle for too long."""
        self.drop()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no HTTP request, and close the connection."""
        self._refuse(
            HTTPStatus.BAD_REQUEST,
            "not-http",
            f"{msg} Send HTTP/1.1 with headers of less than {HEAD_LIMIT // 1024} KiB.",
        )

    def _watch(self, received: int) -> None:
        """Start or stop the time limit for the connection's phase, after so many further bytes."""
        state = self.conn.their_state
        if state is h11.SEND_BODY and not self._refused:
            if not self._sending_body:
                self._sending_body = True
                self._limit(self._limits.body, self._too_slow)
            if not self.cycle.response_complete:  # otherwise bytes are discarded
                self._shared.hold_body(self, received)
            return
        if self._sending_body:
            self._sending_body = False
            self._shared.finish_body(self)
            self._unlimit()
        if state is not h11.IDLE:
            self._unlimit()
        elif self._timer is None and self._head_begun():
            self._limit(self._limits.head, self._too_slow)

    def _head_begun(self) -> bool:
        return self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])

    def _too_slow(self) -> None:
        if self.flow.read_paused:  # the node is slow, not the client
            self._limit(self._limits.body, self._too_slow)
        elif not self._sending_body and not self._head_begun():
            self.drop()
        else:
            detail = f"a request has to come within {self._limits.head:g} s, its body within {self._limits.body:g} s"
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "request-too-slow", detail)

    def _limit(self, seconds: float, end: Callable[[], None]) -> None:
        self._unlimit()
        self._timer = self.loop.call_later(seconds, end)

    def _unlimit(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: HTTPStatus, code: str, detail: str) -> None:
        """Answer an incomplete request, and close the connection."""
        self._unlimit()
        self._unset_keepalive_if_required()
        self._refused = True
        if cycle := self._current():
            cycle.disconnected = True
            cycle.message_event.set()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.write(self._problem(status, code, detail))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._limit(LINGER_SECONDS, self.transport.abort)

    def _problem(self, status: HTTPStatus, code: str, detail: str) -> bytes:
        request_id = str(uuid.uuid4())
        body = members(status, code, detail, request_id)
        headers = [("content-type", MEDIA_TYPE), ("x-request-id", request_id), ("connection", "close")]
        parts = (
            h11.Response(status_code=status, headers=headers, reason=status.phrase),
            h11.Data(data=json.dumps(body).encode()),
            h11.EndOfMessage(),
        )
        return b"".join(self.conn.send(part) or b"" for part in parts)
