"""HTTP/1.1 as the node speaks it: limits of time and room, and a problem document for what is not even HTTP."""

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
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import RequestResponseCycle
from uvicorn.server import ServerState

from reference_node.connections import Connections, Stage
from reference_node.http_framing import StrictConnection
from reference_node.problems import MEDIA_TYPE
from reference_node.stripe_simulator.aborting import AbortingProtocol

ACCEPTED_AT_ONCE = 64
"""Connections that are accepted before the first of them is looked at: asyncio takes its backlog for this too."""

GRACE_SECONDS = 4
"""How long what is under way may go on once the node is told to stop; then it has a second to say that it was ended."""

HEAD_LIMIT = 64 * 1024
"""Bytes of a request's first line and headers."""

LINGER_SECONDS = 1.0
"""How long what a refused client still sends is swallowed: to close at once would lose the answer on its way."""


@dataclass(frozen=True)
class TimeLimits:
    """Seconds that a client may take."""

    head: float = 10
    """From the opening of a connection, or the first byte of a further request, to the end of the headers."""
    body: float = 30
    """From there to the end of the body; and to take the last answer of a connection."""
    idle: int = 75
    """Between two requests: longer than clients keep a connection, so that none sends into a closing one."""
    stopping: float = 2
    """To finish a request once the node is told to stop."""


class NodeConfig(uvicorn.Config):
    """How uvicorn serves a node, with what all connections of one server share; nothing is logged twice."""

    def __init__(self, app: FastAPI, limits: TimeLimits, connections: Connections) -> None:
        super().__init__(
            app,
            http=NodeProtocol,
            ws="none",
            lifespan="off",
            loop="asyncio",
            access_log=False,
            log_level="error",  # what is no HTTP is answered, not logged
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
    def stage(self) -> Stage:
        """What the connection is doing."""
        cycle = self._current()
        if cycle is None:
            return Stage.SILENT
        if cycle.response_complete or self._refused:
            return Stage.IDLE
        return Stage.SENDING if self._sending_body else Stage.SERVED

    def _current(self) -> RequestResponseCycle | None:
        """The last request whose head has come; uvicorn's own annotation forgets that there may be none."""
        return self.cycle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take the connection in, where there is room."""
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
        """Answer a client that has sent all it wanted to and listens on (RFC 9112, 9.6)."""
        if self.stage not in {Stage.SENDING, Stage.SERVED}:
            return None
        if self.stage is Stage.SENDING:
            self._refuse(HTTPStatus.BAD_REQUEST, "body-incomplete", "the connection ended before the whole body came")
        self._ended = True
        return self.scheme == "http"  # asyncio can't keep half of a TLS connection open

    def on_response_complete(self) -> None:
        """Go on to the client's next request, if one has come or may come."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._watch(0)
            if (self._ended and self.stage is not Stage.SERVED) or self._waits_to_be_asked():
                self.transport.close()
        if self.transport.is_closing():
            self._limit(self._limits.body, self.drop)  # for a client that does not take its answer

    def _waits_to_be_asked(self) -> bool:
        """Whether the client keeps its body back for a 100 that can't come any more (RFC 9110, 10.1.1)."""
        return self._sending_body and any(name == b"expect" for name, _ in self.headers)

    def shutdown(self) -> None:
        """Told to stop: what has been sent is answered, what is still being sent has to end soon."""
        super().shutdown()
        if self._sending_body:
            self._limit(self._limits.stopping, self._too_slow)

    def drop(self) -> None:
        """Close the connection without a word, whatever the client has yet to take."""
        self.transport.abort()

    def refuse_body(self) -> None:
        """Answer that this body is more than the node can hold."""
        self._refuse(
            HTTPStatus.SERVICE_UNAVAILABLE, "too-many-bodies", "too much is being sent at once: send the body faster"
        )

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that has been idle for too long."""
        self.drop()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that can't be read as a request, and close the connection."""
        self._refuse(
            HTTPStatus.BAD_REQUEST,
            "not-http",
            f"{msg} Send HTTP/1.1 with headers of less than {HEAD_LIMIT // 1024} KiB.",
        )

    def _watch(self, received: int) -> None:
        """Begin or end the limit that fits what the client is doing after so many further bytes."""
        state = self.conn.their_state
        if state is h11.SEND_BODY and not self._refused:
            if not self._sending_body:
                self._sending_body = True
                self._limit(self._limits.body, self._too_slow)
            if not self.cycle.response_complete:  # else what comes is thrown away
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
        if self.flow.read_paused:  # it is the node that is slow
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
        """Answer what is no whole request, and close the connection. What waits for the rest finds it closed."""
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
        body = {
            "type": "about:blank",
            "title": status.phrase,
            "status": status,
            "detail": detail,
            "code": code,
            "instance": request_id,
        }
        headers = [("content-type", MEDIA_TYPE), ("x-request-id", request_id), ("connection", "close")]
        parts = (
            h11.Response(status_code=status, headers=headers, reason=status.phrase),
            h11.Data(data=json.dumps(body).encode()),
            h11.EndOfMessage(),
        )
        return b"".join(self.conn.send(part) or b"" for part in parts)
