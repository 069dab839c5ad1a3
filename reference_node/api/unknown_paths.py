"""The answers to requests for paths and methods that the node does not serve. They name what the caller may mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from reference_node.problems import document, quoted
from reference_node.public_address import own_path, prefix_of

COMPARED = 100
"""The most characters of a path that are compared with those served, because hostile paths are long."""

MISSPELT = 0.9
"""From this likeness on, a path is taken for a misspelling of one other; below it, up to three are named."""


def refuse_unknown_paths(app: FastAPI, sections: Mapping[str, Sequence[APIRouter]], api: str) -> None:
    """Answer 404 and 405 with problem documents. `sections` has the routers by path prefix; `api` is the API's."""
    operations = {f"/{page}": ("GET", f"{api}/{page}") for page in ("openapi.json", "swagger-ui")}
    for prefix, routers in sections.items():
        for route in (route for router in routers for route in router.routes if isinstance(route, APIRoute)):
            path = prefix + route.path
            operations[path.removeprefix(api).lower()] = (" or ".join(sorted(route.methods or ())), path)

    async def refuse(request: Request, refused: Exception) -> Response:
        assert isinstance(refused, HTTPException)  # noqa: S101 - registered for HTTPException alone
        status, headers = HTTPStatus(refused.status_code), dict(refused.headers or {})
        reason = status.description or status.phrase
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            headers.setdefault("Allow", "GET, HEAD")  # Starlette leaves it out where files are served
            reason = f"this path takes {headers['Allow']}"
        elif status is HTTPStatus.NOT_FOUND:
            asked = own_path(request.scope).removeprefix(api).lower()[:COMPARED]
            nearest = get_close_matches(asked, operations, 1, MISSPELT) or get_close_matches(asked, operations, 3)
            reason = "there is no such path"
            if nearest:
                prefix, meant = prefix_of(request.scope), [operations[path] for path in nearest]
                reason += f"; did you mean {' or '.join(f'{method} {prefix}{path}' for method, path in meant)}?"
            elif asked.startswith("/v1/"):
                reason += "; the simulator of Stripe has a port of its own (--stripe-port), told as the node starts"
        code = status.phrase.lower().replace(" ", "-")
        return document(request, status, code, f"{request.method} {quoted(request.url.path)}: {reason}", headers)

    app.add_exception_handler(HTTPException, refuse)
