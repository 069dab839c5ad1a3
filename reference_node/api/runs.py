"""Specification: "Wallets and actions" (run action)."""

from __future__ import annotations

import json

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request, Response

from reference_node.api.access import CallerOf, NodeOf
from reference_node.api.answers import RunOutcome
from reference_node.api.openapi import BODY, problems
from reference_node.api.requests import RunRequest
from reference_node.api.route import StrictRoute
from reference_node.sandbox import RunResult
from reference_node.strict_json import Json, member_text, parse


class RunRoute(StrictRoute):
    """The route of the one endpoint whose body may hold arbitrary numbers."""

    def read(self, body: bytes) -> Json:
        """Parse a body whose numbers have to fit JavaScript's doubles."""
        return parse(body, doubles=True)


def branded_router(slug: str) -> APIRouter:
    """The endpoint whose path holds the brand word."""
    branded = APIRouter(route_class=RunRoute, tags=["Wallets and actions"])

    @branded.post(
        f"/{slug}_action",
        name="run_action",
        response_model=RunOutcome,
        responses=problems(*BODY, 401, 402, 403, 422, 503),
    )
    async def run_action(body: RunRequest, request: Request, caller: CallerOf, node: NodeOf) -> Response:
        """Run JavaScript in the sandbox. Each started second is charged; a refused run is free."""
        params = member_text(await request.body(), "jsParams") or "{}"
        return _answer(await run_sync(node.runs.run, caller, body.code, params, limiter=node.runs.threads))

    return branded


def _answer(result: RunResult) -> Response:
    """The answer with the script's own JSON text, since parsing and serialising it again could change it."""
    response = "null" if result.response is None else result.response
    flag = "true" if result.has_error else "false"
    text = f'{{"response":{response},"logs":{json.dumps(result.logs, ensure_ascii=False)},"has_error":{flag}}}'
    return Response(text, media_type="application/json")
