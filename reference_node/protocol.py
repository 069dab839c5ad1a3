"""What is not even HTTP is refused in the same shape as everything else."""

from __future__ import annotations

import json
import uuid
from http import HTTPStatus

import h11

from reference_node.problems import MEDIA_TYPE
from reference_node.stripe_simulator.aborting import AbortingProtocol

LINGER_SECONDS = 1.0
"""How long what a refused client still sends is swallowed: to close at once would lose the answer on its way."""


class ProblemProtocol(AbortingProtocol):
    """uvicorn's HTTP/1.1, whose own refusal is a problem document too. The embedded simulator may close connections."""

    _refused = False

    def data_received(self, data: bytes) -> None:
        """Read a request, unless this connection has already failed to send one."""
        if not self._refused:
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that h11 can't read as a request, and close the connection."""
        self._refused = True
        request_id = str(uuid.uuid4())
        status = HTTPStatus.BAD_REQUEST
        body = {
            "type": "about:blank",
            "title": status.phrase,
            "status": status,
            "detail": f"{msg} Send HTTP/1.1 with headers of less than 64 KiB.",
            "code": "not-http",
            "instance": request_id,
        }
        headers = [("content-type", MEDIA_TYPE), ("x-request-id", request_id), ("connection", "close")]
        self.transport.write(
            self.conn.send(h11.Response(status_code=status, headers=headers, reason=status.phrase))
            + self.conn.send(h11.Data(data=json.dumps(body).encode()))
            + self.conn.send(h11.EndOfMessage())
        )
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)
