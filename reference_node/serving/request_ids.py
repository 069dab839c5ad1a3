"""Request ids, and the answer to an unhandled exception, which reveals nothing but the request's id."""

from __future__ import annotations

import uuid
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reference_node.log_limit import limited_logger
from reference_node.problems import document

LOG = limited_logger("reference_node")


class RequestIds:
    """Gives every request an id, which its answer carries. Also forbids caching of JSON answers and MIME sniffing."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["request_id"] = str(uuid.uuid4())

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = scope["request_id"]
                headers["X-Content-Type-Options"] = "nosniff"
                if "json" in headers.get("content-type", ""):  # they may hold keys; the viewer's files may be cached
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, send_with_id)


class InternalErrors:
    """Answers unhandled exceptions with a problem document, and logs them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            if scope["type"] != "http":
                raise
            LOG.exception("request %s failed", scope["request_id"])
            if started:
                raise
            detail = f"the node failed; its log has more under {scope['request_id']}"
            failure = document(Request(scope), HTTPStatus.INTERNAL_SERVER_ERROR, "internal-error", detail)
            await failure(scope, receive, send)
