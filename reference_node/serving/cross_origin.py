"""Cross-origin resource sharing: which web pages may call the node (Fetch Standard, "CORS protocol").

None may unless `--allow-origin` names their origin. The test control is for no page. `/stripe` answers all pages, as
Stripe does, and does so itself.
"""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from reference_node.problems import document, quoted
from reference_node.public_address import own_path

METHODS = ("GET", "HEAD", "POST")

REQUEST_HEADERS = ("Authorization", "Content-Type", "If-None-Match", "X-Api-Key", "X-Wallet-Auth")
"""The headers that a page may send, besides those that need no permission."""

ANSWER_HEADERS = ("ETag", "Retry-After", "WWW-Authenticate", "X-Request-Id")
"""The headers that a page may read, besides those that need no permission."""

ELSEWHERE = ("control", "stripe")
"""The first segments of paths that are not shared here."""


class CrossOrigin(CORSMiddleware):
    """Starlette's middleware, which refuses a preflight with a problem document that says what is missing."""

    def __init__(self, app: ASGIApp, origins: Collection[str]) -> None:
        super().__init__(
            app,
            allow_origins=origins,
            allow_methods=METHODS,
            allow_headers=REQUEST_HEADERS,
            allow_private_network=True,
            expose_headers=ANSWER_HEADERS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or own_path(scope).lstrip("/").partition("/")[0] in ELSEWHERE:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["method"] == "OPTIONS" and {"origin", "access-control-request-method"} <= set(headers):
            answer = self.preflight_response(headers)
            if answer.status_code != HTTPStatus.OK:
                answer = document(Request(scope), HTTPStatus.FORBIDDEN, "preflight-refused", self._reason(headers))
            await answer(scope, receive, send)
        elif self.allow_origins:
            await self.simple_response(scope, receive, send, headers)
        else:
            await self.app(scope, receive, send)

    def _reason(self, preflight: Headers) -> str:
        origin = quoted(preflight["origin"])
        if not self.is_allowed_origin(preflight["origin"]):
            return f"pages of {origin} may not call this node: start it with --allow-origin {origin}"
        asked = preflight.get("access-control-request-headers", "none")
        return (
            f"the page asks for {quoted(preflight['access-control-request-method'])} with the headers "
            f"{quoted(asked, 300)}: pages may use {', '.join(METHODS)}, and send {', '.join(REQUEST_HEADERS)}"
        )
