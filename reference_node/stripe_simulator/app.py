"""The simulator as an ASGI application, which can be served alone or mounted in another."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from reference_node.stripe_simulator.aborting import ABORT
from reference_node.stripe_simulator.control import control, encoded
from reference_node.stripe_simulator.exchange import Answer, ApiRequest
from reference_node.stripe_simulator.simulator import BODY_LIMIT, StripeSimulator

CONTROL = "/control/"

PREFLIGHT = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": "*, Authorization",
    "access-control-max-age": "300",
}


class SimulatorApp:
    """Serves `/v1`, for browsers as well, and `/control` where that is asked for."""

    def __init__(self, simulator: StripeSimulator, *, control: bool = False) -> None:
        self._simulator = simulator
        self._control = control

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        if request.method == "OPTIONS":
            await Response(status_code=204, headers=PREFLIGHT)(scope, receive, send)
            return
        try:
            body = await _body(request)
        except ClientDisconnect:
            return
        path = scope["raw_path"].decode("latin-1").removeprefix(scope.get("root_path", ""))
        if self._control and path.startswith(CONTROL):
            status, told = control(self._simulator, request.method, path.removeprefix(CONTROL), body)
            await Response(encoded(told), status, media_type="application/json")(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        answer = await self._answer(ApiRequest(request.method, path, scope["query_string"], headers, body))
        if answer is None:
            await _abort(scope, receive, send)
            return
        exposed = {"access-control-allow-origin": "*", "access-control-expose-headers": "Request-Id"}
        await Response(answer.body, answer.status, {**exposed, **answer.headers})(scope, receive, send)

    async def _answer(self, request: ApiRequest) -> Answer | None:
        exchange = self._simulator.begin(request)
        try:
            if exchange.plan.before:
                await asyncio.sleep(exchange.plan.before)
        finally:
            answer = self._simulator.complete(exchange)
        if exchange.plan.after:
            await asyncio.sleep(exchange.plan.after)
        return answer


async def _body(request: Request) -> bytes:
    """The body, or so much of it that the simulator refuses it."""
    chunks = bytearray()
    async for chunk in request.stream():
        chunks += chunk[: BODY_LIMIT + 1 - len(chunks)]
    return bytes(chunks)


async def _abort(scope: Scope, receive: Receive, send: Send) -> None:
    """Close the connection; a server that can't is given an answer that it can't complete."""
    abort = scope.get("extensions", {}).get(ABORT)
    if abort is None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
        return
    abort()
    while (await receive())["type"] != "http.disconnect":
        pass
