"""Protects the test control of the node, and of its embedded payment provider, with `--control-token-file`."""

from __future__ import annotations

import hmac
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from reference_node.problems import document
from reference_node.public_address import own_path

PROTECTED = (["control"], ["stripe", "control"])
"""The first segments of protected paths."""


class ControlToken:
    """Refuses requests to the test control with 401 unless they carry `Authorization: Bearer TOKEN`."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not _is_protected(own_path(scope)) or self._is_authorised(scope):
            await self._app(scope, receive, send)
            return
        detail = "the test control of this node needs its token: send Authorization: Bearer TOKEN"
        refusal = document(Request(scope), HTTPStatus.UNAUTHORIZED, "control-token-missing", detail)
        await refusal(scope, receive, send)

    def _is_authorised(self, scope: Scope) -> bool:
        given = Headers(scope=scope).get("authorization", "")
        return hmac.compare_digest(given.encode("latin-1"), self._expected)


def _is_protected(path: str) -> bool:
    segments = [segment for segment in path.split("/") if segment]
    return any(segments[: len(first)] == first for first in PROTECTED)
