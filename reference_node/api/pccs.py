"""A provisioning certificate caching service for the simulated platform, at `{base_url}/pccs`.

It implements the part of Intel's "API documentation of the Provisioning Certification Service", version 4, that quote
verifiers need.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from reference_node.api.access import NodeOf
from reference_node.api.route import StrictRoute
from reference_node.problems import NotFound, Unprocessable, quoted

router = APIRouter(prefix="/pccs", route_class=StrictRoute, include_in_schema=False)


@router.get("/{path:path}")
async def collateral(path: str, request: Request, node: NodeOf) -> Response:
    """Serve the platform's current collateral."""
    collateral_item = node.attestation.pccs().get(f"/{path}")
    if collateral_item is None:
        raise NotFound("unknown-collateral", f"no collateral is served at {quoted(path)}: see docs/attestation.md")
    _require_known(request, node.attestation.collateral_parameters)
    return Response(collateral_item.body, headers=collateral_item.headers, media_type=collateral_item.content_type)


def _require_known(request: Request, known: dict[str, str]) -> None:
    """Refuse query parameters that name another platform or another encoding."""
    for name, value in request.query_params.items():
        expected = known.get(name)
        if expected is not None and value.lower() != expected:
            kind = NotFound if name == "fmspc" else Unprocessable
            raise kind("unknown-collateral", f"{name}={quoted(value)}: only {name}={expected} is served here")
