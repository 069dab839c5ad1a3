"""The simulator and its control as an ASGI application, which can be served alone or mounted in another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict

from pydantic import ValidationError
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from reference_node.serving.aborting import ABORT
from reference_node.serving.long_bodies import LongBodies
from reference_node.strict_json import Json
from reference_node.stripe_simulator.actions import ACTIONS, conditions_view
from reference_node.stripe_simulator.errors import Object, StripeError
from reference_node.stripe_simulator.exchange import BODY_LIMIT, Answer, ApiRequest
from reference_node.stripe_simulator.simulator import StripeSimulator

CONTROL = "/control/"


class SimulatorApp:
    """Serves `/v1`, for browsers as well, and `/control` where that is asked for."""

    def __init__(
        self, simulator: StripeSimulator, *, control: bool = False, long_bodies: LongBodies | None = None
    ) -> None:
        """`long_bodies` reads them, where a node reads others beside them."""
        self._simulator = simulator
        self._long_bodies = long_bodies or LongBodies()
        self._control = control
        self._api = CORSMiddleware(
            self._serve_api,
            allow_origins=["*"],
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            allow_private_network=True,
            expose_headers=["Request-Id"],
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        path = _path(scope)
        with suppress(ClientDisconnect):
            if self._control and path.startswith(CONTROL):
                request = Request(scope, receive)
                body = await _body(request)
                status, told = control(self._simulator, request.method, path.removeprefix(CONTROL), body)
                await JSONResponse(told, status)(scope, receive, send)
            else:
                await self._api(scope, receive, send)

    async def _serve_api(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        body = await _body(request)
        asked = ApiRequest(request.method, _path(scope), scope["query_string"], headers, body)
        await self._long_bodies.read(body, lambda: asked.parameters)
        answer = await self._answer(asked)
        if answer is None:
            await _abort(scope, receive, send)
        else:
            await Response(answer.body, answer.status, answer.headers)(scope, receive, send)

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


def _path(scope: Scope) -> str:
    """The path below the place where the simulator is mounted, not decoded."""
    raw_path: bytes = scope["raw_path"]
    return raw_path.decode("latin-1").removeprefix(scope.get("root_path", ""))


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


def log_view(simulator: StripeSimulator) -> Object:
    """The latest requests, oldest first."""
    entries: list[Json] = [asdict(entry) for entry in simulator.log]
    return {"requests": entries}


VIEWS: dict[str, Callable[[StripeSimulator], Object]] = {"conditions": conditions_view, "log": log_view}


def control(simulator: StripeSimulator, method: str, path: str, body: bytes) -> tuple[int, Object]:
    """Status and answer of a request to the control interface; `path` begins after `/control/`."""
    if method == "GET":
        if path not in VIEWS:
            return _unknown(path, VIEWS)
        with simulator.lock:
            return 200, VIEWS[path](simulator)
    if method != "POST" or path not in ACTIONS:
        return _unknown(path, ACTIONS)
    try:
        return 200, ACTIONS[path].model_validate_json(body or b"{}").carry_out(simulator)
    except ValidationError as invalid:
        fault = invalid.errors()[0]
        where = ".".join(str(part) for part in fault["loc"])
        return 400, {"error": {"message": f"{where}: {fault['msg']}" if where else fault["msg"]}}
    except StripeError as refused:
        return refused.status, {"error": refused.view()}


def _unknown(path: str, known: Iterable[str]) -> tuple[int, Object]:
    return 404, {"error": {"message": f"There is no /control/{path} for this method; there are {', '.join(known)}"}}
