"""Serves two shams that no pack may find right: one accepts everything, one refuses everything."""

from __future__ import annotations

import json
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

ZERO_KEY = "A" * 43 + "="
ADDRESS = "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"
PLAUSIBLE = {
    "success": True,
    "group_id": 1,
    "api_key": ZERO_KEY,
    "usage_api_key": ZERO_KEY,
    "wallet_address": ADDRESS,
    "contract_address": ADDRESS,
    "chain_id": 31337,
    "openapi": "3.1.0",
    "paths": {},
}
"""Every member that an answer of the specification may have to have."""


async def accept_everything(request: Request) -> Response:
    """Answer success: lists are empty, every account exists, the chain answers 1 to everything."""
    path = request.url.path
    if path == "/rpc":
        return JSONResponse(_chain_says_one(await request.body()))
    if "/list_" in path or path.endswith("get_api_payers"):
        return JSONResponse([])
    if path.endswith("account_exists"):
        return JSONResponse(True)
    return JSONResponse(PLAUSIBLE)


async def refuse_everything(_request: Request) -> Response:
    """Answer 403, in a well-formed problem document."""
    document = {"type": "about:blank", "title": "Forbidden", "status": 403, "detail": "no", "code": "forbidden"}
    return JSONResponse(document, 403, media_type="application/problem+json")


def _chain_says_one(body: bytes) -> object:
    request = json.loads(body)
    calls = request if isinstance(request, list) else [request]
    answers = [{"jsonrpc": "2.0", "id": call.get("id"), "result": "0x" + 63 * "0" + "1"} for call in calls]
    return answers if isinstance(request, list) else answers[0]


def _application(answer: Callable[[Request], object]) -> ASGIApp:
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            response = await answer(Request(scope, receive))  # type: ignore[misc]  # every miniature is a coroutine
            await response(scope, receive, send)

    return serve


SHAMS: dict[str, ASGIApp] = {
    "accept-everything": _application(accept_everything),
    "refuse-everything": _application(refuse_everything),
}
