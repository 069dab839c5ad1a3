"""The in-memory chain's JSON-RPC interface at `{base_url}/rpc`; a node on an external chain has none."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response

from reference_node.api.access import NodeOf
from reference_node.chain.evm_calls import BringsOwnCode, OutOfTurn
from reference_node.chain.rpc import Answering
from reference_node.problems import Busy, NotFound, UnsupportedMediaType
from reference_node.strict_json import is_json, read_body

router = APIRouter()

THREADS = 2
"""How many bodies are processed at once, in separate threads so that heavy JSON-RPC use does not block the API."""

SHORT_TURN_SECONDS = 0.02
"""CPU time of a body's first turn. Bodies that need more join another queue, so that short ones do not wait."""

FURTHER_THREADS = 1
"""How many bodies go on at once in each of the further queues."""

WAITING = 256
"""How many further bodies may wait in a queue."""


@dataclass(frozen=True)
class RpcThreads:
    """The thread limits that the application stores at `state.rpc_threads`."""

    first: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(THREADS))
    own_code: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(FURTHER_THREADS))
    """A short turn of bodies with calls that bring their own code, which nobody knows the cost of."""
    long: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(FURTHER_THREADS))


@router.post("/rpc", include_in_schema=False)
async def json_rpc(request: Request, node: NodeOf) -> Response:
    """Answer a JSON-RPC request or batch; a batch that holds only notifications has no answer."""
    if node.rpc is None:
        raise NotFound("no-json-rpc", "this node's chain is external: ask the chain's own JSON-RPC interface")
    _require_json(request)
    threads: RpcThreads = request.app.state.rpc_threads
    answering = Answering(node.rpc, await read_body(request))
    response_body = await _answer(answering, threads)
    if response_body is None:
        return Response(status_code=204)
    return Response(response_body, media_type="application/json")


async def _answer(answering: Answering, threads: RpcThreads) -> bytes | None:
    """The answer after a short turn, a second one where a call brings its own code, and one as long as it has to be."""
    try:
        return await _turn(answering, threads.first, own_code=False)
    except BringsOwnCode:
        with suppress(OutOfTurn):
            return await _turn(answering, threads.own_code, own_code=True)
    except OutOfTurn:
        pass
    _require_room(threads.long)
    return await to_thread.run_sync(answering.go_on, limiter=threads.long)


async def _turn(answering: Answering, threads: CapacityLimiter, *, own_code: bool) -> bytes | None:
    _require_room(threads)
    return await to_thread.run_sync(partial(answering.go_on, SHORT_TURN_SECONDS, own_code=own_code), limiter=threads)


def _require_room(threads: CapacityLimiter) -> None:
    if threads.statistics().tasks_waiting >= WAITING:
        raise Busy("rpc-busy", f"{WAITING} requests to the JSON-RPC wait already: send fewer at once")


def _require_json(request: Request) -> None:
    """Refuse forms and plain text, which any web page may send without a CORS preflight."""
    if not is_json(request.headers.get("content-type")):
        raise UnsupportedMediaType("not-json", "POST JSON-RPC with the header Content-Type: application/json")
