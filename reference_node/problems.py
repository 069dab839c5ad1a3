"""Everything the node refuses or fails at, as one hierarchy of exceptions, each answered as an RFC 9457 document.

The status codes and the error body are not shown by the specification (Errors); `docs/node.md` lists what was chosen.
"""

from __future__ import annotations

import http
import json
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"

DETAIL_LIMIT = 1000
"""Characters of a detail, so that hostile input cannot make an answer large."""


class Problem(Exception):  # noqa: N818 - the word of RFC 9457
    """A refusal or failure that the client is told about.

    `code` is stable, in kebab case and meant for programs; `detail` says in a sentence what was wrong, where, and how
    to mend it. Neither ever holds a key, a path of the node's machine or a stack trace.
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
    """No key, a key nobody holds, or a proof that does not hold."""

    status = 401
    headers: ClassVar[dict[str, str]] = {"WWW-Authenticate": 'Bearer realm="core", X-Api-Key realm="core"'}


class PaymentRequired(Problem):
    """The credits do not cover the call."""

    status = 402


class Forbidden(Problem):
    """The key is known, and may not do this."""

    status = 403


class NotFound(Problem):
    """The account has no such thing; another account's looks the same as none."""

    status = 404


class Conflict(Problem):
    """The call contradicts the present state."""

    status = 409


class TooLarge(Problem):
    """The body is over the limit."""

    status = 413


class UnsupportedMediaType(Problem):
    """The body is not said to be JSON."""

    status = 415


class Unprocessable(Problem):
    """JSON of the wrong shape, a number out of range, bad hex."""

    status = 422


class Unavailable(Problem):
    """The chain, the sandbox or the payment provider is unavailable: nothing was charged and nothing half-written."""

    status = 503


class ProviderTrouble(Unavailable):
    """The payment provider is slow, down, or answers nonsense."""

    headers: ClassVar[dict[str, str]] = {"Retry-After": "5"}


class Busy(Unavailable):
    """Too many wait already."""

    headers: ClassVar[dict[str, str]] = {"Retry-After": "1"}


def quoted(text: str, limit: int = 80) -> str:
    """Text from a request made fit for a detail: cut, and with whatever cannot be written as UTF-8 escaped."""
    shown = text if len(text) <= limit else text[:limit] + "…"
    return shown.encode("utf-8", "backslashreplace").decode()


def document(request: Request, status: int, code: str, detail: str, headers: dict[str, str] | None = None) -> Response:
    """The answer to a refused request: `application/problem+json` whose `instance` is the request's id."""
    body = {
        "type": "about:blank",
        "title": http.HTTPStatus(status).phrase,
        "status": status,
        "detail": detail[:DETAIL_LIMIT],
        "code": code,
        "instance": request.scope["request_id"],
    }
    return Response(json.dumps(body, ensure_ascii=False), status, headers, media_type=MEDIA_TYPE)


def problem_document(request: Request, problem: Problem) -> Response:
    """The answer that tells of this problem."""
    return document(request, problem.status, problem.code, problem.detail, problem.headers)
