"""The in-memory chain's JSON-RPC interface at `{base_url}/rpc`; a node on an external chain has none."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from reference_node.access import NodeOf
from reference_node.problems import NotFound
from reference_node.strict_json import read_body

router = APIRouter()


@router.post("/rpc", include_in_schema=False)
async def json_rpc(request: Request, node: NodeOf) -> Response:
    """Answer a JSON-RPC request or batch; a batch of notifications alone has no answer."""
    if node.rpc is None:
        raise NotFound("no-json-rpc", "this node's chain is external: ask the chain's own JSON-RPC interface")
    answered = await run_in_threadpool(node.rpc.handle, await read_body(request))
    if answered is None:
        return Response(status_code=204)
    return Response(answered, media_type="application/json")
