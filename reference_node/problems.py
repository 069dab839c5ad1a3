"""The exceptions for all refusals and failures, each answered as an RFC 9457 problem document.

The specification ("Errors") does not show status codes or error bodies; `docs/node.md` lists the node's choices.
"""

from __future__ import annotations

import http
import json
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response

from reference_node.public_address import own_path

MEDIA_TYPE = "application/problem+json"

DETAIL_LIMIT = 1000
"""The most characters of a detail, so that hostile input can't make an answer large."""


STRIPE_PATHS = ("/stripe/", "/v1/")
"""Paths at which SDKs of Stripe look for its API. They take an answer without the member `error` for a success."""


class Problem(Exception):  # noqa: N818 - the term of RFC 9457
    """A refusal or failure to report to the client.

    `code` is a stable kebab-case name for programs; `detail` is a sentence that says what was wrong, where, and how to
    fix it. Neither contains a key, a file path or a stack trace.
    """

    status: ClassVar[int]
    headers: ClassVar[dict[str, str]] = {}

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class BadRequest(Problem):
    """The body is not JSON, or typed data or its signature is at fault."""

    status = 400


class Unauthenticated(Problem):
    """No key, an unknown key, or an invalid proof."""

    status = 401
    headers: ClassVar[dict[str, str]] = {"WWW-Authenticate": 'Bearer realm="core", X-Api-Key realm="core"'}


class PaymentRequired(Problem):
    """The credits do not cover the call."""

    status = 402


class Forbidden(Problem):
    """The key is known but may not do this."""

    status = 403


class NotFound(Problem):
    """The account has no such object. Other accounts' objects are reported the same way."""

    status = 404


class Conflict(Problem):
    """The call conflicts with the current state."""

    status = 409


class TooLarge(Problem):
    """The body is over the limit."""

    status = 413


class UnsupportedMediaType(Problem):
    """The Content-Type is not JSON."""

    status = 415


class Unprocessable(Problem):
    """JSON of the wrong shape, a number out of range, bad hex."""

    status = 422


class Unavailable(Problem):
    """The chain, the sandbox or the payment provider is unavailable. Nothing was charged or partly written."""

    status = 503


class ProviderTrouble(Unavailable):
    """The payment provider is slow, down, or answers nonsense."""

    headers: ClassVar[dict[str, str]] = {"Retry-After": "5"}


class Busy(Unavailable):
    """Too many requests are waiting."""

    headers: ClassVar[dict[str, str]] = {"Retry-After": "1"}


def quoted(text: str, limit: int = 80) -> str:
    """Text from a request, shortened for a detail; characters that UTF-8 can't encode are escaped."""
    shown = text if len(text) <= limit else text[:limit] + "…"
    return shown.encode("utf-8", "backslashreplace").decode()


def members(status: int, code: str, detail: str, instance: str) -> dict[str, object]:
    """The members of a problem document (RFC 9457), and `code`."""
    return {
        "type": "about:blank",
        "title": http.HTTPStatus(status).phrase,
        "status": status,
        "detail": detail[:DETAIL_LIMIT],
        "code": code,
        "instance": instance,
    }


def document(request: Request, status: int, code: str, detail: str, headers: dict[str, str] | None = None) -> Response:
    """A problem document (`application/problem+json`) whose `instance` is the request's id."""
    body = members(status, code, detail, request.scope["request_id"])
    if own_path(request.scope).startswith(STRIPE_PATHS):
        body["error"] = {"type": "invalid_request_error" if status < 500 else "api_error", "message": body["detail"]}
    return Response(json.dumps(body, ensure_ascii=False), status, headers, media_type=MEDIA_TYPE)


def problem_document(request: Request, problem: Problem) -> Response:
    """The problem document of an exception."""
    return document(request, problem.status, problem.code, problem.detail, problem.headers)
