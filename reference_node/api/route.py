"""The route class of all endpoints: strict parsing of requests, and JSON answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from reference_node.api.access import admitted, authenticate, caller_of
from reference_node.api.wallet_auth import billing_wallet, wallet_of
from reference_node.node import Node
from reference_node.problems import Unprocessable, quoted
from reference_node.strict_json import Json, parse, read_body, repeated, require_json, skip_body

DOORS: dict[object, Callable[[Request, Node], object]] = {authenticate: caller_of, billing_wallet: wallet_of}
"""The authentication function for each FastAPI dependency. It runs before the request's body is read."""

QUERY_LIMIT = 4096
"""Bytes of a query, many times what any operation takes: ten thousand parameters take long to read, too."""

MEMBERS_LIMIT = 100
"""More members than any body takes. FastAPI tells the fault of each unknown one, which takes as long as parsing it."""


class ParsedRequest(Request):
    """A request whose body has been read and parsed strictly."""

    def __init__(self, request: Request, body: bytes, value: Json) -> None:
        super().__init__(request.scope, request.receive)
        self._bytes = body
        self._value = value

    async def body(self) -> bytes:
        """The body's bytes."""
        return self._bytes

    async def json(self) -> Json:
        """The body's parsed value."""
        return self._value


class StrictRoute(APIRoute):
    """An endpoint that refuses ambiguous bodies and queries, such as repeated names."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, called after the request was parsed strictly."""
        handle = super().get_route_handler()
        takes_body = self.body_field is not None
        doors = [door for dependency, door in DOORS.items() if _depends(self.dependant, dependency)]

        async def strict(request: Request) -> Response:
            _refuse_ambiguous_query(request)
            if takes_body:
                for door in doors:
                    await admitted(request, request.app.state.node, door)
                body = await read_body(request)
                require_json(request.headers.get("content-type"))
                request = ParsedRequest(request, body, await self._parsed(request, body))
            else:
                await skip_body(request)
            return await handle(request)

        return strict

    async def _parsed(self, request: Request, body: bytes) -> Json:
        value: Json = await request.app.state.long_bodies.read(body, lambda: self.read(body))
        if isinstance(value, dict) and len(value) > MEMBERS_LIMIT:
            raise Unprocessable("request-invalid", f"the body has {len(value)} members: no body takes so many")
        return value

    def read(self, body: bytes) -> Json:
        """Parse a body."""
        return parse(body)


def _depends(dependant: Dependant, dependency: object) -> bool:
    """Whether an endpoint has this dependency, directly or indirectly."""
    return any(inner.call is dependency or _depends(inner, dependency) for inner in dependant.dependencies)


def answer(value: Json) -> Response:
    """A JSON answer. It skips FastAPI's validation, since the values come straight from the contract."""
    return Response(json.dumps(value, ensure_ascii=False, separators=(",", ":")), media_type="application/json")


def success() -> Response:
    """The answer of a write without a result."""
    return answer({"success": True})


def _refuse_ambiguous_query(request: Request) -> None:
    if len(request.scope["query_string"]) > QUERY_LIMIT:
        raise Unprocessable("query-too-long", f"the query is over {QUERY_LIMIT} bytes: send less")
    repeated_name = repeated(name for name, _ in request.query_params.multi_items())
    if repeated_name is not None:
        raise Unprocessable(
            "repeated-parameter", f"the query has {quoted(repeated_name)!r} more than once: send it once"
        )
