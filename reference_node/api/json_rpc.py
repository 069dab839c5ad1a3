"""The in-memory chain's JSON-RPC interface at `{base_url}/rpc`; a node on an external chain has none."""

from __future__ import annotations

from dataclasses import dataclass, field

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response

from reference_node.access import NodeOf
from reference_node.chain.evm_calls import OutOfTurn
from reference_node.chain.rpc import Answering
from reference_node.problems import Busy, NotFound, UnsupportedMediaType
from reference_node.strict_json import read_body

router = APIRouter()

THREADS = 2
"""How many bodies are processed at once, in separate threads so that heavy JSON-RPC use does not block the API."""

FIRST_TURN_SECONDS = 0.02
"""CPU time of a body's first turn. Bodies that need more join a second queue, so that short ones do not wait."""

LONG_THREADS = 1
"""How many bodies continue at once after their first turn."""

WAITING = 256
"""How many further bodies may wait in a queue."""


@dataclass(frozen=True)
class RpcThreads:
    """The thread limits that the application stores at `state.rpc_threads`."""

    first: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(THREADS))
    long: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(LONG_THREADS))


@router.post("/rpc", include_in_schema=False)
async def json_rpc(request: Request, node: NodeOf) -> Response:
    """Answer a JSON-RPC request or batch; a batch that holds only notifications has no answer."""
    if node.rpc is None:
        raise NotFound("no-json-rpc", "this node's chain is external: ask the chain's own JSON-RPC interface")
    _require_json(request)
    threads: RpcThreads = request.app.state.rpc_threads
    _require_room(threads.first)
    answering = Answering(node.rpc, await read_body(request))
    try:
        response_body = await to_thread.run_sync(answering.go_on, FIRST_TURN_SECONDS, limiter=threads.first)
    except OutOfTurn:
        _require_room(threads.long)
        response_body = await to_thread.run_sync(answering.go_on, limiter=threads.long)
    if response_body is None:
        return Response(status_code=204)
    return Response(response_body, media_type="application/json")


def _require_room(threads: CapacityLimiter) -> None:
    if threads.statistics().tasks_waiting >= WAITING:
        raise Busy("rpc-busy", f"{WAITING} requests to the JSON-RPC wait already: send fewer at once")


def _require_json(request: Request) -> None:
    """Refuse forms and plain text, which any web page may send without a CORS preflight."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnsupportedMediaType("not-json", "POST JSON-RPC with the header Content-Type: application/json")
