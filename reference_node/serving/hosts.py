"""Refuses requests to foreign host names, so that a web page cannot reach the node by its own name (DNS rebinding).

Browsers send the page's name in `Host`. An attacker can own a public domain, but no address, no name without dots and
no name reserved for private use. Containers and machines nearby use those, so they are accepted.
"""

from __future__ import annotations

import ipaddress
import re
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from reference_node.problems import document, quoted
from reference_node.settings import Settings

PRIVATE = (".localhost", ".internal", ".test")
"""Domains that nobody can own (RFC 6761; ICANN keeps `internal` for private use)."""

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]*)?")


class KnownHosts:
    """Refuses requests to another name with 421 (RFC 9110, 15.5.20)."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        public = settings.public_url.host if settings.public_url else None
        given = (settings.host, settings.tls_domain, public, *settings.allowed_hosts)
        self._names = {name.lower() for name in given if name is not None}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        host = Headers(scope=scope).get("host")
        if scope["type"] == "http" and host is not None and not self._knows(host, scope):
            detail = f"this node is not {quoted(host)!r}: use its own name, or start it with --allowed-host"
            refusal = document(Request(scope), HTTPStatus.MISDIRECTED_REQUEST, "unknown-host", detail)
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _knows(self, host: str, scope: Scope) -> bool:
        parts = _HOST.fullmatch(host)
        if parts is None:
            return host == ""
        name = parts[1].lower().rstrip(".")
        if name in self._names or "." not in name or name.endswith(PRIVATE) or _is_number(name):
            return True
        domain: str = scope["app"].state.node.attestation.domain  # the names in the operator's certificate
        return name == domain


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
