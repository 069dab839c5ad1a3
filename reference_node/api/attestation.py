"""Specification: "Attestation (under `{base_url}`, no auth)". Keys are ignored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse

from reference_node.api.access import NodeOf
from reference_node.api.answers import AcmeAccount, AttestationQuote, EvidenceQuote, MachineInfo
from reference_node.api.openapi import Responses, problems
from reference_node.api.route import StrictRoute
from reference_node.problems import NotFound, quoted
from reference_node.tee.documents import LISTING, PEM_CHAIN, Document

router = APIRouter(route_class=StrictRoute, tags=["Attestation"])

Endpoint = TypeVar("Endpoint", bound=Callable[..., Awaitable[Response]])

UNCHANGED: Responses = {**problems(422), 304: {"description": "The client has it already: If-None-Match names it."}}
"""The answers that every endpoint may give besides its document."""


class PemResponse(Response):
    """A certificate chain in the media type of RFC 8555, for the OpenAPI description."""

    media_type = PEM_CHAIN


def served(request: Request, document: Document) -> Response:
    """The document, or 304 if the client already has it (RFC 9110, section 13.1.2)."""
    headers = {"ETag": document.etag, "Cache-Control": "no-cache"}
    if _has(request.headers.getlist("if-none-match"), document.etag):
        return Response(status_code=304, headers=headers)
    return Response(document.body, headers=headers, media_type=document.media_type)


def _has(fields: list[str], etag: str) -> bool:
    """Whether the listed tags include this one. The comparison is weak (RFC 9110, section 8.8.3.2)."""
    tags = [tag.strip().removeprefix("W/") for field in fields for tag in field.split(",")]
    return "*" in tags or etag in tags


def _serve(path: str, **described: Any) -> Callable[[Endpoint], Endpoint]:
    """Register an endpoint for GET and HEAD; the server omits the body of a HEAD answer.

    The first route serves both methods and answers 405 to all others. The second only describes GET in OpenAPI, where
    FastAPI would give both methods the same operation id.
    """

    def register(endpoint: Endpoint) -> Endpoint:
        router.add_api_route(path, endpoint, methods=["GET", "HEAD"], include_in_schema=False)
        router.add_api_route(path, endpoint, methods=["GET"], **described)
        return endpoint

    return register


@_serve("/info", response_model=MachineInfo, responses=UNCHANGED)
async def info(request: Request, node: NodeOf) -> Response:
    """The application that runs here, with the compose document that its compose hash covers."""
    return served(request, node.attestation.info)


@_serve("/attestation", response_model=AttestationQuote, responses=UNCHANGED)
async def attestation(request: Request, node: NodeOf) -> Response:
    """A quote whose report data is zero, and the event log that its registers replay to."""
    return served(request, node.attestation.attestation)


@_serve("/evidences/", response_class=HTMLResponse, responses=UNCHANGED)
async def list_evidences(request: Request, node: NodeOf) -> Response:
    """A page that links the evidence files."""
    return served(request, node.attestation.evidence.files[LISTING])


@_serve("/evidences/sha256sum.txt", response_class=PlainTextResponse, responses=UNCHANGED)
async def evidence_checksums(request: Request, node: NodeOf) -> Response:
    """The SHA-256 of account and certificate, as `sha256sum` prints them."""
    return served(request, node.attestation.evidence.files["sha256sum.txt"])


@_serve("/evidences/quote.json", response_model=EvidenceQuote, responses=UNCHANGED)
async def evidence_quote(request: Request, node: NodeOf) -> Response:
    """A quote whose report data begins with the SHA-256 of `sha256sum.txt`."""
    return served(request, node.attestation.evidence.files["quote.json"])


@_serve("/evidences/acme-account.json", response_model=AcmeAccount, responses=UNCHANGED)
async def acme_account(request: Request, node: NodeOf) -> Response:
    """The ACME account that the domain's CAA records authorise to issue certificates."""
    return served(request, node.attestation.evidence.files["acme-account.json"])


@_serve("/evidences/cert-{domain}.pem", response_class=PemResponse, responses=UNCHANGED | problems(404))
async def certificate(domain: str, request: Request, node: NodeOf) -> Response:
    """The certificate chain of the gateway domain, the leaf first."""
    document = node.attestation.evidence.files.get(f"cert-{domain}.pem")
    if document is None:
        raise NotFound("unknown-domain", f"there is no certificate for {quoted(domain)}: see /evidences/")
    return served(request, document)
