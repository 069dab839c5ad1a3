"""The HTTP application: routers, the OpenAPI description and its viewer, and error handlers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from reference_node import control
from reference_node.api import (
    accounts,
    attestation,
    billing,
    chain_info,
    flows,
    groups,
    json_rpc,
    pccs,
    runs,
    signed_flows,
    wallets,
)
from reference_node.api.openapi import describe
from reference_node.api.pages import add_pages
from reference_node.api.requests import body_members
from reference_node.api.unknown_paths import refuse_unknown_paths
from reference_node.billing.database import LedgerUnavailable
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.chain.interface import ChainError
from reference_node.kept_file import StateUnavailable
from reference_node.problems import Problem, Unavailable, Unprocessable, problem_document, quoted
from reference_node.public_address import PREFIX
from reference_node.refusals import chain_problem, problem_of
from reference_node.serving.control_token import ControlToken
from reference_node.serving.cross_origin import CrossOrigin
from reference_node.serving.hosts import KnownHosts
from reference_node.serving.long_bodies import LongBodies
from reference_node.serving.proxies import Proxies
from reference_node.serving.request_ids import LOG, InternalErrors, RequestIds
from reference_node.settings import Settings
from reference_node.stripe_simulator.app import SimulatorApp

SIMULATOR = "/stripe"
"""The path at which the embedded payment provider answers browsers and test clients."""

FAULTS_TOLD = 10
"""The most faults of a request that one answer lists."""

UNWRITABLE: dict[type[Exception], tuple[str, str]] = {
    LedgerUnavailable: ("ledger-unavailable", "the ledger of credits fails; nothing was charged: try later"),
    StateUnavailable: ("state-unavailable", "the node can't keep its state; nothing has changed: try later"),
}
"""Codes and details for files that can't be written."""


def build_app(settings: Settings) -> FastAPI:
    """The application without its services. The caller sets `app.state.node` before the first request."""
    app = FastAPI(
        title=f"{settings.title} reference node",
        version=version("service-conformance"),
        description="Accounts, wallets and sandboxed code behind one API. Keys go into either of two headers.",
        openapi_url=None,  # its pages are the node's own, see below
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
    )
    sections = _sections(settings)
    for prefix, routers in sections.items():
        for router in routers:
            app.include_router(router, prefix=prefix)
    if settings.payments == "simulator":
        app.mount(SIMULATOR, EmbeddedSimulator())
    app.state.rpc_threads = json_rpc.RpcThreads()
    app.state.long_bodies = LongBodies()
    describe(app)
    add_pages(app)
    _answer_problems(app)
    refuse_unknown_paths(app, sections, PREFIX)
    if settings.control_token is not None:
        app.add_middleware(ControlToken, token=settings.control_token)
    app.add_middleware(KnownHosts, settings=settings)
    app.add_middleware(InternalErrors)
    app.add_middleware(CrossOrigin, origins=settings.allowed_origins)
    app.add_middleware(
        Proxies, public=settings.public_url, trusted=settings.trusted_proxies, served=_beginnings(sections)
    )
    app.add_middleware(RequestIds)
    return app


def _sections(settings: Settings) -> dict[str, list[APIRouter]]:
    """The routers by path prefix, in the order of the OpenAPI description."""
    core = [
        accounts.router,
        groups.router,
        wallets.router,
        wallets.branded_router(settings.slug),
        runs.branded_router(settings.slug),
        chain_info.router,
        billing.router,
        signed_flows.router,
        flows.router,
    ]
    beside = [
        attestation.router,
        pccs.router,
        json_rpc.router,
        chain_info.beside,
        *([control.router] if settings.control else []),
    ]
    return {PREFIX: core, "": beside}


def _beginnings(sections: Mapping[str, Sequence[APIRouter]]) -> set[str]:
    """The beginnings of all paths that are served: the prefix of the API, and the first segments beside it."""
    beside = [route.path for router in sections[""] for route in router.routes if isinstance(route, APIRoute)]
    return {PREFIX, SIMULATOR, *("/" + path.split("/")[1] for path in beside)}


def _operation_id(route: APIRoute) -> str:
    return route.name


def _answer_problems(app: FastAPI) -> None:
    for kind in (Problem, ContractRefusal, ChainError, LedgerUnavailable, StateUnavailable, RequestValidationError):
        app.add_exception_handler(kind, _refuse)


async def _refuse(request: Request, fault: Exception) -> Response:
    problem = _problem(fault, body_members(request.scope.get("route")))
    if problem is None:
        raise fault
    return problem_document(request, problem)


def _problem(fault: Exception, takes: Sequence[str]) -> Problem | None:
    """The problem to answer with; `None` for an internal error of the node.

    `takes` lists the members of the endpoint's body.
    """
    match fault:
        case Problem():
            return fault
        case ContractRefusal():
            return problem_of(fault)
        case ChainError():
            LOG.warning("the chain failed a request: %s", fault)
            return chain_problem(fault)
        case LedgerUnavailable() | StateUnavailable():
            LOG.warning("a request could not be carried out: %s", fault)
            return Unavailable(*UNWRITABLE[type(fault)])
        case RequestValidationError():
            return _wrong_shape(fault, takes)
    return None


def _in_words_of_json(message: str) -> str:
    message = message.replace("Extra inputs are not permitted", "no member of this body")
    return message.removeprefix("Value error, ").replace("a valid dictionary", "a JSON object")


def _member_path(place: Sequence[str | int], body: object) -> list[str]:
    """The place of a fault in a request, without the names of types that pydantic puts behind a member."""
    path, inside = [str(place[0])], body if place[0] == "body" else {}
    for part in place[1:]:
        if isinstance(inside, list) and isinstance(part, int):
            inside = inside[part] if part < len(inside) else None
        elif isinstance(inside, dict) and isinstance(part, str):
            inside = inside.get(part)
        else:
            continue
        path.append(str(part))
    return path


def _wrong_shape(invalid: RequestValidationError, takes: Sequence[str]) -> Problem:
    """The faults of a request. If members are missing or unknown, the detail also lists the body's members."""
    errors = invalid.errors()
    faults = [
        f"{quoted('.'.join(_member_path(fault['loc'], invalid.body)))}: {_in_words_of_json(str(fault['msg']))}"
        for fault in errors[:FAULTS_TOLD]
    ]
    if takes and any(fault["type"] in {"missing", "extra_forbidden"} for fault in errors):
        faults.append(f"the body takes {', '.join(takes)}")
    return Unprocessable("request-invalid", "; ".join(faults))


class EmbeddedSimulator:
    """Forwards requests to the node's current payment simulator, which a reset replaces."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        state = scope["app"].state
        simulator = SimulatorApp(
            state.node.simulator, control=state.node.settings.control, long_bodies=state.long_bodies
        )
        await simulator(scope, receive, send)


class AtStripe:
    """The application at the simulator's own port, for SDKs that take no path: every path is one under `/stripe`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        inside = {"path": SIMULATOR + scope["path"], "raw_path": SIMULATOR.encode() + scope["raw_path"]}
        await self._app({**scope, **inside}, receive, send)
